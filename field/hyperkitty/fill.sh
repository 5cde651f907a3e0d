#!/bin/bash
# Fills HyperKitty on a host that install.sh was run on: schema by its own
# migrations, five years of mail by fill.py. While it is filled, the database
# need not survive a crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT"' EXIT
mariadb <<'END'
SET GLOBAL innodb_flush_log_at_trx_commit = 0;
CREATE DATABASE mailman3web CHARACTER SET utf8mb4;
CREATE USER mailman3web@localhost IDENTIFIED BY 'mailman-and-nobody-else';
GRANT ALL ON mailman3web.* TO mailman3web@localhost;
END
cd /usr/share/mailman3-web
as_web() { runuser -u www-data -- env DJANGO_SETTINGS_MODULE=settings PYTHONPATH=/usr/share/mailman3-web PYTHONWARNINGS=ignore "$@"; }
as_web django-admin migrate --no-input --skip-checks --verbosity 0
as_web django-admin loaddata --skip-checks --verbosity 0 first_start
as_web python3 "$HERE/fill.py"

# What reset.sh goes back to.
mariadb mailman3web >/dev/null <<'END'
ANALYZE TABLE hyperkitty_email, hyperkitty_thread, hyperkitty_sender, hyperkitty_vote, hyperkitty_tagging, hyperkitty_favorite, hyperkitty_lastview;
CREATE DATABASE field_keep;
CREATE TABLE field_keep.auth_user (PRIMARY KEY (id)) AS SELECT id, last_login FROM auth_user;
CREATE TABLE field_keep.lastview (PRIMARY KEY (id)) AS SELECT id, view_date FROM hyperkitty_lastview;
CREATE TABLE field_keep.newest (name VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL) AS
    SELECT 'vote' AS name, MAX(id) AS id FROM hyperkitty_vote UNION ALL SELECT 'tagging', MAX(id) FROM hyperkitty_tagging UNION ALL SELECT 'tag', MAX(id) FROM hyperkitty_tag
    UNION ALL SELECT 'favorite', MAX(id) FROM hyperkitty_favorite UNION ALL SELECT 'lastview', MAX(id) FROM hyperkitty_lastview;
END
# What visitors look at. The newer a thread and the luckier, the more often; few are
# read by many. Lists come as often as mail does.
csv() { # csv FILE HEADER QUERY
    mariadb -N mailman3web -e "$3" | { echo "$2"; cat; } >"$HERE/$1"
}
mail="FROM hyperkitty_thread t JOIN hyperkitty_email e ON e.id = t.starting_email_id JOIN hyperkitty_mailinglist l ON l.id = t.mailinglist_id"
csv threads.csv list,shown,id,subject,first "SELECT CONCAT_WS(',', name, display_name, thread_id, subject, message_id_hash) FROM (
    SELECT l.name, l.display_name, t.thread_id, e.subject, e.message_id_hash, ROW_NUMBER() OVER (ORDER BY (DATEDIFF(NOW(), t.date_active) + 20) * (CONV(LEFT(MD5(t.id), 6), 16, 10) / 16777216 + 0.05)) AS n $mail) x
    JOIN seq_1_to_200 s ON s.seq <= GREATEST(1, FLOOR(300 / POW(n, 0.8))) WHERE n <= 3000 ORDER BY n, s.seq"
csv mails.csv list,shown,id,subject "SELECT CONCAT_WS(',', l.name, l.display_name, e.message_id_hash, e.subject) FROM hyperkitty_email e JOIN hyperkitty_mailinglist l ON l.id = e.mailinglist_id WHERE e.id % 13 = 5"
csv fresh.csv list,shown,id,subject,first "SELECT CONCAT_WS(',', l.name, l.display_name, t.thread_id, e.subject, e.message_id_hash) $mail LEFT JOIN hyperkitty_tagging g ON g.thread_id = t.id LEFT JOIN hyperkitty_vote v ON v.email_id = e.id WHERE g.id IS NULL AND v.id IS NULL AND t.id % 3 = 1"
csv lists.csv list,shown "SELECT CONCAT_WS(',', l.name, l.display_name) $mail WHERE t.id % 29 = 0"
csv months.csv list,shown,year,month,title "SELECT CONCAT_WS(',', l.name, l.display_name, YEAR(e.date), MONTH(e.date), DATE_FORMAT(e.date, '%M %Y')) $mail WHERE t.id % 5 = 0"
csv users.csv login,id "SELECT CONCAT_WS(',', username, id) FROM auth_user WHERE username LIKE 'reader%'"
csv people.csv id,name,list,shown "SELECT CONCAT_WS(',', s.mailman_id, e.sender_name, l.name, l.display_name) FROM hyperkitty_email e JOIN hyperkitty_sender s ON s.address = e.sender_id JOIN hyperkitty_mailinglist l ON l.id = e.mailinglist_id WHERE e.id % 31 = 7"
mariadb -N mailman3web -e "SELECT 'lists', COUNT(*) FROM hyperkitty_mailinglist UNION ALL SELECT 'mails', COUNT(*) FROM hyperkitty_email UNION ALL SELECT 'threads', COUNT(*) FROM hyperkitty_thread UNION ALL SELECT 'senders', COUNT(*) FROM hyperkitty_sender
    UNION ALL SELECT 'attachments', COUNT(*) FROM hyperkitty_attachment UNION ALL SELECT 'users', COUNT(*) FROM auth_user UNION ALL SELECT 'votes', COUNT(*) FROM hyperkitty_vote UNION ALL SELECT 'taggings', COUNT(*) FROM hyperkitty_tagging
    UNION ALL SELECT 'favourites', COUNT(*) FROM hyperkitty_favorite UNION ALL SELECT 'last views', COUNT(*) FROM hyperkitty_lastview"
systemctl start mailman3-web
