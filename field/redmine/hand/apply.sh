#!/bin/bash
# What a person reaches by settings, indexes and caches, under the regulation of
# this case: apply.sh, as root, on the host. README.md has the reason of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-redmine.cnf <<'END'
[mariadbd]
innodb_buffer_pool_size = 512M
innodb_adaptive_hash_index = ON
query_cache_type = ON
query_cache_size = 64M
query_cache_limit = 256K
tmp_table_size = 64M
max_heap_table_size = 64M
END
systemctl restart mariadb
mariadb redmine_default <<'END'
CREATE INDEX IF NOT EXISTS hand_updated ON issues (updated_on);
CREATE INDEX IF NOT EXISTS hand_value ON custom_values (custom_field_id, value(20), customized_id);
ANALYZE TABLE issues, custom_values;
DELETE FROM settings WHERE name = 'cache_formatted_text';
INSERT INTO settings (name, value, updated_on) VALUES ('cache_formatted_text', '1', NOW());
END

address=$(sed -n 's/^ *ServerName \([^ ]*\)$/\1/p' /etc/apache2/sites-available/redmine.conf)
cat >/etc/apache2/conf-available/redmine-hand.conf <<END
PassengerMaxPoolSize 4
PassengerMinInstances 4
PassengerPreStart http://$address/login
SetEnv RUBYOPT --yjit
SetEnv MALLOC_ARENA_MAX 2
SetEnv RUBY_GC_HEAP_INIT_SLOTS 1000000
SetEnv RUBY_GC_HEAP_FREE_SLOTS 200000
SetEnv RUBY_GC_MALLOC_LIMIT 67108864
SetEnv RUBY_GC_MALLOC_LIMIT_MAX 134217728
SetEnv RUBY_GC_OLDMALLOC_LIMIT 134217728
SetEnv RUBY_GC_OLDMALLOC_LIMIT_MAX 268435456
END
a2enconf -q redmine-hand
apache2ctl configtest
systemctl restart apache2
