# Copies of the application and the configuration, with this run's values.

# fill IN OUT replaces @NAME@. Lines about users are left out for an ordinary
# user, who cannot switch to another one.
fill() {
    local script= name
    [ -n "$AS_ROOT" ] || script='/@WEB_USER@/d;/@WEB_GROUP@/d;/@DB_USER@/d;'
    for name in DIR CASE NGINX PHP_FPM MARIADBD MEMCACHED REDIS AS_WEB WEB_USER WEB_GROUP DB_USER LANGUAGE FORM OTEL \
        HTTP_PORT APP_PORT DB_PORT CACHE_PORT REDIS_PORT APP_PASSWORD; do
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
    AS_WEB=
    if [ -n "$AS_ROOT" ]; then
        AS_WEB="$(command -v setpriv) --reuid=$WEB_USER --regid=$(id -g "$WEB_USER") --clear-groups --"
    fi
    render_app
    render_nginx
    fill_tree "$CASE/conf/mysql" "$DIR/etc/mysql"
    fill_tree "$CASE/conf/redis" "$DIR/etc/redis"
    local name
    for name in db cache redis app; do
        local from=$CASE/conf/start-$name
        [ -f "$from" ] || from=$CASE/../lib/start-$name
        fill "$from" "$DIR/bin/start-$name"
        chmod 755 "$DIR/bin/start-$name"
    done
    cp "$CASE/scenario.yaml" "$DIR/scenario.yaml"
    render_stack
}

# render_app: settings hold the database's password, so only the application
# reads them. Connections that workers of PHP noted are forgotten.
render_app() {
    if [ "$LANGUAGE" = php ]; then
        rm -rf "$DIR/app/public" "$DIR/app/src"
        cp -R "$CASE/php/." "$DIR/app"
        fill_tree "$CASE/conf/php" "$DIR/etc/php"
        rm -f "$DIR/run/seen/"*
    else
        (cd "$CASE/go" && go build -o "$DIR/bin/patterns-app" .) || fail "go build of $CASE/go failed"
    fi
    fill "$CASE/conf/app.ini" "$DIR/app/app.ini"
    chmod 640 "$DIR/app/app.ini"
    if [ -n "$AS_ROOT" ]; then chgrp "$WEB_GROUP" "$DIR/app/app.ini"; fi
}

make_folders() {
    mkdir -p "$DIR"/{app,bin,etc,log,run/mariadb,run/cache,run/seen,secrets,tmp/db}
    chmod 700 "$DIR/secrets"
    : >"$DIR/log/mariadb.log"
    : >"$DIR/log/php-error.log"
    : >"$DIR/log/redis.log"
    [ -n "$AS_ROOT" ] || return 0
    chown "$WEB_USER:$WEB_GROUP" "$DIR/run/cache" "$DIR/run/seen" "$DIR/log/php-error.log" "$DIR/log/redis.log"
    chown "$DB_USER:" "$DIR/run/mariadb" "$DIR/tmp/db" "$DIR/log/mariadb.log"
}

make_passwords() {
    APP_PASSWORD=$(random_word)
    (umask 077 && random_word >"$DIR/secrets/db_admin")
}

random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# render_nginx writes etc/nginx with the server of this language only.
render_nginx() {
    mkdir -p "$DIR/etc/nginx/conf.d"
    cp /etc/nginx/mime.types /etc/nginx/fastcgi_params "$DIR/etc/nginx/"
    fill "$CASE/conf/nginx/nginx.conf" "$DIR/etc/nginx/nginx.conf"
    fill "$CASE/conf/nginx/conf.d/$LANGUAGE.conf" "$DIR/etc/nginx/conf.d/patterns.conf"
}

# render_stack writes kasoku.yaml of the head, the language's part and the rest.
render_stack() {
    local part
    for part in head "$LANGUAGE" rest; do
        fill "$CASE/conf/kasoku.$part.yaml" "$DIR/tmp/part.yaml"
        cat "$DIR/tmp/part.yaml"
    done >"$DIR/kasoku.yaml"
    if [ -n "$OTEL" ]; then
        printf 'evidence:\n  otlp: %s\n' "${OTEL#http://}" >>"$DIR/kasoku.yaml"
    fi
    rm "$DIR/tmp/part.yaml"
}
