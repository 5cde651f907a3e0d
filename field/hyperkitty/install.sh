#!/bin/bash
# Sets HyperKitty (Mailman 3's archive) up on a host that has its packages, as
# mailman3-web's README.Debian says for MySQL and nginx: install.sh ADDRESS, as root.
# It answers behind nginx at http://ADDRESS/hyperkitty/, by uWSGI as Debian ships it.
# Mailman's core does not run: the archive lives off its own database.
set -euo pipefail
umask 022
ADDRESS=$1
CONFIG=/etc/mailman3/mailman-web.py

# What dbconfig-common would have written; there is no database before fill.sh.
systemctl stop mailman3-web
sed -i -e "s|^\( *\)'ENGINE': 'django.db.backends.sqlite3'|\1#&|" \
    -e "s|^\( *\)#'ENGINE': 'django.db.backends.mysql'|\1'ENGINE': 'django.db.backends.mysql'|" \
    -e "s|^\( *\)#'init_command':|\1'init_command':|" \
    -e "s|^\( *'NAME': '\)[^']*|\1mailman3web|" \
    -e "s|^\( *'PASSWORD': '\)[^']*|\1mailman-and-nobody-else|" \
    -e "s|^EMAILNAME = .*|EMAILNAME = 'lists.field.example'|" \
    -e "s|^ACCOUNT_DEFAULT_HTTP_PROTOCOL = .*|ACCOUNT_DEFAULT_HTTP_PROTOCOL = 'http'|" "$CONFIG"

sed -i -e "s|^\( *\)server_name .*|\1server_name $ADDRESS;|" -e 's|^ *server_tokens off;|&\n\n    # Postorius needs the core; what there is here is the archive.\n    location = / {\n        return 302 /hyperkitty/;\n    }|' /etc/mailman3/nginx.conf
install -d -o www-data -g adm /var/log/nginx/mailman3
rm -f /etc/nginx/sites-enabled/default
ln -sfn /etc/mailman3/nginx.conf /etc/nginx/sites-enabled/mailman3
systemctl enable -q --now mariadb nginx
nginx -t -q
systemctl reload-or-restart nginx
