#!/bin/bash
# Fills Directus on a host that install.sh was run on: its own tables by its own
# command, collections and rights by its API (schema.mjs), three years of a small
# magazine by SQL (fill.sql). While it is filled, the database need not survive a
# crash; afterwards it is as durable as Debian ships it. As root.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
trap 'mariadb -e "SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT"' EXIT
mariadb <<'END'
SET GLOBAL innodb_flush_log_at_trx_commit = 0;
CREATE DATABASE directus CHARACTER SET utf8mb4;
CREATE USER directus@localhost IDENTIFIED BY 'directus-and-nobody-else', directus@127.0.0.1 IDENTIFIED BY 'directus-and-nobody-else';
GRANT ALL ON directus.* TO directus@localhost, directus@127.0.0.1;
CREATE DATABASE field_keep;
END
cd /opt/directus
export PATH=/opt/node/bin:$PATH
runuser -u directus -- env HOME=/opt/directus node_modules/.bin/directus bootstrap >/dev/null
systemctl start directus
for _ in $(seq 300); do
    curl -fs -o /dev/null http://127.0.0.1:8055/server/ping && break
    sleep 0.2
done
node "$HERE/schema.mjs"
mariadb directus <"$HERE/fill.sql" >/dev/null

# What reset.sh goes back to.
mariadb directus <<'END'
DELETE FROM directus_sessions;
CREATE TABLE field_keep.articles (PRIMARY KEY (id)) AS SELECT id, teaser, user_updated, date_updated FROM articles;
CREATE TABLE field_keep.newest (name VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL) AS
    SELECT 'comments' AS name, MAX(id) AS id FROM comments UNION ALL SELECT 'directus_revisions', MAX(id) FROM directus_revisions UNION ALL SELECT 'directus_activity', MAX(id) FROM directus_activity;
END
# What visitors look at, with what a right answer holds. Half of the articles are of
# the newest tenth; categories and tags come as often as they are used.
csv() { # csv FILE HEADER QUERY
    mariadb -N directus -e "$3" | { echo "$2"; cat; } >"$HERE/$1"
}
counted="(SELECT a.id, a.slug, a.title, (SELECT COUNT(*) FROM comments c WHERE c.article = a.id AND c.status = 'approved') AS comments FROM articles a WHERE a.status = 'published'"
csv articles.csv id,slug,title,comments "SELECT CONCAT_WS(',', id, slug, title, comments) FROM ($counted ORDER BY a.published_at DESC LIMIT 1500) UNION ALL $counted AND a.id <= 18000 ORDER BY MD5(a.id) LIMIT 1500)) x"
csv categories.csv slug,articles,newest "SELECT CONCAT_WS(',', c.slug, n.articles, (SELECT a.id FROM articles a WHERE a.category = c.id AND a.status = 'published' ORDER BY a.published_at DESC LIMIT 1)) FROM articles x JOIN categories c ON c.id = x.category JOIN (SELECT category, COUNT(*) AS articles FROM articles WHERE status = 'published' GROUP BY category) n ON n.category = c.id WHERE x.id % 31 = 0"
csv tags.csv slug,newest "SELECT CONCAT_WS(',', t.slug, n.id) FROM articles_tags x JOIN tags t ON t.id = x.tags_id JOIN (SELECT tags_id, MAX(a.id) AS id FROM articles_tags j JOIN articles a ON a.id = j.articles_id WHERE a.status = 'published' GROUP BY tags_id) n ON n.tags_id = t.id WHERE x.id % 31 = 0"
csv editors.csv email,id,articles "SELECT CONCAT_WS(',', u.email, u.id, COUNT(a.id)) FROM directus_users u LEFT JOIN articles a ON a.user_created = u.id WHERE u.email LIKE 'editor%' GROUP BY u.id"
csv front.csv newest,published "SELECT CONCAT_WS(',', (SELECT id FROM articles WHERE status = 'published' ORDER BY published_at DESC LIMIT 1), COUNT(*)) FROM articles WHERE status = 'published'"
printf '%s\n' word harbour bread winter railway festival museum >"$HERE/words.csv"
mariadb -N directus -e "SELECT 'articles', COUNT(*) FROM articles UNION ALL SELECT 'published', COUNT(*) FROM articles WHERE status = 'published' UNION ALL SELECT 'authors', COUNT(*) FROM authors UNION ALL SELECT 'categories', COUNT(*) FROM categories UNION ALL SELECT 'tags', COUNT(*) FROM tags
    UNION ALL SELECT 'tags of articles', COUNT(*) FROM articles_tags UNION ALL SELECT 'comments', COUNT(*) FROM comments UNION ALL SELECT 'users', COUNT(*) FROM directus_users UNION ALL SELECT 'activities', COUNT(*) FROM directus_activity UNION ALL SELECT 'revisions', COUNT(*) FROM directus_revisions"
