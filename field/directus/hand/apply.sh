#!/bin/bash
# What a person reaches by settings, indexes and caches, under the regulation of
# this case: apply.sh, as root, on the host. README.md has the reason of each part.
set -euo pipefail
umask 022

cat >/etc/mysql/mariadb.conf.d/90-directus.cnf <<'END'
[mariadbd]
innodb_buffer_pool_size = 512M
innodb_adaptive_hash_index = ON
tmp_table_size = 64M
max_heap_table_size = 64M
END
systemctl restart mariadb
mariadb directus <<'END'
CREATE INDEX IF NOT EXISTS hand_slug ON articles (slug);
CREATE INDEX IF NOT EXISTS hand_published ON articles (status, published_at, views);
CREATE INDEX IF NOT EXISTS hand_category ON articles (category, status, published_at);
CREATE INDEX IF NOT EXISTS hand_featured ON articles (featured, status, published_at);
CREATE INDEX IF NOT EXISTS hand_updated ON articles (status, date_updated);
CREATE INDEX IF NOT EXISTS hand_creator ON articles (user_created, date_updated);
CREATE INDEX IF NOT EXISTS hand_created ON articles (date_created);
CREATE INDEX IF NOT EXISTS hand_title ON articles (title);
CREATE INDEX IF NOT EXISTS hand_tag ON articles_tags (tags_id, articles_id);
CREATE INDEX IF NOT EXISTS hand_article ON comments (article, status, date_created);
CREATE INDEX IF NOT EXISTS hand_status ON comments (status, date_created);
ANALYZE TABLE articles, articles_tags, comments;
END

mkdir -p /etc/systemd/system/directus.service.d
cat >/etc/systemd/system/directus.service.d/hand.conf <<'END'
[Service]
Environment=NODE_OPTIONS=--max-semi-space-size=64
END
systemctl daemon-reload
systemctl restart directus

cat >/etc/nginx/sites-available/directus <<'END'
upstream directus {
    server 127.0.0.1:8055;
    keepalive 16;
    keepalive_timeout 4s;
}
server {
    listen 80 default_server;
    server_name _;
    access_log /var/log/nginx/access.log;
    client_max_body_size 100M;

    proxy_buffers 16 16k;
    proxy_busy_buffers_size 64k;
    location / {
        proxy_pass http://directus;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
    }
}
END
nginx -t
systemctl reload nginx
