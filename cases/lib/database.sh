# Creating, filling and resetting the database; the configuration by hand.

create_database() {
    mkdir -p "$DIR/db"
    if [ -n "$AS_ROOT" ]; then chown "$DB_USER:" "$DIR/db"; fi
    local ready
    ready=$(ready_data)
    if [ -d "$ready" ]; then
        cp -a --reflink=auto "$ready/." "$DIR/db/"
        start db
    else
        install_database
        keep_data "$ready"
    fi
    grants | as_database_root || fail "making the users failed; see above"
    write_client_file
}

as_database_root() { mariadb --no-defaults --socket="$DIR/run/mariadb/mysqld.sock" --user=root; }

# install_database makes the data folder, as the database's own user, so that
# nothing of the system is touched, starts the server, and loads the data.
install_database() {
    # Servers that start at the same time with one folder for temporary tables
    # delete each other's.
    TMPDIR=$DIR/db as "$DB_USER" mariadb-install-db --defaults-file="$DIR/etc/mysql/my.cnf" \
        --datadir="$DIR/db" --auth-root-authentication-method=normal --skip-test-db \
        >"$DIR/log/install-db.log" 2>&1 || fail "mariadb-install-db failed; see $DIR/log/install-db.log"
    start db
    {
        echo "CREATE DATABASE $NAME DEFAULT CHARACTER SET utf8mb4; USE $NAME;"
        case_sql
    } | as_database_root || fail "loading the data failed; see above"
}

# ready_data prints the folder of data that an earlier up kept, without users: by
# the server, its configuration, the data, and who runs it.
ready_data() {
    local key
    key=$({
        "$MARIADBD" --no-defaults --version
        id -u
        cat "$CASE/conf/mysql/my.cnf"
        declare -f create_database install_database keep_data
        case_sql
    } | sha256sum)
    printf '%s/%s-data/%s' "${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/kasoku" "$NAME" "${key:0:16}"
}

# keep_data READY keeps a copy of what was loaded, taken while the server is
# stopped. That it cannot be kept costs the next up some seconds, and nothing else.
keep_data() {
    local new
    stop_all
    mkdir -p "$(dirname "$1")" 2>/dev/null && new=$(mktemp -d "$1.XXXXXX" 2>/dev/null) &&
        cp -a --reflink=auto "$DIR/db/." "$new/" && mv -T "$new" "$1" 2>/dev/null || rm -rf "${new:-}"
    start db
}

# grants makes the application's and the operator's users; root keeps access
# only through the socket, as the system's root.
grants() {
    local host admin
    read -r admin <"$DIR/secrets/db_admin"
    for host in localhost 127.0.0.1; do
        echo "CREATE USER $NAME@'$host' IDENTIFIED BY '$APP_PASSWORD';"
        echo "GRANT SELECT, INSERT, UPDATE, DELETE ON $NAME.* TO $NAME@'$host';"
        case_grants "$host"
        echo "CREATE USER kasoku@'$host' IDENTIFIED BY '$admin';"
        echo "GRANT ALL PRIVILEGES ON *.* TO kasoku@'$host' WITH GRANT OPTION;"
    done
    echo "DELETE FROM mysql.global_priv WHERE user = '' OR (user = 'root' AND host <> 'localhost');"
    echo "FLUSH PRIVILEGES;"
    echo "ALTER USER root@localhost IDENTIFIED VIA unix_socket;"
}

# write_client_file keeps the password off command lines.
write_client_file() {
    local admin
    read -r admin <"$DIR/secrets/db_admin"
    (umask 077 && printf '[client]\nuser = kasoku\npassword = %s\nsocket = %s\n' \
        "$admin" "$DIR/run/mariadb/mysqld.sock" >"$DIR/secrets/client.cnf")
}

sql() { mariadb --defaults-file="$DIR/secrets/client.cnf" "$NAME" "$@"; }

reset_data() {
    running db || fail "the database does not run; run: $CASE/case.sh up $DIR"
    sql <"$CASE/sql/reset.sql" || fail "resetting the data failed; see above"
    case_reset
}

# apply_hand replaces the configuration by the one tuned by hand, and with
# --source the application by hand/src.
apply_hand() {
    FPM_LISTEN=unix:$DIR/run/php-fpm.sock
    APP_LISTEN=unix:$DIR/run/app/app.sock
    CACHE_LISTEN=unix:$DIR/run/cache/cache.sock
    SESSIONS_LISTEN=unix:$DIR/run/sessions/sessions.sock
    start db
    if [ -f "$CASE/hand/indexes.sql" ]; then
        sql <"$CASE/hand/indexes.sql" || fail "creating the indexes failed; see above"
    fi
    stop_all
    if [ -n "$SOURCE" ]; then hand_source; fi
    hand_settings
    render_nginx "$CASE/hand/nginx"
    fill_tree "$CASE/hand/mysql" "$DIR/etc/mysql"
    local part
    for part in memcached haproxy; do
        if [ -d "$CASE/hand/$part" ]; then fill_tree "$CASE/hand/$part" "$DIR/etc/$part"; fi
    done
    if [ -d "$CASE/hand/redis" ]; then fill_tree "$CASE/hand/redis" "$DIR/etc/redis"; fi
    if [ "$VARIANT" = php ]; then fill_tree "$CASE/hand/php" "$DIR/etc/php"; fi
    render_stack
    save_state
    start_all
}

# hand_source puts the program with the patch of hand/src in place of the one as
# found; its settings stay.
hand_source() {
    if [ "$VARIANT" = go ]; then
        patch -s -p1 -d "$DIR/app" <"$CASE/hand/src/go.patch" || fail "the patch of hand/src does not fit"
        [ -z "$CHECKOUT" ] || commit_source "By hand"
        build_program "$DIR/app"
        return
    fi
    local src=$DIR/tmp/src
    rm -rf "$src"
    cp -R "$CASE/php" "$src"
    patch -s -p1 -d "$src" <"$CASE/hand/src/php.patch" || fail "the patch of hand/src does not fit"
    rm -rf "$DIR/app/public" "$DIR/app/src"
    mv "$src/public" "$src/src" "$DIR/app/"
    rm -rf "$src"
    [ -z "$CHECKOUT" ] || commit_source "By hand"
}

# hand_settings lets the application reach the database through its socket.
hand_settings() {
    local file=$DIR/app/config/app.ini socket=$DIR/run/mariadb/mysqld.sock
    if [ "$VARIANT" = php ]; then
        sed -i "s|^dsn = \"mysql:host=127.0.0.1;port=[0-9]*;|dsn = \"mysql:unix_socket=$socket;|" "$file"
        case_hand
        return
    fi
    mkdir -p "$DIR/run/app"
    if [ -n "$AS_ROOT" ]; then chown "$WEB_USER:$WEB_GROUP" "$DIR/run/app"; fi
    sed -i -e "s|tcp(127.0.0.1:[0-9]*)|unix($socket)|" \
        -e "s|charset=utf8mb4\"|charset=utf8mb4\&interpolateParams=true\"|" \
        -e "s|^listen = .*|listen = \"$APP_LISTEN\"|" "$file"
    case_hand
}
