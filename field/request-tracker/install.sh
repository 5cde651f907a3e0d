#!/bin/bash
# Sets Request Tracker up on a host that has its packages, as an administrator
# would by RT's own guide (docs/web_deployment): install.sh ADDRESS, as root.
# RT answers behind nginx at http://ADDRESS/, by Starman with four workers.
set -euo pipefail
umask 022
ADDRESS=$1
CONFIG=/etc/request-tracker5/RT_SiteConfig.d

# What dbconfig-common would have written; RT does not start without a database.
# Only RT reads it, as www-data.
install -o root -g www-data -m 640 /dev/stdin "$CONFIG/51-database.pm" <<'END'
Set($DatabaseType, 'mysql');
Set($DatabaseHost, 'localhost');
Set($DatabasePort, '');
Set($DatabaseName, 'rtdb');
Set($DatabaseUser, 'rtuser');
Set($DatabasePassword, 'rt-and-nobody-else');
Set($DatabaseAdmin, 'root');
END
# Mail is made and handed over, and goes no further: the host has no way out.
install -m 755 /dev/stdin /usr/local/sbin/mail-sink <<'END'
#!/bin/sh
exec cat >/dev/null
END
cat >"$CONFIG/70-site.pm" <<END
Set(\$rtname, 'field');
Set(\$Organization, 'field');
Set(\$WebDomain, '$ADDRESS');
Set(\$WebPort, 80);
Set(\$WebBaseURL, 'http://$ADDRESS');
Set(\$WebPath, '');
# Behind a proxy redirects would lead to Starman's own port.
Set(\$CanonicalizeRedirectURLs, 1);
Set(\$Timezone, 'UTC');
Set(\$SendmailPath, '/usr/local/sbin/mail-sink');
1;
END

cat >/etc/systemd/system/rt.service <<'END'
[Unit]
Description=Request Tracker
After=network.target mariadb.service
Wants=mariadb.service

[Service]
User=www-data
Group=www-data
ExecStart=/usr/share/request-tracker5/libexec/rt-server --server Starman --listen 127.0.0.1:8080 --workers 4
Restart=on-failure

[Install]
WantedBy=multi-user.target
END
cat >/etc/nginx/sites-available/rt <<'END'
server {
    listen 80 default_server;
    server_name _;
    access_log /var/log/nginx/access.log;
    client_max_body_size 100M;

    location / {
        proxy_pass http://127.0.0.1:8080;
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
    }
}
END
rm -f /etc/nginx/sites-enabled/default
ln -sfn /etc/nginx/sites-available/rt /etc/nginx/sites-enabled/rt
# Debian leaves it to the administrator who reads the file with the password.
chgrp www-data /etc/request-tracker5/RT_SiteConfig.pm
chmod 640 /etc/request-tracker5/RT_SiteConfig.pm
systemctl enable -q --now mariadb
systemctl daemon-reload
systemctl enable -q rt
systemctl reload-or-restart nginx
