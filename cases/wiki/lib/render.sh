# The wiki's folder and the configuration, with this run's values.

# fill IN OUT replaces @NAME@. Lines about users are left out for an ordinary
# user, who cannot switch to another one.
fill() {
    local script= name
    [ -n "$AS_ROOT" ] || script='/@WEB_USER@/d;/@WEB_GROUP@/d;/@DB_USER@/d;'
    for name in DIR CASE APACHE MARIADBD PHP_VERSION WEB_USER WEB_GROUP DB_USER \
        HTTP_PORT DB_PORT ADDRESS APP_PASSWORD SECRET_KEY UPGRADE_KEY; do
        script+="s|@$name@|${!name:-}|g;"
    done
    sed "$script" "$1" >"$2"
}

render_all() {
    make_folders
    APP_PASSWORD=$(random_word) SECRET_KEY=$(random_word)$(random_word) UPGRADE_KEY=$(random_word)
    UPGRADE_KEY=${UPGRADE_KEY:0:16}
    (umask 077 && printf '%s\n' "$(random_word)" >"$DIR/secrets/db_admin")
    fill "$CASE/conf/mysql/my.cnf" "$DIR/etc/mysql/my.cnf"
    fill "$CASE/conf/apache2/apache2.conf" "$DIR/etc/apache2/apache2.conf"
    link_modules
    # Debian's own php.ini for servers, with OPcache switched off; KASOKU_WIKI_OPCACHE=1
    # leaves it on, for tests of something else: a page then costs a third.
    local opcache='opcache.enable = 0'
    [ "${KASOKU_WIKI_OPCACHE:-}" != 1 ] || opcache='opcache.revalidate_freq = 0'
    { cat "/usr/lib/php/$PHP_VERSION/php.ini-production"; printf '\n[opcache]\n%s\n' "$opcache"; } >"$DIR/etc/php/php.ini"
    make_wiki "$DIR/wiki"
    # The settings hold the database's password: only the application reads them.
    fill "$CASE/conf/mediawiki/LocalSettings.php" "$DIR/wiki/LocalSettings.php"
    chmod 640 "$DIR/wiki/LocalSettings.php"
    if [ -n "$AS_ROOT" ]; then chgrp "$WEB_GROUP" "$DIR/wiki/LocalSettings.php"; fi
    fill "$CASE/conf/kasoku.yaml" "$DIR/kasoku.yaml"
    cp "$CASE/scenario.yaml" "$CASE/checks.yaml" "$CASE/articles.csv" "$DIR/"
}

# link_modules lays out etc/apache2 as Debian does, with the modules that its
# packages switch on.
link_modules() {
    local name apache=$DIR/etc/apache2
    mkdir -p "$apache"/{mods-enabled,conf-enabled,sites-available,sites-enabled}
    cp -R "$ETC_APACHE/mods-available" "$apache/"
    for name in access_compat alias auth_basic authn_core authn_file authz_core authz_host authz_user autoindex deflate dir \
        env filter mime mpm_prefork negotiation "php$PHP_VERSION" reqtimeout setenvif status; do
        ln -s "../mods-available/$name.load" "$apache/mods-enabled/"
        if [ -f "$apache/mods-available/$name.conf" ]; then ln -s "../mods-available/$name.conf" "$apache/mods-enabled/"; fi
    done
    fill "$CASE/conf/apache2/wiki.conf" "$apache/sites-available/wiki.conf"
    ln -s ../sites-available/wiki.conf "$apache/sites-enabled/"
}

make_folders() {
    mkdir -p "$DIR"/{etc/apache2,etc/php,etc/mysql,log,run/mariadb,secrets}
    chmod 700 "$DIR/secrets"
    : >"$DIR/log/mariadb.log"
    [ -n "$AS_ROOT" ] || return 0
    chown "$DB_USER:" "$DIR/run/mariadb" "$DIR/log/mariadb.log"
}

# make_wiki FOLDER lays out MediaWiki as Debian's package does in
# /var/lib/mediawiki: links to the package's folders, unchanged. What finds
# LocalSettings.php by its own place (index.php and the like, includes) is
# copied, so that this wiki is not the system's.
make_wiki() {
    local name
    mkdir -p "$1/extensions" "$1/images" "$1/cache"
    for name in languages maintenance mw-config resources skins vendor; do ln -s "$SHARE/$name" "$1/$name"; done
    cp -R "$SHARE/includes" "$1/includes"
    for name in "$SHARE"/*.php "$SHARE/composer.json"; do
        if [ ! -L "$name" ]; then cp "$name" "$1/"; fi # LocalSettings.php is a link to the system's
    done
    for name in Cite ParserFunctions; do ln -s "$SHARE/extensions-core/$name" "$1/extensions/$name"; done
    if [ -n "$AS_ROOT" ]; then chown "$WEB_USER:$WEB_GROUP" "$1/images" "$1/cache"; fi
}

random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# record_golden keeps the answers of the wiki as found, which scenario.yaml names,
# and so fills the parser's cache, as in a wiki in use.
record_golden() {
    local file path
    mkdir -p "$DIR/golden"
    awk '/request: GET /{path = $0; sub(/.*request: GET /, "", path)} match($0, /golden: [^ },]+/) {print substr($0, RSTART + 8, RLENGTH - 8), path}' \
        "$DIR/scenario.yaml" | sort -u | while read -r file path; do
        path=$(php -r 'echo preg_replace_callback("/[^!-~]+/", fn($m) => rawurlencode($m[0]), $argv[1]);' "$path")
        curl -sf -o "$DIR/$file" "http://127.0.0.1:$HTTP_PORT$path" || fail "http://127.0.0.1:$HTTP_PORT$path does not answer; see $DIR/log"
    done
}
