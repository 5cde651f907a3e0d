#!/bin/bash
# The wiki on disposable hosts (kasoku lab), with systemd and SSH: as found, all
# of it runs on the first, and the others are idle. `hosts.sh help` tells the
# commands.
set -euo pipefail
umask 022

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
KASOKU=${KASOKU:-$CASE/../../bin/kasoku}
REMOTE=/srv/wiki
# The same on every host, so that work can move to any of them.
PACKAGES=apache2,libapache2-mod-php,mediawiki,php-cli,php-mysql,php-intl,php-mbstring,php-xml,mariadb-server,mariadb-client,curl,procps
for part in archive spread; do
    # shellcheck source=/dev/null
    . "$CASE/lib/$part.sh"
done

usage() {
    cat <<END
Usage: hosts.sh COMMAND [DIR]     DIR defaults to $CASE/run-hosts

  up N [DIR] [--cpus N] [--memory SIZE] [--size small|full] [--no-front]
                 start N hosts (1 to 8), set the wiki up on the first as found,
                 write kasoku.yaml, which names an nginx that may be installed in
                 front of Apache; small: an eighth of the older revisions
  exec [DIR] -- COMMAND …
                 run a command of this machine in the hosts' network, where
                 load must come from: hosts.sh exec -- kasoku -f FILE tune
  reset [DIR]    edits are taken back (while serving)
  spread K [DIR] let the first K hosts answer alike, behind a balancer on the
                 first, port $FRONT_PORT: PHP and MediaWiki as they are there now,
                 Apache as found; K = 0 takes it away
  limit N [DIR]  each host may use N CPUs, such as 0.4; 0: all of the machine's
  reboot [DIR]   restart every host and wait until the wiki answers
  down [DIR]     remove the hosts and DIR
END
}

tell() { printf '%s\n' "$*" >&2; }
fail() { tell "hosts.sh: $*"; exit 1; }

parse() {
    COMMAND=${1:-help}
    [ $# -gt 0 ] && shift
    DIR= HOSTS= SPREAD= CPUS= LIMITS=() RUN=() FRONT=yes
    export KASOKU_WIKI_SIZE=${KASOKU_WIKI_SIZE:-full}
    if [ "$COMMAND" = up ]; then
        case ${1:-} in [1-8]) HOSTS=$1; shift ;; *) fail "up needs the number of hosts, 1 to 8: hosts.sh up 4" ;; esac
    elif [ "$COMMAND" = limit ]; then
        case ${1:-} in [0-9]*) CPUS=$1; shift ;; *) fail "limit needs a number of CPUs: hosts.sh limit 0.4" ;; esac
    elif [ "$COMMAND" = spread ]; then
        case ${1:-} in [0-8]) SPREAD=$1; shift ;; *) fail "spread needs the number of hosts, 0 to 8: hosts.sh spread 2" ;; esac
    fi
    while [ $# -gt 0 ]; do
        case $1 in
        --cpus | --memory) [ $# -gt 1 ] || fail "$1 needs a value"; LIMITS+=("$1" "$2"); shift ;;
        --size) case ${2:-} in small | full) KASOKU_WIKI_SIZE=$2 ;; *) fail "--size needs small or full" ;; esac; shift ;;
        --front) ;; # it is the default
        --no-front) FRONT= ;;
        --) shift; RUN=("$@"); break ;;
        -*) fail "unknown option $1; see hosts.sh help" ;;
        *) [ -z "$DIR" ] || fail "two directories given: $DIR and $1"; DIR=$1 ;;
        esac
        shift
    done
    DIR=${DIR:-$CASE/run-hosts}
    case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
    LAB=wiki-$(printf %s "$DIR" | cksum | cut -d' ' -f1)
}

on() { # on HOST: runs standard input there
    ssh -F "$DIR/ssh_config" -o BatchMode=yes "$1" bash -s -- "${@:2}"
}

# address HOST as the lab tells it.
address() { sed -n "/\"name\": \"$1\"/,/}/s/.*\"address\": \"\([^\"]*\)\".*/\1/p" "$DIR/lab.json" | head -1; }

up() {
    [ ! -e "$DIR/kasoku.yaml" ] || fail "$DIR is set up already; hosts.sh down $DIR begins anew"
    local content
    content=$("$CASE/case.sh" content)
    mkdir -p "$DIR"
    "$KASOKU" --json lab --name "$LAB" up -n "$HOSTS" --packages "$PACKAGES" "${LIMITS[@]}" >"$DIR/lab.json"
    ln -sfn "$(sed -n 's/.*"ssh_config": "\([^"]*\)".*/\1/p' "$DIR/lab.json" | head -1)" "$DIR/ssh_config"
    WEB_ADDRESS=$(address h1)
    printf 'HOSTS=%s\nWEB_ADDRESS=%s\n' "$HOSTS" "$WEB_ADDRESS" >"$DIR/hosts.env"
    # The packages' own servers would only be in the way.
    local host
    for host in $(seq -f 'h%g' "$HOSTS"); do
        on "$host" <<<'systemctl disable -q --now apache2 mariadb >/dev/null 2>&1 || true'
    done
    install_case "$content"
    install_spares
    offer_packages
    write_stack
    wait_for_service
    cat <<END
The wiki answers on http://$WEB_ADDRESS/wiki/メインページ within the hosts' network
  try:    $CASE/hosts.sh exec $DIR -- curl -i http://$WEB_ADDRESS/
  stack:  $DIR/kasoku.yaml
  tune:   $CASE/hosts.sh exec $DIR -- $KASOKU -f $DIR/kasoku.yaml tune
END
}

# install_spares gives the other hosts the web server as it was found on the
# first, switched off, and no wiki: what else it needs is Kasoku's to bring.
install_spares() {
    local host
    [ "$HOSTS" -gt 1 ] || return 0
    on h1 "$REMOTE" <<<'tar -C / -cf - ".$1/etc/apache2" ".$1/etc/php" ./etc/systemd/system/wiki-web.service ./etc/tmpfiles.d/wiki-web.conf' >"$DIR/spare.tar"
    for host in $(seq -f 'h%g' 2 "$HOSTS"); do
        ssh -F "$DIR/ssh_config" -o BatchMode=yes "$host" "tar -C / -xf - && mkdir -p $REMOTE/run $REMOTE/log && systemctl daemon-reload" <"$DIR/spare.tar"
    done
    rm "$DIR/spare.tar"
}

# install_case CONTENT copies the case to the first host, sets it up there and
# hands its processes over to systemd.
install_case() {
    local ssh=(ssh -F "$DIR/ssh_config" -o BatchMode=yes h1)
    tar -C "$CASE" -cf - case.sh lib conf content sql scenario.yaml checks.yaml articles.csv |
        "${ssh[@]}" 'mkdir -p /srv/case && tar -C /srv/case -xf -'
    tar -C "$1" -cf - wiki.sql.gz images.tar.gz | "${ssh[@]}" 'mkdir -p /srv/case/given && tar -C /srv/case/given -xf -'
    # Other hosts may serve the wiki, too, so the database is there for their
    # network, and the settings name it by an address that all of them reach.
    on h1 "$REMOTE" "$WEB_ADDRESS" <<'END'
set -euo pipefail
DIR=$1 ADDRESS=$2
KASOKU_CASE_CONTENT=/srv/case/given /srv/case/case.sh up "$DIR" --port 80 --address "$ADDRESS" >/dev/null
password=$(sed -n 's/^$wgDBpassword = "\(.*\)";$/\1/p' "$DIR/wiki/LocalSettings.php")
mariadb --defaults-file="$DIR/secrets/client.cnf" <<SQL
CREATE USER wiki@'${ADDRESS%.*}.%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON wiki.* TO wiki@'${ADDRESS%.*}.%';
SQL
/srv/case/case.sh down "$DIR"
rm -r /srv/case/given
sed -i 's/^Listen 127.0.0.1:80$/Listen 80/' "$DIR/etc/apache2/apache2.conf"
sed -i 's/^bind-address = .*/bind-address = 0.0.0.0/' "$DIR/etc/mysql/my.cnf"
sed -i "s/^\$wgDBserver = \"127.0.0.1:/\$wgDBserver = \"$ADDRESS:/" "$DIR/wiki/LocalSettings.php"
cp -a "$DIR/etc/apache2" /srv/case/apache2.found
unit() { # unit NAME TYPE PIDFILE START RELOAD
    cat >"/etc/systemd/system/wiki-$1.service" <<UNIT
[Unit]
Description=The wiki: $1
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
unit db notify "$DIR/run/mariadb/mariadb.pid" "/usr/sbin/mariadbd --defaults-file=$DIR/etc/mysql/my.cnf" /bin/true
unit web forking "$DIR/run/apache2.pid" "/usr/sbin/apache2 -d $DIR/etc/apache2 -f $DIR/etc/apache2/apache2.conf -k start" \
    "/usr/sbin/apache2 -d $DIR/etc/apache2 -f $DIR/etc/apache2/apache2.conf -k graceful"
# As if it were in /run: after a hard reboot Apache takes whoever has its old
# process ID for itself, and ends ("httpd (pid 40) already running").
echo "r! $DIR/run/apache2.pid" >/etc/tmpfiles.d/wiki-web.conf
systemctl daemon-reload
systemctl enable -q --now wiki-db wiki-web
END
    # What the load generator compares with.
    "${ssh[@]}" "tar -C $REMOTE -cf - scenario.yaml checks.yaml articles.csv golden" | tar -C "$DIR" -xf -
}

db_port() {
    on h1 "$REMOTE" <<'END'
. "$1/case.env"; echo "$DB_PORT"
END
}

# What kasoku.yaml says of an nginx in front, with --front.
front_service() {
    if [ -z "$FRONT" ]; then return; fi
    echo '  - {name: front, kind: nginx, host: h1, front_for: web, talks_to: [web], binary: /usr/sbin/nginx, config: /etc/nginx/nginx.conf, prefix: /usr/share/nginx, control: {unit: nginx.service}}'
}

write_stack() {
    local host
    {
        printf '# The wiki on disposable hosts, written by hosts.sh.\nversion: 1\nname: wiki\nhosts:\n'
        for host in $(seq -f 'h%g' "$HOSTS"); do printf '  %s: {ssh: %s, ssh_config: %s}\n' "$host" "$host" "$DIR/ssh_config"; done
        cat <<END
services:
  - name: web
    kind: apache
    host: h1
    binary: /usr/sbin/apache2
    config: $REMOTE/etc/apache2/apache2.conf
    prefix: $REMOTE/etc/apache2
    listen: ["0.0.0.0:80"]
    talks_to: [db]
    control: {method: systemd, unit: wiki-web.service}
    health: {url: "http://127.0.0.1/api.php?action=query&meta=siteinfo&format=json"}
  - name: app
    kind: app
    host: h1
    root: $REMOTE/wiki
    settings: [$REMOTE/wiki/LocalSettings.php]
    runs_in: web
    talks_to: [db]
  - name: db
    kind: mariadb
    host: h1
    binary: /usr/sbin/mariadbd
    config: $REMOTE/etc/mysql/my.cnf
    listen: ["0.0.0.0:$(db_port)", "unix:$REMOTE/run/mariadb/mysqld.sock"]
    control: {method: systemd, unit: wiki-db.service}
    login: {user: kasoku, password_file: $REMOTE/secrets/db_admin, socket: $REMOTE/run/mariadb/mysqld.sock}
END
        for host in $(seq -f 'h%g' 2 "$HOSTS"); do write_spare "$host"; done
        front_service
        cat <<END
load:
  scenario: $DIR/scenario.yaml
  url: http://$WEB_ADDRESS
  allow: ["${WEB_ADDRESS%.*}.0/24"]
  reset: ["$CASE/hosts.sh", "reset", "$DIR"]
regulation:
  # As the contest had it: an edit is visible to every reader within 5 minutes.
  allow: [staleness]
  staleness: 5m
  # LocalSettings.php may be changed; the source may not.
  application_settings: true
  # Debian's packages may be installed: the hosts have an archive of some.
  install: true
checks:
  # Disposable hosts may be killed and rebooted to see what they keep.
  scenario: $DIR/checks.yaml
  kill: [db]
  reboot: [$(seq -s ', ' -f 'h%g' "$HOSTS")]
END
    } >"$DIR/kasoku.yaml"
}

# write_spare HOST is a web server that could do the first one's work.
write_spare() {
    cat <<END
  - name: web-$1
    kind: apache
    host: $1
    spare_for: web
    binary: /usr/sbin/apache2
    config: $REMOTE/etc/apache2/apache2.conf
    prefix: $REMOTE/etc/apache2
    listen: ["$(address "$1"):80"]
    talks_to: [db]
    control: {method: systemd, unit: wiki-web.service}
END
}

in_lab() { "$KASOKU" lab --name "$LAB" exec -- "$@"; }

need_up() {
    [ -f "$DIR/hosts.env" ] || fail "$DIR holds no hosts; run: hosts.sh up 4 $DIR"
    # shellcheck source=/dev/null
    . "$DIR/hosts.env"
}

reset_data() {
    on h1 "$REMOTE" <<'END'
DIR=$1 CASE=/srv/case
. "$CASE/lib/common.sh"
. "$CASE/lib/reset.sh"
reset_data
END
}

wait_for_service() {
    local deadline=$((SECONDS + 90))
    until [ "$(in_lab curl -s -m 10 -o /dev/null -w '%{http_code}' "http://$WEB_ADDRESS/api.php?action=query&meta=siteinfo&format=json" 2>/dev/null)" = 200 ]; do
        [ "$SECONDS" -lt "$deadline" ] || fail "http://$WEB_ADDRESS/api.php does not answer with 200"
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
    spread) need_up; spread ;;
    limit) need_up; limit ;;
    reboot) need_up; reboot_all ;;
    down) "$KASOKU" lab --name "$LAB" down >&2 || true; rm -rf "$DIR" ;;
    help | -h | --help) usage ;;
    *) usage >&2; fail "unknown command $COMMAND" ;;
    esac
}

main "$@"
