# Taking edits back, while serving.

# reset_data puts the tables in DIR's wiki back. What the wiki keeps of edited pages
# outside of them (files, caches in front) goes as MediaWiki documents it, by
# purgePage.php.
reset_data() {
    local db=(mariadb --defaults-file="$DIR/secrets/client.cnf" wiki) edited=
    if grep -qE 'wgUse(FileCache|Cdn) *= *true' "$DIR/wiki/LocalSettings.php"; then
        edited=$("${db[@]}" -N -B <"$CASE/sql/edited.sql") || fail "asking for edited pages failed; see above"
    fi
    "${db[@]}" <"$CASE/sql/reset.sql" || fail "taking edits back failed; see above"
    if [ -n "$edited" ]; then
        as "$WEB_USER" env MW_INSTALL_PATH="$DIR/wiki" php "$DIR/wiki/maintenance/purgePage.php" <<<"$edited" >/dev/null ||
            fail "purging edited pages failed; see above"
    fi
}
