#!/bin/bash
# Takes back what visitors wrote, while Redmine serves: notes, whom an issue is
# watched by, logins, which projects they looked at last. As root, on the host.
set -euo pipefail
mariadb redmine_default <<'END'
DELETE FROM journal_details WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'journal_details');
DELETE FROM journals WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'journals');
DELETE FROM watchers WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'watchers');
DELETE FROM tokens WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'tokens');
UPDATE issues i JOIN field_keep.issues k ON k.id = i.id SET i.lock_version = k.lock_version, i.updated_on = k.updated_on WHERE i.lock_version <> k.lock_version;
UPDATE users u JOIN field_keep.users k ON k.id = u.id SET u.last_login_on = k.last_login_on WHERE NOT u.last_login_on <=> k.last_login_on;
UPDATE user_preferences p JOIN field_keep.user_preferences k ON k.id = p.id SET p.others = k.others WHERE NOT p.others <=> k.others;
END
