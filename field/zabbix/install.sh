#!/bin/bash
# Sets Zabbix' frontend up on a host that has its packages, as their README.Debian
# says: install.sh ADDRESS, as root. It answers behind nginx at http://ADDRESS/, by
# PHP-FPM's pool as Debian ships it. The server itself does not run: what it would
# have written is filled in.
set -euo pipefail
umask 022

systemctl disable -q --now zabbix-server 2>/dev/null || true
install -m 644 /dev/stdin /etc/zabbix/zabbix.conf.php <<'END'
<?php
$DB['TYPE'] = 'MYSQL';
$DB['SERVER'] = 'localhost';
$DB['PORT'] = '0';
$DB['DATABASE'] = 'zabbix';
$DB['USER'] = 'zabbix';
$DB['PASSWORD'] = 'zabbix-and-nobody-else';
$DB['SCHEMA'] = '';
$DB['ENCRYPTION'] = false;
$DB['KEY_FILE'] = '';
$DB['CERT_FILE'] = '';
$DB['CA_FILE'] = '';
$DB['VERIFY_HOST'] = false;
$DB['CIPHER_LIST'] = '';
$DB['VAULT_URL'] = '';
$DB['VAULT_DB_PATH'] = '';
$DB['VAULT_TOKEN'] = '';
$DB['DOUBLE_IEEE754'] = true;
$ZBX_SERVER_NAME = 'field';
$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
END
chown www-data /etc/zabbix/zabbix.conf.php
chmod 600 /etc/zabbix/zabbix.conf.php
cat >/etc/php/8.2/fpm/conf.d/90-zabbix.ini <<'END'
post_max_size = 16M
max_execution_time = 300
max_input_time = 300
date.timezone = UTC
END
cat >/etc/nginx/sites-available/zabbix <<'END'
server {
    listen 80 default_server;
    server_name _;
    root /usr/share/zabbix;
    index index.php;

    location ~ /(conf|include|local|app)/ {
        deny all;
    }
    location / {
        try_files $uri $uri/ =404;
    }
    location ~ \.php$ {
        try_files $uri =404;
        include fastcgi_params;
        fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
        fastcgi_pass unix:/run/php/php8.2-fpm.sock;
        fastcgi_read_timeout 120s;
    }
}
END
rm -f /etc/nginx/sites-enabled/default
ln -sfn /etc/nginx/sites-available/zabbix /etc/nginx/sites-enabled/zabbix
systemctl enable -q --now mariadb php8.2-fpm
systemctl restart php8.2-fpm
systemctl reload-or-restart nginx
