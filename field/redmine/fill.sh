#!/bin/bash
# Fills Redmine on a host that install.sh was run on: schema and default data by
# its own tasks, people and projects by its own classes (people.rb), three years of
# issues by SQL (fill.sql). While it is filled, the database need not survive a
# crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT"' EXIT
mariadb <<'END'
SET GLOBAL innodb_flush_log_at_trx_commit = 0;
CREATE DATABASE redmine_default CHARACTER SET utf8;
CREATE USER redmine_default@localhost IDENTIFIED BY 'redmine-and-nobody-else';
GRANT ALL ON redmine_default.* TO redmine_default@localhost;
END
cd /usr/share/redmine
as_redmine() { runuser -u www-data -- env HOME=/var/www REDMINE_INSTANCE=default RAILS_ENV=production "$@"; }
as_redmine SCHEMA=/dev/null bundle exec rake db:migrate >/dev/null
as_redmine REDMINE_LANG=en bundle exec rake redmine:load_default_data
as_redmine ruby bin/rails runner "$HERE/people.rb"
mariadb redmine_default <"$HERE/fill.sql" >/dev/null

# What reset.sh goes back to.
mariadb redmine_default <<'END'
CREATE DATABASE field_keep;
CREATE TABLE field_keep.issues (PRIMARY KEY (id)) AS SELECT id, lock_version, updated_on FROM issues;
CREATE TABLE field_keep.users (PRIMARY KEY (id)) AS SELECT id, last_login_on FROM users;
CREATE TABLE field_keep.user_preferences (PRIMARY KEY (id)) AS SELECT id, others FROM user_preferences;
CREATE TABLE field_keep.newest (name VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL) AS
    SELECT 'journals' AS name, MAX(id) AS id FROM journals UNION ALL SELECT 'journal_details', MAX(id) FROM journal_details UNION ALL SELECT 'watchers', MAX(id) FROM watchers UNION ALL SELECT 'tokens', MAX(id) FROM tokens;
END
# What visitors look at: everybody may see it. Half of the issues are of the newest
# tenth; projects come as often as they are large.
csv() { # csv FILE HEADER QUERY
    mariadb -N redmine_default -e "$3" | { echo "$2"; cat; } >"$HERE/$1"
}
csv users.csv login,id,key "SELECT CONCAT_WS(',', u.login, u.id, t.value) FROM users u JOIN tokens t ON t.user_id = u.id AND t.action = 'api' WHERE u.login LIKE 'user%'"
open="FROM issues i JOIN projects p ON p.id = i.project_id JOIN trackers t ON t.id = i.tracker_id WHERE p.is_public AND NOT i.is_private"
csv issues.csv id,tracker,subject "SELECT CONCAT_WS(',', id, tracker, subject) FROM ((SELECT i.id, t.name AS tracker, i.subject $open ORDER BY i.id DESC LIMIT 1500) UNION ALL (SELECT i.id, t.name, i.subject $open AND i.id <= 18000 ORDER BY MD5(i.id) LIMIT 1500)) x"
csv projects.csv id,identifier,name "SELECT CONCAT_WS(',', p.id, p.identifier, p.name) $open AND i.id % 31 = 0"
csv wiki.csv identifier,title,name "SELECT CONCAT_WS(',', p.identifier, w.title, REPLACE(w.title, '_', ' ')) FROM wiki_pages w JOIN wikis k ON k.id = w.wiki_id JOIN projects p ON p.id = k.project_id WHERE p.is_public"
printf '%s\n' word projector invoice timeout calendar payroll rounding specification password >"$HERE/words.csv"
mariadb -N redmine_default -e "SELECT 'projects', COUNT(*) FROM projects UNION ALL SELECT 'users', COUNT(*) FROM users UNION ALL SELECT 'members', COUNT(*) FROM members UNION ALL SELECT 'issues', COUNT(*) FROM issues UNION ALL SELECT 'journals', COUNT(*) FROM journals
    UNION ALL SELECT 'journal details', COUNT(*) FROM journal_details UNION ALL SELECT 'custom values', COUNT(*) FROM custom_values UNION ALL SELECT 'time entries', COUNT(*) FROM time_entries UNION ALL SELECT 'watchers', COUNT(*) FROM watchers UNION ALL SELECT 'wiki pages', COUNT(*) FROM wiki_pages UNION ALL SELECT 'messages', COUNT(*) FROM messages"
