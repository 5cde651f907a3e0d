#!/bin/bash
# Collects real configuration files of Debian packages for the editors' tests
# into internal/confedit/testdata/corpus/packages.tar.gz with a MANIFEST.tsv
# beside it: kind, package, version, path, SHA-256. Files come from the packages
# installed here and from packages unpacked with `dpkg-deb -x` into folders named
# after them, given as arguments. Only files as packages ship them are taken;
# of files with the same bytes, one.
#   scripts/confedit-corpus.sh [UNPACKED/PACKAGE…]
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=$PWD/internal/confedit/testdata/corpus
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT
declare -A SEEN=()

# kind_of PATH prints which editor a file is for, nothing for none.
kind_of() {
    case $1 in
    */systemd/system/*.service | */systemd/system/*.socket | */systemd/system/*.timer | */systemd/system/*.target | \
        */systemd/system/*.path | */systemd/system/*.mount | */systemd/system/*.slice | */systemd/system/*.d/*.conf | \
        */systemd/user/*.service | */systemd/user/*.socket | /etc/systemd/*.conf) echo unit ;;
    /etc/sysctl.conf | */sysctl.d/*.conf | */examples/sysctl.conf) echo sysctl ;;
    /etc/redis/*.conf) echo redis ;;
    /etc/memcached.conf | */memcached.conf.default) echo memcached ;;
    /etc/supervisor/*.conf | */supervisor/*/sample.conf | */supervisor/skel/*.conf) echo supervisor ;;
    */mysql/*.cnf | /etc/mysql/*.fallback | */mariadb*/*.cnf) echo mysql ;;
    */fpm/php-fpm.conf | */fpm/pool.d/*.conf) echo fpm ;;
    /usr/lib/php/*/php.ini-* | /etc/php/*.ini | /usr/share/php*/*/*.ini) echo php ;;
    /etc/nginx/* | /usr/share/nginx/modules-available/*.conf | /usr/share/doc/*nginx*.conf) echo nginx ;;
    /etc/haproxy/*.cfg | */haproxy/examples/*.cfg) echo haproxy ;;
    /etc/default/*) echo env ;;
    esac
}

# take KIND PACKAGE VERSION PATH FILE
take() {
    local sum name
    sum=$(sha256sum <"$5") sum=${sum%% *}
    if [ -n "${SEEN[$1$sum]:-}" ]; then return; fi
    SEEN[$1$sum]=1
    name="$STAGE/$1/$2$4"
    mkdir -p "${name%/*}"
    case $5 in *.gz) gzip -dc "$5" >"${name%.gz}" ;; *) cat "$5" >"$name" ;; esac
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$sum" >>"$STAGE/MANIFEST"
}

for dir in "$@"; do
    package=${dir##*/}
    version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null || true)
    if [ -z "$version" ]; then version=$(apt-cache policy "$package" | awk '/Candidate:/ { print $2 }'); fi
    while IFS= read -r file; do
        path=${file#"$dir"}
        kind=$(kind_of "${path%.gz}")
        if [ -n "$kind" ]; then take "$kind" "$package" "$version" "$path" "$file"; fi
    done < <(find "$dir" -type f | LC_ALL=C grep -E '/(systemd|sysctl|redis|memcached|supervisor|mysql|mariadb|php|nginx|haproxy|etc/default)' | LC_ALL=C sort)
done

# Only files that are still as they came: those that dpkg has this sum of.
info=/var/lib/dpkg/info
last='' version=''
while IFS=: read -r list path; do
    if [ ! -f "$path" ] || [ -L "$path" ]; then continue; fi
    kind=$(kind_of "${path%.gz}")
    if [ -z "$kind" ]; then continue; fi
    package=${list##*/} package=${package%.list}
    if [ "$package" != "$last" ]; then
        version=$(dpkg-query -W -f '${Version}' "$package")
        sums=$(cat "$info/$package.md5sums" 2>/dev/null || true)
        sums+=$(dpkg-query -W -f '\n${Conffiles}' "$package")
        last=$package
    fi
    sum=$(md5sum <"$path")
    if grep -qF "${sum%% *}" <<<"$sums"; then take "$kind" "${package%%:*}" "$version" "$path" "$path"; fi
done < <(cd $info && LC_ALL=C grep -HE '^/(lib/systemd|usr/lib/systemd|usr/lib/sysctl.d|etc/(systemd|sysctl|redis|memcached|supervisor|mysql|php|nginx|haproxy|default)|usr/share/(mysql|mariadb|php|nginx|supervisor|doc/.*(nginx|haproxy/examples|examples/sysctl))|usr/lib/php)' ./*.list | grep -vE '\.list:.*\.(php|js|so)$')

LC_ALL=C sort "$STAGE/MANIFEST" >"$OUT/MANIFEST.tsv"
rm "$STAGE/MANIFEST"
tar -C "$STAGE" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$OUT/packages.tar.gz"
cut -f1 "$OUT/MANIFEST.tsv" | sort | uniq -c
