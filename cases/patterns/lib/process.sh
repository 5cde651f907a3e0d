# Start, stop and look at the servers. Each leaves its number in a pid file.

services() {
    if [ "$LANGUAGE" = php ]; then echo db cache redis php web; else echo db cache redis app web; fi
}

pid_files() {
    case $1 in
    web) echo "$DIR/run/nginx.pid" ;;
    php) echo "$DIR/run/php-fpm.pid" ;;
    # The second is the server's own, which counts when something else restarted it.
    db) echo "$DIR/run/db.pid $DIR/run/mariadb/mariadb.pid" ;;
    *) echo "$DIR/run/$1.pid" ;;
    esac
}

# running SERVICE sets PID, if the process in a pid file is ours: its command
# line names DIR (which has no spaces).
running() {
    local file
    for file in $(pid_files "$1"); do
        [ -s "$file" ] || continue
        PID=$(<"$file") # read would fail: php-fpm writes no newline
        if kill -0 "$PID" 2>/dev/null && grep -aqF "$DIR/" "/proc/$PID/cmdline" 2>/dev/null; then return 0; fi
    done
    PID=
    return 1
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
    if running "$1"; then return 0; fi
    case $1 in
    db | cache | redis | app) detach "$DIR/bin/start-$1" ;;
    php) "$PHP_FPM" --fpm-config "$DIR/etc/php/php-fpm.conf" -c "$DIR/etc/php/php.ini" \
        </dev/null >>"$DIR/log/start.log" 2>&1 || explain php ;;
    web) "$NGINX" -p "$DIR/etc/nginx/" -c "$DIR/etc/nginx/nginx.conf" \
        </dev/null >>"$DIR/log/start.log" 2>&1 || explain web ;;
    esac
    wait_until 30 answers "$1" || explain "$1"
}

# detach starts a program that does not go into the background by itself.
detach() { "$SETSID" --fork "$@" </dev/null >>"$DIR/log/start.log" 2>&1; }

answers() {
    running "$1" || return 1
    case $1 in
    db) mariadb-admin --defaults-file="$DIR/secrets/client.cnf" ping >/dev/null 2>&1 ;;
    cache) port_is_used "$CACHE_PORT" ;;
    redis) port_is_used "$REDIS_PORT" ;;
    php | app) port_is_used "$APP_PORT" ;;
    web) [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$HTTP_PORT/ping")" = 200 ] ;;
    esac
}

explain() {
    tail -n 5 "$DIR"/log/*.log >&2 2>/dev/null || true
    fail "$1 did not start; see $DIR/log (is one of its ports in use: $HTTP_PORT $APP_PORT $DB_PORT $CACHE_PORT $REDIS_PORT?)"
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

stop() {
    running "$1" || return 0
    # QUIT would wait for idle keep-alive connections: TERM for all.
    kill -TERM "$PID" 2>/dev/null || true
    wait_until 20 gone "$PID" || kill -KILL "$PID" 2>/dev/null || true
    wait_until 5 gone "$PID" || fail "$1 (process $PID) does not end"
    # shellcheck disable=SC2046
    rm -f $(pid_files "$1")
}

stop_all() {
    local s
    for s in web php app redis cache db; do stop "$s"; done
}

status_all() {
    local s bad=0
    echo "$LANGUAGE, $FORM${OTEL:+, spans to $OTEL}"
    for s in $(services); do
        if running "$s"; then echo "$s runs, process $PID"; else echo "$s does not run"; bad=1; fi
    done
    return "$bad"
}
