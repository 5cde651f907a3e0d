# Creating and filling the database.

# new_database makes the data directory as the database's own user, so that
# nothing of the system is touched, and starts the server.
new_database() {
    mkdir -p "$DIR/db"
    if [ -n "$AS_ROOT" ]; then chown "$DB_USER:" "$DIR/db"; fi
    # Servers that start at the same time with one folder for temporary tables
    # delete each other's.
    TMPDIR=$DIR/db as "$DB_USER" mariadb-install-db --defaults-file="$DIR/etc/mysql/my.cnf" \
        --datadir="$DIR/db" --auth-root-authentication-method=normal --skip-test-db \
        >"$DIR/log/install-db.log" 2>&1 || fail "mariadb-install-db failed; see $DIR/log/install-db.log"
    start db
    grants | root_sql || fail "making the database's users failed; see above"
}

root_sql() { mariadb --no-defaults --socket="$DIR/run/mariadb/mysqld.sock" --user=root "$@"; }

# grants makes the wiki's and the operator's users.
grants() {
    local host admin
    read -r admin <"$DIR/secrets/db_admin"
    echo "CREATE DATABASE wiki DEFAULT CHARACTER SET binary;"
    for host in localhost 127.0.0.1; do
        echo "CREATE USER wiki@'$host' IDENTIFIED BY '$APP_PASSWORD';"
        echo "GRANT ALL PRIVILEGES ON wiki.* TO wiki@'$host';"
        echo "CREATE USER kasoku@'$host' IDENTIFIED BY '$admin';"
        echo "GRANT ALL PRIVILEGES ON *.* TO kasoku@'$host' WITH GRANT OPTION;"
    done
}

# create_database fills a new one from the content, and leaves root access only
# through the socket, as the system's root.
create_database() {
    new_database
    { echo "SET SESSION innodb_strict_mode = 0, foreign_key_checks = 0, unique_checks = 0;"; gunzip -c "$CONTENT/wiki.sql.gz"; } |
        root_sql wiki || fail "loading the content failed; see above"
    tar -C "$DIR/wiki/images" -xzf "$CONTENT/images.tar.gz"
    if [ -n "$AS_ROOT" ]; then chown -R "$WEB_USER:$WEB_GROUP" "$DIR/wiki/images"; fi
    root_sql wiki <"$CASE/sql/reset.sql" || fail "preparing the content failed; see above"
    root_sql <<'END'
DELETE FROM mysql.global_priv WHERE user = '' OR (user = 'root' AND host <> 'localhost');
FLUSH PRIVILEGES;
ALTER USER root@localhost IDENTIFIED VIA unix_socket;
END
    write_client_file
}

# write_client_file keeps the password off command lines.
write_client_file() {
    local admin
    read -r admin <"$DIR/secrets/db_admin"
    (umask 077 && printf '[client]\nuser = kasoku\npassword = %s\nsocket = %s\n' \
        "$admin" "$DIR/run/mariadb/mysqld.sock" >"$DIR/secrets/client.cnf")
}
