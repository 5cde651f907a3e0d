# Packages for the hosts, which have no way to the network: a folder with those
# that Kasoku may install (regulation.install) and all that they need.

# OFFERED: what an engineer would put beside Apache with PHP in it.
OFFERED=(nginx nginx-light php-fpm php-apcu memcached redis-server)

# offer_packages copies the archive to every host and lets apt know only that.
offer_packages() {
    local folder host
    folder=$(archive) || fail "the packages ${OFFERED[*]} cannot be fetched; see above"
    for host in $(seq -f 'h%g' "$HOSTS"); do
        tar -C "$folder" -cf - . | ssh -F "$DIR/ssh_config" -o BatchMode=yes "$host" 'mkdir -p /srv/archive && tar -C /srv/archive -xf -'
        on "$host" <<'END'
set -e
find /etc/apt -name '*.list' -delete -o -name '*.sources' -delete
echo 'deb [trusted=yes] file:/srv/archive ./' >/etc/apt/sources.list
apt-get update -qq -o APT::Sandbox::User=root
END
    done
}

# archive prints the folder of packages, and fetches them if it is not there:
# what the base of the hosts lacks, by apt's own choice.
archive() {
    local base cache folder deb
    base=$("$KASOKU" --json lab base --packages "$PACKAGES" | sed -n 's/.*"root": "\([^"]*\)".*/\1/p' | head -1)
    [ -f "$base/var/lib/dpkg/status" ] || { tell "the base of the hosts ($base) has no list of packages"; return 1; }
    cache=${KASOKU_CASE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kasoku}
    folder=$cache/wiki-archive-$({ cat "$base/var/lib/dpkg/status"; echo "${OFFERED[@]}"; } | sha256sum | cut -c1-12)
    if [ ! -f "$folder/Packages" ]; then
        tell "fetching ${OFFERED[*]} for the hosts, once"
        mkdir -p "$folder.new/partial"
        fetch "$base" "$folder.new" || { apt-get update -qq && fetch "$base" "$folder.new"; } || return 1
        rm -rf "$folder.new/partial" "$folder.new/lock"
        for deb in "$folder.new"/*.deb; do
            dpkg-deb -f "$deb"
            printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" "$(sha256sum "$deb" | cut -d' ' -f1)"
        done >"$folder.new/Packages.new"
        mv "$folder.new/Packages.new" "$folder.new/Packages"
        rm -rf "$folder"
        mv "$folder.new" "$folder"
    fi
    echo "$folder"
}

# fetch BASE FOLDER downloads as if BASE were this system; nothing is installed.
fetch() {
    apt-get -qq -y --no-install-recommends --download-only -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
        -o Dir::State::status="$1/var/lib/dpkg/status" -o Dir::Cache::archives="$2" install "${OFFERED[@]}" >&2
}
