# The content: generated once through MediaWiki's own maintenance scripts, then
# kept as an SQL dump and the uploaded pictures.

# As many as content/generate.php says.
WRITERS=60 EDITORS=40

# content sets CONTENT to the folder with the content, and builds it if it is
# not there: for each version of MediaWiki and of what generates it, one.
# KASOKU_CASE_CONTENT names one that came from elsewhere.
content() {
    CONTENT=${KASOKU_CASE_CONTENT:-}
    if [ -n "$CONTENT" ]; then
        [ -f "$CONTENT/wiki.sql.gz" ] || fail "KASOKU_CASE_CONTENT: $CONTENT holds no wiki.sql.gz"
        return
    fi
    local cache key version
    cache=${KASOKU_CASE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kasoku}
    version=$(sed -n "s/^define( 'MW_VERSION', '\(.*\)' );/\1/p" "$SHARE/includes/Defines.php")
    key=$({ cat "$CASE"/content/* "$CASE/sql/content.sql"; echo "$version"; } | sha256sum | cut -c1-12)
    case ${KASOKU_WIKI_SIZE:=full} in
    full) ;;
    small) key+=-small ;;
    *) fail "KASOKU_WIKI_SIZE is small or full, not $KASOKU_WIKI_SIZE" ;;
    esac
    export KASOKU_WIKI_SIZE
    CONTENT=$cache/wiki-$version-$key
    [ ! -f "$CONTENT/wiki.sql.gz" ] || return 0
    mkdir -p "$cache"
    tell "building the wiki's content in $CONTENT; this takes some minutes, once"
    # -o: no server that starts meanwhile keeps the lock.
    # A process of its own: in a list with || the shell would go on after errors.
    flock -o "$CONTENT.lock" "$CASE/case.sh" build "$CONTENT" || fail "building the content failed; see above"
}

# build_content makes the folder that `case.sh build` names, under the lock that
# content took. It works in a folder of its own that every user can enter.
build_content() {
    CONTENT=$DIR ADDRESS=127.0.0.1
    [ ! -f "$CONTENT/wiki.sql.gz" ] || return 0 # another process built it meanwhile
    DIR=$(mktemp -d /tmp/wikiXXXXXX)
    trap 'stop_all || true; rm -rf "$DIR"' EXIT
    chmod 755 "$DIR"
    free_port; HTTP_PORT=$REPLY
    free_port; DB_PORT=$REPLY
    render_all
    # Nothing here must survive a crash.
    cat >>"$DIR/etc/mysql/my.cnf" <<'END'
innodb_flush_log_at_trx_commit = 0
innodb_doublewrite = 0
innodb_buffer_pool_size = 512M
END
    new_database
    mkdir "$DIR/source"
    php "$CASE/content/generate.php" "$DIR/source" >&2
    install_wiki
    import_pages
    finish_content
    local new=$CONTENT.new
    rm -rf "$new"
    mkdir "$new"
    tar -C "$DIR/wiki/images" --sort=name -czf "$new/images.tar.gz" .
    mariadb-dump --no-defaults --socket="$DIR/run/mariadb/mysqld.sock" --user=root --skip-dump-date wiki | gzip -6 >"$new/wiki.sql.gz"
    mv "$new" "$CONTENT"
    stop_all
    rm -rf "$DIR"
    trap - EXIT
}

# maintain SCRIPT … runs one of MediaWiki's maintenance scripts.
maintain() {
    local script=$1
    shift
    case $script in /*) ;; *) script=$DIR/wiki/maintenance/$script ;; esac
    MW_INSTALL_PATH=$DIR/wiki php -d opcache.enable_cli=1 -d memory_limit=512M "$script" "$@" \
        >>"$DIR/log/build.log" 2>&1 || { tail -n 20 "$DIR/log/build.log" >&2; fail "${script##*/} failed; see above"; }
}

# install_wiki makes the tables and the accounts. The installer's own first page
# goes: it is newer than any that is imported.
install_wiki() {
    mv "$DIR/wiki/LocalSettings.php" "$DIR/tmp.php"
    maintain install.php --dbtype mysql --dbserver "127.0.0.1:$DB_PORT" --dbname wiki --dbuser wiki --dbpass "$APP_PASSWORD" \
        --scriptpath "" --server http://127.0.0.1 --lang ja --pass "kanrinin-$SECRET_KEY" --confpath "$DIR/source" 風土記 管理人
    mv "$DIR/tmp.php" "$DIR/wiki/LocalSettings.php"
    local table
    for table in page revision revision_comment_temp slots content text comment recentchanges searchindex logging log_search; do
        echo "TRUNCATE TABLE $table;"
    done | root_sql wiki
    maintain "$CASE/content/Accounts.php" "$WRITERS" "$EDITORS"
}

import_pages() {
    # What is imported gets numbers above those of the history.
    head -n 3 "$DIR/source/history.sql" | root_sql wiki
    maintain importDump.php --no-updates --username-prefix "" "$DIR/source/pages.xml"
    root_sql wiki <"$DIR/source/history.sql" || fail "loading the older revisions failed; see above"
    maintain importImages.php --user 執筆者1 --timestamp 20200101000000 --extensions png "$DIR/source"
}

# finish_content makes what depends on the pages: links, the index for searches,
# statistics, recent changes.
finish_content() {
    local last half
    last=$(root_sql -N wiki <<<'SELECT MAX(page_id) FROM page')
    half=$(root_sql -N wiki <<<'SELECT page_id FROM page ORDER BY page_id LIMIT 1 OFFSET 240')
    maintain refreshLinks.php --e "$half" &
    maintain refreshLinks.php --e "$last" -- "$((half + 1))"
    wait $!
    maintain rebuildtextindex.php
    maintain initSiteStats.php --update --active
    maintain initEditCount.php
    maintain rebuildrecentchanges.php --from 20241001000000 --to 20250101000000
    root_sql wiki <"$CASE/sql/content.sql"
}
