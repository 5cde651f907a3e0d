#!/bin/bash
# The bank login on disposable hosts (kasoku lab), with systemd and SSH: all on
# one, or the web server and PHP on one and the database on another.
# `hosts.sh help` tells the commands.
set -euo pipefail
umask 022

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
KASOKU=${KASOKU:-$CASE/../../bin/kasoku}
REMOTE=/srv/login
PACKAGES=nginx-light,mariadb-server,php8.2-fpm,php8.2-mysql,php8.2-opcache,curl,procps

usage() {
    cat <<EOF
Usage: hosts.sh COMMAND [DIR]     DIR defaults to $CASE/run-hosts

  up [DIR] [--hosts 1|2] [--cpus N] [--memory SIZE]
                 start the hosts, set the case up as found, write kasoku.yaml
  exec [DIR] -- COMMAND …
                 run a command of this machine in the hosts' network, where
                 load must come from: hosts.sh exec -- kasoku -f FILE tune
  reset [DIR]    data and sessions back to the first state (while serving)
  reboot [DIR]   restart every host and wait until the service answers
  down [DIR]     remove the hosts and DIR
EOF
}

tell() { printf '%s\n' "$*" >&2; }
fail() { tell "hosts.sh: $*"; exit 1; }

parse() {
    COMMAND=${1:-help}
    [ $# -gt 0 ] && shift
    DIR= HOSTS=1 LIMITS=() RUN=()
    while [ $# -gt 0 ]; do
        case $1 in
        --hosts) [ $# -gt 1 ] || fail "--hosts needs 1 or 2"; HOSTS=$2; shift ;;
        --cpus | --memory) [ $# -gt 1 ] || fail "$1 needs a value"; LIMITS+=("$1" "$2"); shift ;;
        --) shift; RUN=("$@"); break ;;
        -*) fail "unknown option $1; see hosts.sh help" ;;
        *) [ -z "$DIR" ] || fail "two directories given: $DIR and $1"; DIR=$1 ;;
        esac
        shift
    done
    case $HOSTS in 1 | 2) ;; *) fail "--hosts is 1 or 2" ;; esac
    DIR=${DIR:-$CASE/run-hosts}
    case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
    LAB=login-$(printf %s "$DIR" | cksum | cut -d' ' -f1)
}

on() { # on HOST: runs standard input there
    ssh -F "$DIR/ssh_config" -o BatchMode=yes "$1" bash -s -- "${@:2}"
}

# address HOST as the lab tells it.
address() { sed -n "/\"name\": \"$1\"/,/}/s/.*\"address\": \"\([^\"]*\)\".*/\1/p" "$DIR/lab.json" | head -1; }

up() {
    [ ! -e "$DIR/kasoku.yaml" ] || fail "$DIR is set up already; hosts.sh down $DIR begins anew"
    mkdir -p "$DIR"
    "$KASOKU" --json lab --name "$LAB" up -n "$HOSTS" --packages "$PACKAGES" "${LIMITS[@]}" >"$DIR/lab.json"
    ln -sfn "$(sed -n 's/.*"ssh_config": "\([^"]*\)".*/\1/p' "$DIR/lab.json" | head -1)" "$DIR/ssh_config"
    DB=h$HOSTS
    WEB_ADDRESS=$(address h1) DB_ADDRESS=$(address "$DB")
    printf 'HOSTS=%s\nDB=%s\nWEB_ADDRESS=%s\n' "$HOSTS" "$DB" "$WEB_ADDRESS" >"$DIR/hosts.env"
    for host in $(seq -f 'h%g' "$HOSTS"); do install_case "$host"; done
    if [ "$HOSTS" = 2 ]; then part; fi
    write_stack
    wait_for_service
    cat <<END
The bank login answers on http://$WEB_ADDRESS/ within the hosts' network
  try:    $CASE/hosts.sh exec $DIR -- curl -i http://$WEB_ADDRESS/
  stack:  $DIR/kasoku.yaml
  tune:   $CASE/hosts.sh exec $DIR -- $KASOKU -f $DIR/kasoku.yaml tune
END
}

# install_case copies the case to a host, sets it up there and hands its
# processes over to systemd.
install_case() {
    tar -C "$CASE" --exclude=run --exclude='run-*' -cf - case.sh conf php sql static scenario.yaml hand -C "$CASE/.." lib |
        ssh -F "$DIR/ssh_config" -o BatchMode=yes "$1" 'mkdir -p /srv/case && tar -C /srv/case -xf -'
    on "$1" "$REMOTE" <<'END'
set -euo pipefail
DIR=$1
systemctl disable --now nginx php8.2-fpm mariadb >/dev/null 2>&1 || true
/srv/case/case.sh up "$DIR" --port 80 >/dev/null
/srv/case/case.sh down "$DIR"
sed -i 's/listen 127.0.0.1:80;/listen 80;/' "$DIR/etc/nginx/conf.d/login.conf"
unit() { # unit NAME TYPE PIDFILE START RELOAD
    cat >"/etc/systemd/system/login-$1.service" <<UNIT
[Unit]
Description=The bank login: $1
After=network.target

[Service]
Type=$2
PIDFile=$3
ExecStart=$4
ExecReload=$5
LimitNOFILE=65536
TimeoutStartSec=60

[Install]
WantedBy=multi-user.target
UNIT
}
unit db notify "$DIR/run/mariadb/mariadb.pid" "/usr/sbin/mariadbd --defaults-file=$DIR/etc/mysql/my.cnf" '/bin/true'
unit php forking "$DIR/run/php-fpm.pid" "/usr/sbin/php-fpm8.2 --fpm-config $DIR/etc/php/php-fpm.conf -c $DIR/etc/php/php.ini" '/bin/kill -USR2 $MAINPID'
unit web forking "$DIR/run/nginx.pid" "/usr/sbin/nginx -p $DIR/etc/nginx/ -c $DIR/etc/nginx/nginx.conf" '/bin/kill -HUP $MAINPID'
systemctl daemon-reload
systemctl enable -q --now login-db login-php login-web
END
}

# part moves the database to the second host.
part() {
    local secret
    secret=$(on h1 "$REMOTE" <<'END'
set -euo pipefail
systemctl disable -q --now login-db
sed -n 's/^password = "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$1/app/config/app.ini"
END
    )
    [ -n "$secret" ] || fail "no password in the application's settings"
    on h2 "$REMOTE" <<END
set -euo pipefail
systemctl disable -q --now login-web login-php
sed -i 's/^bind-address = .*/bind-address = 0.0.0.0/' "\$1/etc/mysql/my.cnf"
systemctl restart login-db
mariadb --defaults-file="\$1/secrets/client.cnf" <<SQL
CREATE USER login@'%' IDENTIFIED BY '$secret';
GRANT SELECT, INSERT, UPDATE, DELETE ON login.* TO login@'%';
SQL
END
    local port
    port=$(db_port)
    on h1 "$REMOTE" "$DB_ADDRESS" "$port" <<'END'
sed -i "s/host=127.0.0.1;port=[0-9]*/host=$2;port=$3/" "$1/app/config/app.ini"
systemctl restart login-php
END
}

db_port() {
    on "$DB" "$REMOTE" <<'END'
. "$1/case.env"; echo "$DB_PORT"
END
}

fpm_port() {
    on h1 "$REMOTE" <<'END'
. "$1/case.env"; echo "$FPM_PORT"
END
}

write_stack() {
    local host listen
    listen="\"127.0.0.1:$(db_port)\""
    if [ "$HOSTS" = 2 ]; then listen="\"$DB_ADDRESS:$(db_port)\""; fi
    cp "$CASE/scenario.yaml" "$DIR/scenario.yaml"
    {
        printf '# The bank login on disposable hosts, written by hosts.sh.\nversion: 1\nname: login\nhosts:\n'
        for host in $(seq -f 'h%g' "$HOSTS"); do printf '  %s: {ssh: %s, ssh_config: %s}\n' "$host" "$host" "$DIR/ssh_config"; done
        cat <<END
services:
  - name: web
    kind: nginx
    host: h1
    binary: /usr/sbin/nginx
    config: $REMOTE/etc/nginx/nginx.conf
    prefix: $REMOTE/etc/nginx
    listen: ["0.0.0.0:80"]
    talks_to: [php]
    control: {method: systemd, unit: login-web.service}
    health: {url: "http://127.0.0.1/health"}
  - name: php
    kind: php-fpm
    host: h1
    binary: /usr/sbin/php-fpm8.2
    config: $REMOTE/etc/php/php-fpm.conf
    php_ini: $REMOTE/etc/php/php.ini
    listen: ["127.0.0.1:$(fpm_port)"]
    talks_to: [db]
    control: {method: systemd, unit: login-php.service}
  - name: app
    kind: app
    host: h1
    root: $REMOTE/app
    settings: [$REMOTE/app/config/app.ini]
    runs_in: php
    talks_to: [db]
  - name: db
    kind: mariadb
    host: $DB
    binary: /usr/sbin/mariadbd
    config: $REMOTE/etc/mysql/my.cnf
    listen: [$listen, "unix:$REMOTE/run/mariadb/mysqld.sock"]
    control: {method: systemd, unit: login-db.service}
    login: {user: kasoku, password_file: $REMOTE/secrets/db_admin, socket: $REMOTE/run/mariadb/mysqld.sock}
load:
  scenario: $DIR/scenario.yaml
  url: http://$WEB_ADDRESS
  allow: ["${WEB_ADDRESS%.*}.0/24"]
  reset: ["$CASE/hosts.sh", "reset", "$DIR"]
END
    } >"$DIR/kasoku.yaml"
}

in_lab() { "$KASOKU" lab --name "$LAB" exec -- "$@"; }

need_up() {
    [ -f "$DIR/hosts.env" ] || fail "$DIR holds no hosts; run: hosts.sh up $DIR"
    # shellcheck source=/dev/null
    . "$DIR/hosts.env"
}

reset_data() {
    on "$DB" "$REMOTE" <<'END'
mariadb --defaults-file="$1/secrets/client.cnf" login < /srv/case/sql/reset.sql
END
    on h1 "$REMOTE" <<'END'
find "$1/sessions" -type f \( -name 'sess_*' -o -name 'new_*' \) -delete
END
}

wait_for_service() {
    local deadline=$((SECONDS + 60))
    until [ "$(in_lab curl -s -m 2 -o /dev/null -w '%{http_code}' "http://$WEB_ADDRESS/health" 2>/dev/null)" = 200 ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "http://$WEB_ADDRESS/health does not answer with 200"
        sleep 0.2
    done
}

reboot_all() {
    local host
    for host in $(seq -f 'h%g' "$HOSTS"); do "$KASOKU" lab --name "$LAB" reboot "$host" >&2; done
    wait_for_service
}

main() {
    parse "$@"
    case $COMMAND in
    up) up ;;
    exec) need_up; [ ${#RUN[@]} -gt 0 ] || fail "exec needs -- and a command"; in_lab "${RUN[@]}" ;;
    reset) need_up; reset_data ;;
    reboot) need_up; reboot_all ;;
    down) "$KASOKU" lab --name "$LAB" down >&2 || true; rm -rf "$DIR" ;;
    help | -h | --help) usage ;;
    *) usage >&2; fail "unknown command $COMMAND" ;;
    esac
}

main "$@"
