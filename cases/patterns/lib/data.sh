# Creating, filling and resetting the database and the caches.

# create_database makes the data directory as the database's own user, so that
# nothing of the system is touched, and loads the tables.
create_database() {
    mkdir -p "$DIR/db"
    if [ -n "$AS_ROOT" ]; then chown "$DB_USER:" "$DIR/db"; fi
    as "$DB_USER" mariadb-install-db --defaults-file="$DIR/etc/mysql/my.cnf" \
        --datadir="$DIR/db" --auth-root-authentication-method=normal --skip-test-db \
        >"$DIR/log/install-db.log" 2>&1 || {
        tail -n 20 "$DIR/log/install-db.log" "$DIR/log/mariadb.log" >&2
        fail "mariadb-install-db failed; see above and $DIR/log/install-db.log"
    }
    # Until the operator's user exists: root, through the socket.
    write_client_file root ""
    start db
    {
        echo "CREATE DATABASE patterns DEFAULT CHARACTER SET utf8mb4; USE patterns;"
        cat "$CASE/sql/schema.sql" "$CASE/sql/data.sql"
        grants
    } | mariadb --defaults-file="$DIR/secrets/client.cnf" || fail "loading the data failed; see above"
    write_client_file kasoku "$(<"$DIR/secrets/db_admin")"
}

# grants makes the application's and the operator's users; root keeps access
# only through the socket, as the system's root.
grants() {
    local host admin
    admin=$(<"$DIR/secrets/db_admin")
    for host in localhost 127.0.0.1; do
        echo "CREATE USER patterns@'$host' IDENTIFIED BY '$APP_PASSWORD';"
        echo "GRANT SELECT, INSERT, UPDATE, DELETE ON patterns.* TO patterns@'$host';"
        echo "CREATE USER kasoku@'$host' IDENTIFIED BY '$admin';"
        echo "GRANT ALL PRIVILEGES ON *.* TO kasoku@'$host' WITH GRANT OPTION;"
    done
    echo "DELETE FROM mysql.global_priv WHERE user = '' OR (user = 'root' AND host <> 'localhost');"
    echo "FLUSH PRIVILEGES;"
    echo "ALTER USER root@localhost IDENTIFIED VIA unix_socket;"
}

# write_client_file USER PASSWORD keeps the password off command lines.
write_client_file() {
    (umask 077 && printf '[client]\nuser = %s\npassword = %s\nsocket = %s\n' \
        "$1" "$2" "$DIR/run/mariadb/mysqld.sock" >"$DIR/secrets/client.cnf")
}

reset_data() {
    running db || fail "the database does not run; run: CASE_DIR=$DIR $CASE/case.sh start"
    mariadb --defaults-file="$DIR/secrets/client.cnf" patterns <"$CASE/sql/reset.sql" ||
        fail "resetting the tables failed; see above"
    fill_memcached || fail "memcached on port $CACHE_PORT did not take the entries"
    {
        local i
        echo FLUSHALL
        for i in {1..20}; do echo "SET score:$i $((i * 100))"; done
        echo "SET motd open"
    } | redis-cli -p "$REDIS_PORT" >"$DIR/log/reset-redis.log" || fail "redis on port $REDIS_PORT did not take the entries"
}

# fill_memcached sets card:1…20 and banner (protocol.txt of memcached: set KEY
# FLAGS EXPTIME BYTES).
fill_memcached() {
    local i value line count=0
    exec 4<>"/dev/tcp/127.0.0.1/$CACHE_PORT"
    for i in {1..20}; do
        value="Card $i"
        printf 'set card:%d 0 0 %d\r\n%s\r\n' "$i" ${#value} "$value" >&4
    done
    printf 'set banner 0 0 7\r\nWelcome\r\n' >&4
    while [ "$count" -lt 21 ] && IFS= read -r -t 10 -u 4 line; do
        [ "${line%$'\r'}" = STORED ] || break
        count=$((count + 1))
    done
    exec 4>&-
    [ "$count" = 21 ]
}
