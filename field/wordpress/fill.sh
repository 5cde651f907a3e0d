#!/bin/bash
# Fills WordPress on a host that install.sh was run on: the tables by its own
# installation page, settings and one user by its own functions (site.php), six years
# of posts and comments by SQL (fill.sql). While it is filled, the database need not
# survive a crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
ADDRESS=$(sed -n 's/^ *ServerName \([^ ]*\)$/\1/p' /etc/apache2/sites-available/wordpress.conf)
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT"' EXIT
mariadb <<'SQL'
SET GLOBAL innodb_flush_log_at_trx_commit = 0;
CREATE DATABASE wordpress;
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER ON wordpress.* TO wordpress@localhost IDENTIFIED BY 'wordpress-and-nobody-else';
SQL
page=$(curl -fsS -m 120 "http://$ADDRESS/wp-admin/install.php?step=2" -d 'weblog_title=Field+notes&user_name=admin&admin_password=admin-password&admin_password2=admin-password&pw_weak=1&admin_email=admin%40field.example&blog_public=1&language=')
[[ $page == *"WordPress has been installed"* ]] || { echo "fill.sh: the installation page did not install" >&2; exit 1; }
as_www() { runuser -u www-data -- "$@"; }
as_www php "$HERE/site.php" "$ADDRESS" theme
as_www php "$HERE/site.php" "$ADDRESS"
mariadb wordpress <"$HERE/fill.sql" >/dev/null
# What WordPress itself keeps of these rows: the rewrite rules, the tree of
# categories, its events; some pages and some of its administration do that.
for path in / /feed/ /wp-login.php /wp-cron.php; do curl -fsS -m 60 -o /dev/null "http://$ADDRESS$path"; done

# What reset.sh goes back to.
mariadb wordpress <<'SQL'
CREATE TABLE field_keep.comments (PRIMARY KEY (comment_ID)) AS SELECT comment_ID, comment_approved FROM wp_comments;
CREATE TABLE field_keep.posts (PRIMARY KEY (ID)) AS SELECT ID, comment_count FROM wp_posts WHERE post_type IN ('post', 'page');
CREATE TABLE field_keep.newest (name VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL) AS
    SELECT 'comments' AS name, MAX(comment_ID) AS id FROM wp_comments UNION ALL SELECT 'commentmeta', MAX(meta_id) FROM wp_commentmeta
    UNION ALL SELECT 'usermeta', MAX(umeta_id) FROM wp_usermeta UNION ALL SELECT 'postmeta', MAX(meta_id) FROM wp_postmeta;
SQL
# What visitors look at. Posts are read the more often the newer they are, terms as
# often as they are large; comments are written below posts of all ages.
csv() { # csv FILE HEADER QUERY
    mariadb -N wordpress -e "$3" | { echo "$2"; cat; } >"$HERE/$1"
}
post="SELECT CONCAT_WS(',', p.ID, CONCAT(DATE_FORMAT(p.post_date, '/%Y/%m/'), p.post_name, '/'), p.post_title)"
csv posts.csv id,path,title "SET @n = (SELECT MAX(n) FROM field_keep.numbered); $post FROM seq_1_to_4000 s JOIN field_keep.numbered k ON k.n = @n + 1 - LEAST(@n, FLOOR(POW(@n + 1, CONV(LEFT(MD5(s.seq), 8), 16, 10) / 4294967296))) JOIN wp_posts p ON p.ID = k.id"
csv discussed.csv id,path,title "$post FROM wp_posts p WHERE p.post_type = 'post' AND p.post_status = 'publish' AND p.comment_count BETWEEN 1 AND 60 ORDER BY MD5(p.ID) LIMIT 3000"
csv pages.csv path,title "SELECT CONCAT_WS(',', CONCAT('/', IF(u.ID IS NULL, '', CONCAT(u.post_name, '/')), p.post_name, '/'), p.post_title) FROM wp_posts p LEFT JOIN wp_posts u ON u.ID = p.post_parent WHERE p.post_type = 'page' AND p.post_status = 'publish' AND p.ID > 10"
csv categories.csv path,name "SELECT CONCAT_WS(',', CONCAT('/category/', IF(u.term_id IS NULL, '', CONCAT(u.slug, '/')), t.slug, '/'), t.name) FROM wp_term_taxonomy x JOIN wp_terms t ON t.term_id = x.term_id LEFT JOIN wp_terms u ON u.term_id = x.parent JOIN seq_1_to_100 s ON s.seq <= 1 + x.count DIV 50 WHERE x.taxonomy = 'category' AND x.count > 10"
csv tags.csv slug,name "SELECT CONCAT_WS(',', t.slug, t.name) FROM wp_term_taxonomy x JOIN wp_terms t ON t.term_id = x.term_id JOIN seq_1_to_400 s ON s.seq <= 1 + x.count DIV 20 WHERE x.taxonomy = 'post_tag' AND x.count > 0"
csv authors.csv slug,name "SELECT CONCAT_WS(',', u.user_nicename, u.display_name) FROM wp_users u JOIN (SELECT post_author, COUNT(*) AS posts FROM wp_posts WHERE post_type = 'post' GROUP BY post_author) x ON x.post_author = u.ID JOIN seq_1_to_100 s ON s.seq <= 1 + x.posts DIV 50"
csv months.csv path,name "SELECT DISTINCT CONCAT_WS(',', DATE_FORMAT(post_date, '/%Y/%m/'), DATE_FORMAT(post_date, '%M %Y')) FROM wp_posts WHERE post_type = 'post' AND post_status = 'publish'"
csv commenters.csv name,email "SELECT CONCAT_WS(',', MIN(comment_author), comment_author_email) FROM wp_comments WHERE comment_approved = '1' AND comment_author_email LIKE 'reader%' AND comment_ID % 3 = 0 GROUP BY comment_author_email"
printf '%s\n' word harbour bridge lighthouse 'ferry timetable' 'old crane' storm pilot warehouse 'night shift' museum anchor >"$HERE/words.csv"
mariadb -N wordpress -e "SELECT 'posts', COUNT(*) FROM wp_posts WHERE post_type = 'post' UNION ALL SELECT 'pages', COUNT(*) FROM wp_posts WHERE post_type = 'page' UNION ALL SELECT 'revisions', COUNT(*) FROM wp_posts WHERE post_type = 'revision' UNION ALL SELECT 'postmeta', COUNT(*) FROM wp_postmeta
    UNION ALL SELECT 'comments', COUNT(*) FROM wp_comments UNION ALL SELECT 'commentmeta', COUNT(*) FROM wp_commentmeta UNION ALL SELECT 'terms', COUNT(*) FROM wp_terms UNION ALL SELECT 'relationships', COUNT(*) FROM wp_term_relationships UNION ALL SELECT 'users', COUNT(*) FROM wp_users
    UNION ALL SELECT 'usermeta', COUNT(*) FROM wp_usermeta UNION ALL SELECT 'options', COUNT(*) FROM wp_options UNION ALL SELECT 'bytes of autoloaded options', SUM(LENGTH(option_value)) FROM wp_options WHERE autoload = 'yes'"
