#!/bin/bash
# What a person reaches by settings, indexes and caches, under the regulation of
# this case: apply.sh, as root, on the host. README.md has the reason of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-rt.cnf <<'END'
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
mariadb rtdb <<'END'
CREATE INDEX IF NOT EXISTS hand_status_updated ON Tickets (Status, LastUpdated);
CREATE INDEX IF NOT EXISTS hand_owner_updated ON Tickets (Owner, LastUpdated);
CREATE INDEX IF NOT EXISTS hand_queue_status ON Tickets (Queue, Status, Type, IsMerged, Owner);
CREATE INDEX IF NOT EXISTS hand_target ON Links (LocalTarget, Type);
ANALYZE TABLE Tickets, Links;
END

mkdir -p /etc/systemd/system/rt.service.d
cat >/etc/systemd/system/rt.service.d/hand.conf <<'END'
[Service]
ExecStart=
ExecStart=/usr/share/request-tracker5/libexec/rt-server --server Starman --listen 127.0.0.1:8080 --workers 4 --max-requests 50000
END
systemctl daemon-reload
systemctl restart rt

install -d -o www-data /var/cache/nginx-rt
cat >/etc/nginx/conf.d/rt-cache.conf <<'END'
proxy_cache_path /var/cache/nginx-rt keys_zone=rt:1m max_size=64m inactive=30d use_temp_path=off;
END
cat >/etc/nginx/sites-available/rt <<'END'
server {
    listen 80 default_server;
    server_name _;
    access_log /var/log/nginx/access.log;
    client_max_body_size 100M;

    proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_buffers 64 16k;
    proxy_busy_buffers_size 128k;

    location /static/ {
        root /usr/share/request-tracker5;
        add_header Cache-Control "max-age=2592000, public";
        open_file_cache max=500 inactive=10m;
        open_file_cache_errors on;
        try_files $uri @rt;
    }
    location ~ ^/NoAuth/(css|js)/.*squished- {
        proxy_cache rt;
        proxy_cache_lock on;
        proxy_pass http://127.0.0.1:8080;
    }
    location / {
        proxy_pass http://127.0.0.1:8080;
    }
    location @rt {
        proxy_pass http://127.0.0.1:8080;
    }
}
END
nginx -t
systemctl reload nginx
