#!/bin/bash
# What a person reaches by settings, indexes, caches and topology, under the
# regulation of this case: apply.sh, as root, on the host. README.md has the reason
# of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-hyperkitty.cnf <<'END'
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
mariadb mailman3web >/dev/null <<'END'
CREATE INDEX IF NOT EXISTS hand_list_active ON hyperkitty_thread (mailinglist_id, date_active);
CREATE INDEX IF NOT EXISTS hand_list_date ON hyperkitty_email (mailinglist_id, date, sender_id);
CREATE INDEX IF NOT EXISTS hand_sender_date ON hyperkitty_email (sender_id, date);
ANALYZE TABLE hyperkitty_thread, hyperkitty_email;
END

install -d -o www-data -g www-data -m 750 /var/cache/mailman3-web
if ! grep -q '^# By hand' /etc/mailman3/mailman-web.py; then
    cat >>/etc/mailman3/mailman-web.py <<'END'

# By hand
DATABASES['default']['CONN_MAX_AGE'] = 600
CACHES = {
    'default': {
        'BACKEND': 'django.core.cache.backends.filebased.FileBasedCache',
        'LOCATION': '/var/cache/mailman3-web',
        'OPTIONS': {'MAX_ENTRIES': 5000},
    },
}
END
fi
sed -i -e 's/^process = .*/processes = 4/' -e 's/^threads = .*/threads = 1/' /etc/mailman3/uwsgi.ini
systemctl restart mailman3-web

cat >/etc/nginx/conf.d/hand.conf <<'END'
uwsgi_buffers 64 16k;
uwsgi_busy_buffers_size 128k;
END
nginx -t -q
systemctl reload nginx
