#!/bin/bash
# Sets Redmine up on a host that has its packages, as its README.Debian says
# ("Web server configuration - the easiest way"): install.sh ADDRESS, as root.
# It answers at http://ADDRESS/, by Phusion Passenger inside Apache.
set -euo pipefail
umask 022
ADDRESS=$1

# What dbconfig-common would have written by the package's own template.
install -o root -g www-data -m 640 /dev/stdin /etc/redmine/default/database.yml <<'END'
production:
  adapter: mysql2
  database: redmine_default
  host: localhost
  port:
  username: redmine_default
  password: redmine-and-nobody-else
  encoding: utf8
END
# The package's own script does the same: which gems Redmine needs follows from
# that file.
rm -f /var/lib/redmine/Gemfile.lock
(cd /usr/share/redmine && BUNDLE_SILENCE_ROOT_WARNING=1 bundle install --local --quiet)
chown www-data:www-data /var/lib/redmine/Gemfile.lock

sed "s/# ServerName my.domain.name/ServerName $ADDRESS/" /usr/share/doc/redmine/examples/apache2-passenger-host.conf >/etc/apache2/sites-available/redmine.conf
a2enmod -q passenger
a2dissite -q 000-default
a2ensite -q redmine
systemctl enable -q --now mariadb apache2
systemctl reload apache2
