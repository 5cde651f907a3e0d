# Words, checks and state. A case sets CASE (its folder), NAME (of its database,
# its users and its program), and TITLE before it reads this (cases/lib/case.sh).

# MARKER lies in every directory that case.sh made.
MARKER=.$NAME-case
MARIADBD=/usr/sbin/mariadbd
NGINX=/usr/sbin/nginx
AS_ROOT=
[ "$(id -u)" = 0 ] && AS_ROOT=1
WEB_USER=www-data WEB_GROUP=www-data DB_USER=mysql

tell() { printf '%s\n' "$*" >&2; }
fail() { tell "case.sh: $*"; exit 1; }

# as USER COMMAND … runs it as that user; an ordinary user runs it as himself.
as() {
    local user=$1
    shift
    if [ -n "$AS_ROOT" ]; then
        setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@"
    else
        "$@"
    fi
}

need_program() {
    [ -n "$(command -v "$1" || true)" ] || fail "$1 is not installed (package $2); run: make deps"
}

find_php_fpm() {
    local f
    PHP_FPM=
    for f in /usr/sbin/php-fpm8.2 /usr/sbin/php-fpm8.[3-9] /usr/sbin/php-fpm; do
        if [ -x "$f" ]; then PHP_FPM=$f; return; fi
    done
}

check_programs() {
    SETSID=$(command -v setsid || true)
    need_program setsid util-linux
    need_program "$NGINX" nginx
    need_program "$MARIADBD" mariadb-server
    need_program mariadb-install-db mariadb-server
    need_program mariadb mariadb-client
    need_program curl curl
    REDIS= MEMCACHED= HAPROXY=
    if [ -d "$CASE/conf/memcached" ]; then
        need_program memcached memcached
        MEMCACHED=$(command -v memcached)
    fi
    if [ -d "$CASE/conf/haproxy" ]; then
        need_program haproxy haproxy
        HAPROXY=$(command -v haproxy)
    fi
    if [ -d "$CASE/conf/redis" ]; then
        need_program redis-server redis-server
        need_program redis-cli redis-tools
        REDIS=$(command -v redis-server)
    fi
    [ ! -d "$CASE/hand/src" ] || need_program patch patch
    [ -z "$CHECKOUT" ] || need_program git git
    find_php_fpm
    if [ "$VARIANT" = php ]; then
        [ -n "$PHP_FPM" ] || fail "php-fpm is not installed (package php8.2-fpm); run: make deps"
        local modules
        modules=$("$PHP_FPM" -m 2>/dev/null)
        grep -qi '^pdo_mysql$' <<<"$modules" || fail "PHP has no pdo_mysql (package php8.2-mysql); run: make deps"
        grep -qi '^Zend OPcache$' <<<"$modules" || fail "PHP has no OPcache (package php8.2-opcache); run: make deps"
        [ -z "$MEMCACHED" ] || grep -qi '^memcached$' <<<"$modules" || fail "PHP has no memcached (package php8.2-memcached); run: make deps-test"
        [ -z "$REDIS" ] || grep -qi '^redis$' <<<"$modules" || fail "PHP has no redis (package php8.2-redis); run: make deps-test"
    else
        need_program go golang
    fi
    if [ -n "$AS_ROOT" ]; then
        need_program setpriv util-linux
        id "$WEB_USER" >/dev/null 2>&1 || fail "there is no user $WEB_USER (package nginx); run: make deps"
        id "$DB_USER" >/dev/null 2>&1 || fail "there is no user $DB_USER (package mariadb-server); run: make deps"
    fi
}

# check_directory makes DIR, or empties one that an earlier up left unfinished.
check_directory() {
    case $DIR in *[!A-Za-z0-9/._+-]*) fail "$DIR: use a path of letters, digits and . _ + - only" ;; esac
    # A Unix socket's path has at most 107 bytes (sun_path in unix(7)).
    local longest=$DIR/run/mariadb/mysqld.sock
    [ ${#longest} -le 107 ] || fail "$DIR is too long: $longest must have at most 107 characters"
    if [ -f "$DIR/$MARKER" ]; then
        stop_all
        find "$DIR" -mindepth 1 -maxdepth 1 ! -name "$MARKER" -exec rm -rf {} +
    elif [ -d "$DIR" ] && [ -n "$(ls -A "$DIR")" ]; then
        fail "$DIR is not empty and was not made by case.sh; give another directory"
    fi
    mkdir -p "$DIR"
    DIR=$(cd "$DIR" && pwd -P)
    : >"$DIR/$MARKER"
    chmod 755 "$DIR"
    if [ -n "$AS_ROOT" ]; then
        local user
        for user in "$WEB_USER" "$DB_USER"; do
            as "$user" test -x "$DIR" ||
                fail "user $user cannot enter $DIR; give the folders above it o+x, or choose another directory"
        done
    fi
}

port_is_used() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port sets REPLY to a port nobody listens on. Below 32768, so that no
# outgoing connection takes it between now and the start.
free_port() {
    local try
    for try in {1..200}; do
        REPLY=$((18000 + (RANDOM << 3 ^ RANDOM) % 14000))
        case " ${HTTP_PORT:-} ${FPM_PORT:-} ${APP_PORT:-} ${DB_PORT:-} ${REDIS_PORT:-} ${DEBUG_PORT:-} ${WEB_PORT:-} ${CACHE_PORT:-} ${SESSIONS_PORT:-} " in *" $REPLY "*) continue ;; esac
        port_is_used "$REPLY" || return 0
    done
    fail "found no free port from 18000 to 31999"
}

pick_ports() {
    HTTP_PORT=$PORT
    if [ -n "$HTTP_PORT" ]; then
        ! port_is_used "$HTTP_PORT" || fail "port $HTTP_PORT is in use; give another --port"
    else
        free_port; HTTP_PORT=$REPLY
    fi
    free_port; FPM_PORT=$REPLY
    free_port; APP_PORT=$REPLY
    free_port; DB_PORT=$REPLY
    free_port; REDIS_PORT=$REPLY
    free_port; DEBUG_PORT=$REPLY
    WEB_PORT=$HTTP_PORT
    if [ -d "$CASE/conf/haproxy" ]; then free_port; WEB_PORT=$REPLY; fi
    free_port; CACHE_PORT=$REPLY
    free_port; SESSIONS_PORT=$REPLY
    FPM_LISTEN=127.0.0.1:$FPM_PORT
    APP_LISTEN=127.0.0.1:$APP_PORT
    CACHE_LISTEN=127.0.0.1:$CACHE_PORT
    SESSIONS_LISTEN=127.0.0.1:$SESSIONS_PORT
}

save_state() {
    local name
    for name in VARIANT SIZE NGINX PHP_FPM REDIS MEMCACHED HAPROXY SETSID HTTP_PORT WEB_PORT FPM_PORT APP_PORT DB_PORT \
        REDIS_PORT DEBUG_PORT CACHE_PORT SESSIONS_PORT FPM_LISTEN APP_LISTEN CACHE_LISTEN SESSIONS_LISTEN; do
        printf '%s=%q\n' "$name" "${!name}"
    done >"$DIR/case.env.new"
    mv "$DIR/case.env.new" "$DIR/case.env"
}

# load_state [VARIANT] reads what save_state wrote, and refuses another variant.
load_state() {
    DIR=$(cd "$DIR" && pwd -P)
    # shellcheck source=/dev/null
    . "$DIR/case.env"
    [ -z "${1:-}" ] || [ "$1" = "$VARIANT" ] ||
        fail "$DIR holds the $VARIANT variant; use --fresh to begin anew with $1"
}

need_case() {
    [ -f "$DIR/$MARKER" ] || fail "$DIR holds no $NAME case; run: $CASE/case.sh up $DIR"
    if [ -f "$DIR/case.env" ]; then load_state; fi
}

need_state() {
    need_case
    [ -f "$DIR/case.env" ] || fail "$DIR was not finished; run: $CASE/case.sh up $DIR"
}
