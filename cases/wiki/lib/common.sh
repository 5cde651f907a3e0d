# Words, checks and state shared by the other parts of case.sh.

# MARKER lies in every directory that case.sh made.
MARKER=.wiki-case
MARIADBD=/usr/sbin/mariadbd
APACHE=/usr/sbin/apache2
MODULES=/usr/lib/apache2/modules
ETC_APACHE=/etc/apache2
SHARE=/usr/share/mediawiki
AS_ROOT=
if [ "$(id -u)" = 0 ]; then AS_ROOT=1; fi
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
    [ -n "$(command -v "$1" || true)" ] || fail "$1 is not installed (package $2); run: make deps-test"
}

check_programs() {
    need_program setsid util-linux
    need_program flock util-linux
    need_program "$APACHE" apache2
    need_program "$MARIADBD" mariadb-server
    need_program mariadb-install-db mariadb-server
    need_program mariadb mariadb-client
    need_program curl curl
    need_program php php-cli
    need_program gzip gzip
    [ -f "$SHARE/index.php" ] || fail "MediaWiki is not installed (package mediawiki); run: make deps-test"
    local module
    module=$(find "$MODULES" -name 'libphp*.so' 2>/dev/null | sort | tail -n 1)
    [ -n "$module" ] || fail "Apache has no PHP (package libapache2-mod-php); run: make deps-test"
    PHP_VERSION=${module##*libphp} PHP_VERSION=${PHP_VERSION%.so}
    local modules
    modules=$(php -m)
    for module in mysqli intl mbstring xml; do
        grep -qix "$module" <<<"$modules" || fail "PHP has no $module (package php$PHP_VERSION-${module/mysqli/mysql}); run: make deps-test"
    done
    if [ -n "$AS_ROOT" ]; then
        need_program setpriv util-linux
        id "$WEB_USER" >/dev/null 2>&1 || fail "there is no user $WEB_USER (package apache2); run: make deps-test"
        id "$DB_USER" >/dev/null 2>&1 || fail "there is no user $DB_USER (package mariadb-server); run: make deps-test"
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
        [ "$REPLY" != "${HTTP_PORT:-}" ] || continue
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
    free_port; DB_PORT=$REPLY
    ADDRESS=${ADDRESS:-127.0.0.1:$HTTP_PORT}
}

save_state() {
    local name
    for name in HTTP_PORT DB_PORT ADDRESS PHP_VERSION; do
        printf '%s=%q\n' "$name" "${!name}"
    done >"$DIR/case.env.new"
    mv "$DIR/case.env.new" "$DIR/case.env"
}

load_state() {
    DIR=$(cd "$DIR" && pwd -P)
    # shellcheck source=/dev/null
    . "$DIR/case.env"
}

need_case() {
    [ -f "$DIR/$MARKER" ] || fail "$DIR holds no wiki case; run: $CASE/case.sh up $DIR"
    if [ -f "$DIR/case.env" ]; then load_state; fi
}

need_state() {
    need_case
    [ -f "$DIR/case.env" ] || fail "$DIR was not finished; run: $CASE/case.sh up $DIR"
}
