# Start, stop and look at the servers. Each leaves its number in a pid file.

services() {
    local caches= front= program=app
    if [ -d "$CASE/conf/redis" ]; then caches=redis; fi
    if [ -d "$CASE/conf/memcached" ]; then caches+=" cache sessions"; fi
    if [ -d "$CASE/conf/haproxy" ]; then front=lb; fi
    if [ "$VARIANT" = php ]; then program=php; fi
    echo db $caches $program web $front
}

pid_file() {
    case $1 in
    web) echo "$DIR/run/nginx.pid" ;;
    php) echo "$DIR/run/php-fpm.pid" ;;
    app) echo "$DIR/run/app.pid" ;;
    redis) echo "$DIR/run/redis.pid" ;;
    lb) echo "$DIR/run/lb.pid" ;;
    cache | sessions) echo "$DIR/run/$1/$1.pid" ;;
    db) echo "$DIR/run/mariadb/mariadb.pid" ;;
    esac
}

# running SERVICE sets PID, if the process in its pid file is ours: its command
# line names DIR.
running() {
    local file
    file=$(pid_file "$1")
    PID=
    [ -s "$file" ] || return 1
    PID=$(<"$file") # read would fail: php-fpm writes no newline
    kill -0 "$PID" 2>/dev/null || return 1
    grep -aqF "$DIR/" "/proc/$PID/cmdline" 2>/dev/null
}

# wait_until SECONDS COMMAND … polls until the command succeeds.
wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

start() {
    running "$1" && return 0
    case $1 in
    db) detach "$MARIADBD" --defaults-file="$DIR/etc/mysql/my.cnf" ;;
    php) "$PHP_FPM" --fpm-config "$DIR/etc/php/php-fpm.conf" -c "$DIR/etc/php/php.ini" \
        </dev/null >>"$DIR/log/start.log" 2>&1 || explain php ;;
    app | redis | cache | sessions | lb) detach "$DIR/bin/start-$1" ;;
    web) "$NGINX" -p "$DIR/etc/nginx/" -c "$DIR/etc/nginx/nginx.conf" \
        </dev/null >>"$DIR/log/start.log" 2>&1 || explain web ;;
    esac
    wait_until 20 answers "$1" || explain "$1"
}

# detach starts a program that does not go into the background by itself.
detach() { "$SETSID" --fork "$@" </dev/null >>"$DIR/log/start.log" 2>&1; }

answers() {
    running "$1" || return 1
    case $1 in
    db) ping_database >/dev/null 2>&1 ;;
    php) endpoint_open "$FPM_LISTEN" ;;
    app) endpoint_open "$APP_LISTEN" ;;
    redis) port_is_used "$REDIS_PORT" ;;
    lb) port_is_used "$HTTP_PORT" ;;
    cache | sessions) memcached_open "$1" ;;
    web) [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:${WEB_PORT:-$HTTP_PORT}$HEALTH")" = 200 ] ;;
    esac
}

# ping_database asks as root until the operator's user exists.
ping_database() {
    if [ -f "$DIR/secrets/client.cnf" ]; then
        mariadb-admin --defaults-file="$DIR/secrets/client.cnf" ping
    else
        mariadb-admin --no-defaults --socket="$DIR/run/mariadb/mysqld.sock" --user=root ping
    fi
}

# memcached_open SERVICE looks where its options say that it listens.
memcached_open() {
    local socket port
    socket=$(sed -n 's/^-s *//p' "$DIR/etc/memcached/$1.conf")
    port=$(sed -n 's/^-p *//p' "$DIR/etc/memcached/$1.conf")
    if [ -n "$socket" ]; then [ -S "$socket" ]; else port_is_used "$port"; fi
}

endpoint_open() {
    case $1 in
    unix:*) [ -S "${1#unix:}" ] ;;
    *) port_is_used "${1##*:}" ;;
    esac
}

explain() {
    tail -n 5 "$DIR"/log/start.log "$DIR"/log/*error.log "$DIR"/log/*.log >&2 2>/dev/null || true
    fail "$1 did not start; see $DIR/log (is one of its ports in use: $HTTP_PORT $FPM_PORT $APP_PORT $DB_PORT?)"
}

start_all() {
    local s
    for s in $(services); do start "$s"; done
}

# gone PID: ended, even if its parent has not asked for its exit status yet (a
# zombie has no command line, and its other threads must have ended too).
gone() {
    local line= tasks=("/proc/$1/task/"*)
    { IFS= read -r -d '' line <"/proc/$1/cmdline"; } 2>/dev/null || true
    [ -z "$line" ] && [ ${#tasks[@]} -le 1 ]
}

stop_all() {
    local s
    for s in lb web php app cache sessions redis db; do
        running "$s" || continue
        # QUIT would wait for idle keep-alive connections: TERM for all.
        kill -TERM "$PID" 2>/dev/null || true
        wait_until 20 gone "$PID" || kill -KILL "$PID" 2>/dev/null || true
        wait_until 5 gone "$PID" || fail "$s (process $PID) does not end"
        rm -f "$(pid_file "$s")"
    done
}

status_all() {
    local s bad=0
    for s in $(services); do
        if running "$s"; then echo "$s runs, process $PID"; else echo "$s does not run"; bad=1; fi
    done
    if [ "$bad" = 0 ]; then
        if answers web; then echo "http://127.0.0.1:$HTTP_PORT/ answers"; else
            echo "http://127.0.0.1:$HTTP_PORT$HEALTH does not answer with 200"
            bad=1
        fi
    fi
    return "$bad"
}
