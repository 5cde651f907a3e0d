#!/bin/bash
# Takes back what visitors wrote, while HyperKitty serves: votes, tags, favourites,
# what they read, their logins. As root, on the host.
set -euo pipefail
mariadb mailman3web <<'END'
DELETE FROM hyperkitty_vote WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'vote');
DELETE FROM hyperkitty_tagging WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'tagging');
DELETE FROM hyperkitty_tag WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'tag');
DELETE FROM hyperkitty_favorite WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'favorite');
DELETE FROM hyperkitty_lastview WHERE id > (SELECT id FROM field_keep.newest WHERE name = 'lastview');
UPDATE hyperkitty_lastview v JOIN field_keep.lastview k ON k.id = v.id SET v.view_date = k.view_date WHERE v.view_date <> k.view_date;
UPDATE auth_user u JOIN field_keep.auth_user k ON k.id = u.id SET u.last_login = k.last_login WHERE NOT u.last_login <=> k.last_login;
DELETE FROM django_session;
DELETE FROM django_q_ormq;
DELETE FROM django_q_task;
END
