#!/bin/bash
# Takes back what visitors wrote, while Directus serves: comments, changed articles,
# logins and what Directus noted of each. As root, on the host.
set -euo pipefail
mariadb directus <<'END'
DELETE FROM comments WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'comments');
DELETE FROM directus_revisions WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'directus_revisions');
DELETE FROM directus_activity WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'directus_activity');
DELETE FROM directus_sessions;
UPDATE articles a JOIN field_keep.articles k ON k.id = a.id SET a.teaser = k.teaser, a.user_updated = k.user_updated, a.date_updated = k.date_updated WHERE NOT a.date_updated <=> k.date_updated;
UPDATE directus_users SET last_access = NULL, last_page = NULL WHERE last_access IS NOT NULL OR last_page IS NOT NULL;
END
