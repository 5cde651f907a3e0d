#!/bin/bash
# Installs what building, testing and the demo need and is not there yet: Go,
# nginx, MariaDB, PHP-FPM, memcached, Redis, Varnish and a few tools, from the
# package archives that apt is set up with. Does nothing, not even update the
# package lists, when nothing is missing.
#
# Daemons are kept from starting while they are installed: Kasoku's tests and
# cases start their own.
set -euo pipefail
cd "$(dirname "$0")/.."

tell() { printf 'deps.sh: %s\n' "$*" >&2; }
fail() { tell "$*"; exit 1; }

# has looks where daemons are too; an ordinary user's PATH often leaves sbin out.
has() { PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null; }

# php_fpm prints the newest PHP-FPM's path.
php_fpm() {
    local f found=
    for f in /usr/sbin/php-fpm[0-9]*; do
        if [ -x "$f" ]; then found=$f; fi
    done
    printf '%s' "$found"
}

# php_has MODULE: PHP-FPM has it.
php_has() {
    local fpm modules
    fpm=$(php_fpm)
    [ -n "$fpm" ] || return 1
    modules=$("$fpm" -m 2>/dev/null)
    grep -qix "$1" <<<"$modules"
}

# missing fills MISSING with package names, several by | where either will do.
missing() {
    MISSING=()
    local need program package
    for need in nginx=nginx-light\|nginx mariadbd=mariadb-server mariadb=mariadb-client my_print_defaults=mariadb-client \
        memcached=memcached redis-server=redis-server varnishd=varnish curl=curl make=make git=git setpriv=util-linux ps=procps; do
        program=${need%%=*} package=${need#*=}
        if ! has "$program"; then MISSING+=("$package"); fi
    done
    if [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then MISSING+=(ca-certificates); fi

    local version=
    version=$(php_fpm)
    version=${version##*fpm} # 8.2
    if [ -z "$version" ]; then MISSING+=(php-fpm); fi
    if ! has php; then MISSING+=("php$version-cli"); fi
    if ! php_has 'pdo_mysql'; then MISSING+=("php$version-mysql"); fi
    # Without a version the module comes with php-fpm.
    if [ -n "$version" ] && ! php_has 'Zend OPcache'; then MISSING+=("php$version-opcache"); fi
}

# choose prints the first of A|B that apt can install.
choose() {
    local p
    for p in ${1//|/ }; do
        if [ -n "$(apt-cache madison "$p" 2>/dev/null)" ]; then
            printf '%s' "$p"
            return
        fi
    done
    printf '%s' "${1##*|}" # apt-get says what is wrong with it
}

# hold_daemons keeps packages from starting services until the script ends.
hold_daemons() {
    local policy=/usr/sbin/policy-rc.d
    [ ! -e "$policy" ] || return 0
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    # shellcheck disable=SC2064
    trap "rm -f $policy" EXIT
}

install() {
    [ "$(id -u)" = 0 ] || fail "missing: $*; installing needs root: sudo make deps"
    has apt-get || fail "missing: $*; this machine has no apt, so install them by its own means"
    if [ -z "${UPDATED:-}" ]; then
        tell "updating the package lists"
        apt-get update -qq || fail "apt-get update failed; is the network there, and are the archives set up right?"
        UPDATED=1
    fi
    local p chosen=()
    for p in "$@"; do chosen+=("$(choose "$p")"); done
    tell "installing ${chosen[*]}"
    hold_daemons
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${chosen[@]}" >&2 ||
        fail "apt-get could not install ${chosen[*]}"
}

# newest_go prints the newest golang-1.N-go that apt has.
newest_go() {
    apt-cache search --names-only '^golang-1\.[0-9]+-go$' | sed -n 's/^golang-1\.\([0-9]*\)-go .*/\1/p' | sort -n | tail -n 1
}

install_go() {
    local want minor
    want=$(sed -n 's/^go \([0-9.]*\)$/\1/p' go.mod)
    minor=${want#1.} minor=${minor%%.*}
    if [ "$(id -u)" = 0 ] && has apt-get; then
        if [ -z "${UPDATED:-}" ] && [ "$(newest_go || true)" = "" ]; then
            apt-get update -qq || true
            UPDATED=1
        fi
        local newest
        newest=$(newest_go || true)
        # From 1.21 on, Go fetches the version of go.mod by itself unless it is told not to.
        if [ -n "$newest" ] && { [ "$newest" -ge "$minor" ] || { [ "$newest" -ge 21 ] && [ "${GOTOOLCHAIN:-auto}" != local ]; }; }; then
            install "golang-1.$newest-go"
        fi
    fi
    scripts/go.sh >/dev/null 2>&1 || fail "Kasoku needs Go $want or later, and apt does not offer it here.
    Install Go from its own download page into /usr/local/go, or from your
    distribution's backports; or set GO=/path/to/bin/go. Go 1.21 or later also
    fetches the right version by itself if GOTOOLCHAIN is auto."
}

missing
if [ ${#MISSING[@]} -gt 0 ]; then
    install "${MISSING[@]}"
    missing
    # A PHP that was not there may come without its modules.
    if [ ${#MISSING[@]} -gt 0 ]; then install "${MISSING[@]}"; missing; fi
    if [ ${#MISSING[@]} -gt 0 ]; then fail "installed, but still missing: ${MISSING[*]}"; fi
fi
if ! scripts/go.sh >/dev/null 2>&1; then install_go; fi
