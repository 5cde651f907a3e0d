#!/bin/bash
# Sets WordPress up on a host that has its packages, as its README.Debian says:
# install.sh ADDRESS, as root. It answers at http://ADDRESS/, by mod_php inside
# Apache (prefork). Visitors come through a proxy of the same network, so Apache
# takes their addresses from X-Forwarded-For. There is no way out of the host, so
# WordPress does not try to reach its makers.
set -euo pipefail
umask 022
ADDRESS=$1

# What /usr/share/doc/wordpress/examples/config-default.php asks for.
install -o root -g www-data -m 640 /dev/stdin "/etc/wordpress/config-$ADDRESS.php" <<PHP
<?php
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'wordpress' );
define( 'DB_PASSWORD', 'wordpress-and-nobody-else' );
define( 'DB_HOST', 'localhost' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
$(for key in AUTH_KEY SECURE_AUTH_KEY LOGGED_IN_KEY NONCE_KEY AUTH_SALT SECURE_AUTH_SALT LOGGED_IN_SALT NONCE_SALT; do echo "define( '$key', '$(echo "field $key" | sha256sum | cut -c 1-64)' );"; done)
\$table_prefix = 'wp_';
define( 'WP_DEBUG', false );
define( 'WP_HOME', 'http://$ADDRESS' );
define( 'WP_SITEURL', 'http://$ADDRESS' );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'WP_CONTENT_DIR', '/var/lib/wordpress/wp-content' );
PHP
# Permalinks: what the file offers for a blog at the root.
sed -i '/single blog hosted on/,/^$/{s/^#\(<\|Rewrite\)/\1/}' /etc/wordpress/htaccess
cat >/etc/apache2/sites-available/wordpress.conf <<CONF
<VirtualHost *:80>
    ServerName $ADDRESS
    DocumentRoot /usr/share/wordpress/
    DirectoryIndex index.php index.html
    ErrorLog \${APACHE_LOG_DIR}/error.log
    CustomLog \${APACHE_LOG_DIR}/access.log combined

    # wp-content in /var/lib/wordpress/wp-content
    Alias /wp-content /var/lib/wordpress/wp-content

    <Directory /usr/share/wordpress>
        Options FollowSymLinks
        AllowOverride Limit Options FileInfo
        Require all granted
    </Directory>
    <Directory /var/lib/wordpress/wp-content>
        Options FollowSymLinks
        Require all granted
    </Directory>
</VirtualHost>
CONF
cat >/etc/apache2/conf-available/proxy-address.conf <<CONF
RemoteIPHeader X-Forwarded-For
RemoteIPInternalProxy ${ADDRESS%.*}.0/24
CONF
wp-setup --sync-wp-content
a2enmod -q rewrite remoteip
a2enconf -q proxy-address
a2dissite -q 000-default
a2ensite -q wordpress
systemctl enable -q --now mariadb apache2
systemctl restart apache2
