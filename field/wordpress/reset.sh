#!/bin/bash
# Takes back what visitors wrote, while WordPress serves: comments, what editors
# approved, their logins. As root, on the host.
set -euo pipefail
mariadb wordpress <<'SQL'
DELETE FROM wp_commentmeta WHERE meta_id > (SELECT id FROM field_keep.newest WHERE name = 'commentmeta');
DELETE FROM wp_comments WHERE comment_ID > (SELECT id FROM field_keep.newest WHERE name = 'comments');
UPDATE wp_comments c JOIN field_keep.comments k ON k.comment_ID = c.comment_ID SET c.comment_approved = k.comment_approved WHERE c.comment_approved <> k.comment_approved;
UPDATE wp_posts p JOIN field_keep.posts k ON k.ID = p.ID SET p.comment_count = k.comment_count WHERE p.comment_count <> k.comment_count;
DELETE FROM wp_postmeta WHERE meta_id > (SELECT id FROM field_keep.newest WHERE name = 'postmeta');
DELETE FROM wp_usermeta WHERE umeta_id > (SELECT id FROM field_keep.newest WHERE name = 'usermeta') OR meta_key = 'session_tokens';
SQL
