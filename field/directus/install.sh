#!/bin/bash
# Sets Directus up on a host that has its packages and what fetch.sh brought, as
# its guide for hosting it oneself says: install.sh ADDRESS, as root. It answers
# behind nginx at http://ADDRESS/, by one process of Node 20.
set -euo pipefail
umask 022
ADDRESS=$1
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

tar -C /opt --no-same-owner -xzf "$HERE"/directus-*.tgz
rm "$HERE"/directus-*.tgz
useradd --system --user-group --home-dir /opt/directus --shell /usr/sbin/nologin directus
install -d -o directus -g directus /opt/directus/uploads /opt/directus/extensions
# The project's file, with what the guide's example has. Nobody else reads it. The
# host has no way out, so nothing is reported to Directus' makers.
install -o root -g directus -m 640 /dev/stdin /opt/directus/.env <<END
HOST="127.0.0.1"
PORT=8055
PUBLIC_URL="http://$ADDRESS"
KEY="0b5a3ff1-9a2b-4f43-9b59-4f1f1d3a6f10"
SECRET="directus-and-nobody-else-knows-it"
DB_CLIENT="mysql"
DB_HOST="127.0.0.1"
DB_PORT=3306
DB_DATABASE="directus"
DB_USER="directus"
DB_PASSWORD="directus-and-nobody-else"
ADMIN_EMAIL="admin@field.example.com"
ADMIN_PASSWORD="admin-password"
TELEMETRY=false
END

cat >/etc/systemd/system/directus.service <<'END'
[Unit]
Description=Directus
After=network.target mariadb.service
Wants=mariadb.service

[Service]
User=directus
Group=directus
WorkingDirectory=/opt/directus
Environment=PATH=/opt/node/bin:/usr/local/bin:/usr/bin:/bin
ExecStart=/opt/directus/node_modules/.bin/directus start
Restart=on-failure

[Install]
WantedBy=multi-user.target
END
cat >/etc/nginx/sites-available/directus <<'END'
server {
    listen 80 default_server;
    server_name _;
    access_log /var/log/nginx/access.log;
    client_max_body_size 100M;

    location / {
        proxy_pass http://127.0.0.1:8055;
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
    }
}
END
rm -f /etc/nginx/sites-enabled/default
ln -sfn /etc/nginx/sites-available/directus /etc/nginx/sites-enabled/directus
systemctl enable -q --now mariadb
systemctl daemon-reload
systemctl enable -q directus
systemctl reload-or-restart nginx
