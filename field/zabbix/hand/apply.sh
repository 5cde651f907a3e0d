#!/bin/bash
# What a person reaches by settings, indexes and caches, under the regulation of
# this case: apply.sh, as root, on the host. README.md has the reason of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-zabbix.cnf <<'END'
[mariadbd]
innodb_buffer_pool_size = 512M
innodb_adaptive_hash_index = ON
query_cache_type = ON
query_cache_size = 128M
query_cache_limit = 8M
tmp_table_size = 64M
max_heap_table_size = 64M
END
systemctl restart mariadb
mariadb zabbix <<'END'
CREATE INDEX IF NOT EXISTS hand_item_trigger ON functions (itemid, triggerid);
CREATE INDEX IF NOT EXISTS hand_trigger_item ON functions (triggerid, itemid);
CREATE INDEX IF NOT EXISTS hand_item_graph ON graphs_items (itemid, graphid);
CREATE INDEX IF NOT EXISTS hand_open ON problem (r_eventid, source, object, eventid);
ANALYZE TABLE functions, graphs_items, problem;
END

cat >/etc/php/8.2/fpm/conf.d/91-hand.ini <<'END'
opcache.memory_consumption = 192
opcache.interned_strings_buffer = 16
opcache.revalidate_freq = 2
opcache.jit = tracing
opcache.jit_buffer_size = 64M
realpath_cache_ttl = 600
END
cat >/etc/php/8.2/fpm/pool.d/zz-hand.conf <<'END'
[www]
pm = static
pm.max_children = 4
pm.max_requests = 0
END
php-fpm8.2 -t
systemctl restart php8.2-fpm
cat >/etc/nginx/conf.d/hand.conf <<'END'
fastcgi_buffers 64 16k;
fastcgi_busy_buffers_size 128k;
END
nginx -t
systemctl reload nginx
