#!/bin/bash
# What a person reaches by settings, indexes and caches, under the regulation of
# this case: apply.sh, as root, on the host. README.md has the reason of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-wordpress.cnf <<'CNF'
[mariadbd]
innodb_buffer_pool_size = 1G
innodb_adaptive_hash_index = ON
query_cache_type = ON
query_cache_size = 64M
query_cache_limit = 1M
tmp_table_size = 64M
max_heap_table_size = 64M
CNF
systemctl restart mariadb
mariadb wordpress <<'SQL'
CREATE INDEX IF NOT EXISTS hand_author ON wp_posts (post_author, post_type, post_status, post_date);
UPDATE wp_options SET autoload = 'no' WHERE autoload = 'yes' AND option_name LIKE 'plugin\_%';
CREATE INDEX IF NOT EXISTS hand_modified ON wp_posts (post_status, post_modified_gmt, post_type);
CREATE INDEX IF NOT EXISTS hand_published ON wp_posts (post_status, post_date_gmt, post_type);
ANALYZE TABLE wp_posts, wp_options;
SQL

cat >/etc/php/8.2/apache2/conf.d/91-hand.ini <<'INI'
opcache.memory_consumption = 192
opcache.interned_strings_buffer = 32
opcache.enable_file_override = 1
realpath_cache_size = 8M
realpath_cache_ttl = 600
INI
cat >/etc/apache2/conf-available/wordpress-hand.conf <<'CONF'
# The rules of /etc/wordpress/htaccess, read once.
<Directory /usr/share/wordpress>
    AllowOverride None
    RewriteEngine On
    RewriteBase /
    RewriteCond %{REQUEST_FILENAME} !-f
    RewriteCond %{REQUEST_FILENAME} !-d
    RewriteRule . /index.php [L]
</Directory>
<IfModule mpm_prefork_module>
    StartServers 8
    MinSpareServers 8
    MaxSpareServers 16
</IfModule>
MaxKeepAliveRequests 0
CONF
a2enconf -q wordpress-hand
apache2ctl configtest
systemctl restart apache2
