# Copies of the application and the configuration, with this run's values.

# fill IN OUT replaces @NAME@. Lines about users are left out for an ordinary
# user, who cannot switch to another one.
fill() {
    local script= name
    [ -n "$AS_ROOT" ] || script='/@WEB_USER@/d;/@WEB_GROUP@/d;/@DB_USER@/d;'
    for name in DIR CASE NAME PROGRAM NGINX PHP_FPM MARIADBD REDIS MEMCACHED HAPROXY SETSID WEB_USER WEB_GROUP DB_USER \
        HTTP_PORT WEB_PORT FPM_PORT APP_PORT DB_PORT REDIS_PORT DEBUG_PORT CACHE_PORT SESSIONS_PORT \
        FPM_LISTEN APP_LISTEN CACHE_LISTEN SESSIONS_LISTEN APP_PASSWORD; do
        script+="s|@$name@|${!name:-}|g;"
    done
    sed "$script" "$1" >"$2"
}

# fill_tree FROM TO fills every file below FROM.
fill_tree() {
    local file
    (cd "$1" && find . -type f) | while read -r file; do
        mkdir -p "$2/$(dirname "$file")"
        fill "$1/$file" "$2/$file"
    done
}

render_all() {
    make_folders
    make_passwords
    cp -R "$CASE/$VARIANT/." "$DIR/app"
    if [ -d "$CASE/static" ]; then cp -R "$CASE/static/." "$DIR/app/public"; fi
    # Settings hold the database's password: only the application reads them.
    fill "$CASE/$VARIANT/config/app.ini" "$DIR/app/config/app.ini"
    chmod 640 "$DIR/app/config/app.ini"
    if [ -n "$AS_ROOT" ]; then chgrp "$WEB_GROUP" "$DIR/app/config/app.ini"; fi
    render_nginx "$CASE/conf/nginx"
    fill_tree "$CASE/conf/mysql" "$DIR/etc/mysql"
    if [ -d "$CASE/conf/redis" ]; then render_redis; fi
    if [ -d "$CASE/conf/memcached" ]; then render_memcached; fi
    if [ -d "$CASE/conf/haproxy" ]; then
        fill_tree "$CASE/conf/haproxy" "$DIR/etc/haproxy"
        render_start lb
    fi
    [ -z "$CHECKOUT" ] || make_checkout
    if [ "$VARIANT" = php ]; then fill_tree "$CASE/conf/php" "$DIR/etc/php"; else build_app; fi
    cp "$CASE/scenario.yaml" "$DIR/scenario.yaml"
    render_stack
}

make_folders() {
    mkdir -p "$DIR"/{app/public,bin,etc,log,run/mariadb,secrets,sessions,tmp}
    chmod 700 "$DIR/secrets" "$DIR/sessions"
    : >"$DIR/log/mariadb.log"
    : >"$DIR/log/php-error.log"
    [ -n "$AS_ROOT" ] || return 0
    chown "$WEB_USER:$WEB_GROUP" "$DIR/sessions" "$DIR/log/php-error.log"
    chown "$DB_USER:" "$DIR/run/mariadb" "$DIR/log/mariadb.log"
}

make_passwords() {
    APP_PASSWORD=$(random_word)
    (umask 077 && printf '%s\n' "$(random_word)" >"$DIR/secrets/db_admin")
}

random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# render_nginx FROM writes etc/nginx with the server of this variant only.
render_nginx() {
    mkdir -p "$DIR/etc/nginx/conf.d"
    cp /etc/nginx/mime.types /etc/nginx/fastcgi_params "$DIR/etc/nginx/"
    fill "$1/nginx.conf" "$DIR/etc/nginx/nginx.conf"
    fill "$1/conf.d/$VARIANT.conf" "$DIR/etc/nginx/conf.d/$NAME.conf"
}

render_stack() {
    fill "$CASE/conf/kasoku.db.yaml" "$DIR/tmp/db.yaml"
    fill "$CASE/conf/kasoku.$VARIANT.yaml" "$DIR/tmp/stack.yaml"
    sed -e "/@DB_SERVICE@/{r $DIR/tmp/db.yaml" -e 'd;}' "$DIR/tmp/stack.yaml" >"$DIR/kasoku.yaml"
    rm "$DIR/tmp/db.yaml" "$DIR/tmp/stack.yaml"
}

# build_program FOLDER [FLAG …] compiles the Go program of a folder.
build_program() {
    local folder=$1
    shift
    (cd "$folder" && go build "$@" -o "$DIR/$PROGRAM" .) || fail "go build of $folder failed"
}

# make_checkout makes the copy of the source a checkout with one commit, and that of Go a
# module of its own, as the people who run it have it. Settings and the program are not in it.
make_checkout() {
    if [ "$VARIANT" = go ]; then make_module; else echo '/config/app.ini' >"$DIR/app/.gitignore"; fi
    in_checkout init -q -b main
    commit_source "The game as found"
}

make_module() {
    (cd "$CASE/go" && go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' . | sort -u) >"$DIR/tmp/modules" ||
        fail "go list of $CASE/go failed"
    {
        printf 'module %s\n\ngo %s\n\nrequire (\n' "$NAME" "$(cd "$CASE/go" && go list -m -f '{{.GoVersion}}')"
        sed 's/^/\t/' "$DIR/tmp/modules"
        echo ')'
    } >"$DIR/app/go.mod"
    grep -F -f "$DIR/tmp/modules" "$CASE/../../go.sum" >"$DIR/app/go.sum"
    printf '/bin/\n/config/app.ini\n/public/\n' >"$DIR/app/.gitignore"
    mkdir -p "$DIR/app/bin"
}

in_checkout() { git -C "$DIR/app" -c safe.directory="$DIR/app" "$@"; }

# commit_source MESSAGE commits whatever the source is now.
commit_source() {
    in_checkout add -A
    in_checkout -c user.name=case -c user.email=case@localhost commit -q -m "$1"
}

build_app() {
    if [ -f "$DIR/app/go.mod" ]; then build_program "$DIR/app"; else build_program "$CASE/go"; fi
    render_start app
}

# render_start SERVICE writes what becomes the service's process, as the web user.
render_start() {
    local web= from=$CASE/conf/start-$1
    if [ -n "$AS_ROOT" ]; then
        web="$(command -v setpriv) --reuid=$WEB_USER --regid=$(id -g "$WEB_USER") --clear-groups --"
    fi
    [ -f "$from" ] || from=$LIB/start-$1
    fill "$from" "$DIR/bin/start-$1"
    sed -i "s|@AS_WEB@|$web|" "$DIR/bin/start-$1"
    chmod 755 "$DIR/bin/start-$1"
}

# render_redis: Redis runs as the application's user, in a folder of its own.
render_redis() {
    mkdir -p "$DIR/redis" "$DIR/run/redis"
    : >"$DIR/log/redis.log"
    if [ -n "$AS_ROOT" ]; then chown "$WEB_USER:$WEB_GROUP" "$DIR/redis" "$DIR/run/redis" "$DIR/log/redis.log"; fi
    fill_tree "$CASE/conf/redis" "$DIR/etc/redis"
    render_start redis
}

# render_memcached: one for rows, one for sessions, as the application's user, with
# folders of their own.
render_memcached() {
    local one
    fill_tree "$CASE/conf/memcached" "$DIR/etc/memcached"
    for one in cache sessions; do
        mkdir -p "$DIR/run/$one"
        if [ -n "$AS_ROOT" ]; then chown "$WEB_USER:$WEB_GROUP" "$DIR/run/$one"; fi
        render_start "$one"
    done
}
