#!/bin/bash
# Installs what building and the demo need and is not there yet: Go, nginx,
# MariaDB, PHP-FPM, memcached, Redis, Varnish, profilers and a few tools; with
# the word "test" also what only tests need: Apache, HAProxy, wrk, ab, …
# All comes from the
# package archives that apt is set up with. Does nothing, not even update the
# package lists, when nothing is missing. Where Debian's release is too old to
# have a fitting Go, that one package comes from the backports in the same
# archive; apt's sources stay as they are. For tests, a MySQL 8 that no Debian
# release has is fetched into the user's cache folder (mysql8.sh).
#
# Daemons are kept from starting while they are installed: Kasoku's tests and
# cases start their own.
set -euo pipefail
cd "$(dirname "$0")/.."

tell() { printf 'deps.sh: %s\n' "$*" >&2; }
fail() { tell "$*"; exit 1; }

EXTRA=
if [ "${1:-}" = test ]; then EXTRA='redis-cli=redis-tools wrk=wrk ab=apache2-utils apache2=apache2 haproxy=haproxy pt-query-digest=percona-toolkit zstd=zstd bzip2=bzip2 dpkg-scanpackages=dpkg-dev supervisord=supervisor systemctl=systemd sshd=openssh-server sudo=sudo systemd-nspawn=systemd-container debootstrap=debootstrap nft=nftables ssh=openssh-client systemd-analyze=systemd ansible-playbook=ansible-core setfacl=acl mkfs.ext4=e2fsprogs losetup=mount chromium=chromium gunicorn=gunicorn puma=puma unicorn=unicorn uwsgi=uwsgi-core uwsgi_python3=uwsgi-plugin-python3 uvicorn=uvicorn starman=starman node=nodejs zsh=zsh fish=fish groff=groff-base'; fi

CLEAN=() # what goes when the script ends
trap 'rm -rf -- "${CLEAN[@]}"' EXIT

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
    local need program package libraries
    for need in nginx=nginx-light\|nginx mariadbd=mariadb-server mariadb=mariadb-client my_print_defaults=mariadb-client \
        ssh=openssh-client memcached=memcached redis-server=redis-server varnishd=varnish \
        perf=linux-perf\|linux-tools-generic ss=iproute2 $EXTRA curl=curl make=make git=git patch=patch setpriv=util-linux ps=procps; do
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
    if ! php_has 'excimer'; then MISSING+=("php${version:-}-excimer|php-excimer"); fi
    [ -n "$EXTRA" ] || return 0
    # For the case of patterns per request.
    if ! php_has 'memcached'; then MISSING+=("php${version:-}-memcached|php-memcached"); fi
    if ! php_has 'redis'; then MISSING+=("php${version:-}-redis|php-redis"); fi
    # A test of debuggers loads it; see debugger_off.
    if [ -z "$(find /usr/lib/php -name xdebug.so 2>/dev/null)" ]; then MISSING+=("php${version:-}-xdebug|php-xdebug"); fi
    # A test of compression loads it.
    if [ ! -e /usr/lib/nginx/modules/ngx_http_brotli_filter_module.so ]; then MISSING+=(libnginx-mod-http-brotli-filter); fi
    # Reads PHP for `kasoku patch`.
    if [ ! -e /usr/share/php/PhpParser/autoload.php ]; then MISSING+=(php-parser); fi
    # For the case of the wiki.
    if [ ! -e /usr/share/mediawiki/index.php ]; then MISSING+=(mediawiki); fi
    # For MySQL 8 (mysql8.sh); Debian 13 has libaio under another name.
    if [ "${KASOKU_NO_MYSQL8:-}" != 1 ]; then
        for need in mvn=maven unzip=unzip; do
            if ! has "${need%%=*}"; then MISSING+=("${need#*=}"); fi
        done
        # Read whole: grep -q ends early, and the pipe would count as failed.
        libraries=$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p)
        for need in 'libaio\.so\.1\(t64\)\?=libaio1|libaio1t64' 'libnuma\.so\.1=libnuma1' 'libcrypt\.so\.1=libcrypt1'; do
            if ! grep -q "^[[:space:]]*${need%%=*} " <<<"$libraries"; then MISSING+=("${need#*=}"); fi
        done
    fi
    if [ ! -e /usr/lib/apache2/modules/mod_wsgi.so ]; then MISSING+=(libapache2-mod-wsgi-py3); fi
    # For the discovery of PHP in Apache.
    if [ -z "$(find /usr/lib/apache2/modules -name 'libphp*.so' 2>/dev/null)" ]; then MISSING+=("libapache2-mod-php${version:-}|libapache2-mod-php"); fi
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
    CLEAN+=("$policy")
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
    case " ${chosen[*]} " in *xdebug*) debugger_off ;; esac
}

# debugger_off keeps a debugger that was just installed out of every PHP: it
# would make all of them slower. Who wants it loads it by name.
debugger_off() {
    phpdismod xdebug || fail "phpdismod xdebug failed; take 20-xdebug.ini out of PHP's conf.d folders"
}

# gos OPTION… prints the N of each golang-1.N-go that apt has, the lowest first.
gos() {
    apt-cache "$@" search --names-only '^golang-1\.[0-9]+-go$' | sed -n 's/^golang-1\.\([0-9]*\)-go .*/\1/p' | sort -n || true
}

# at_least N prints the first line that is N or more.
at_least() { awk -v n="$1" '$1 + 0 >= n && !found++'; }

# fetching prints the newest line, if that Go gets the version of go.mod by
# itself: from 1.21 on, unless it is told not to.
fetching() {
    local newest
    newest=$(tail -n 1)
    if [ "${GOTOOLCHAIN:-auto}" != local ]; then at_least 21 <<<"$newest"; fi
}

# debian_archive prints the address that apt gets this Debian release from.
debian_archive() {
    grep -qx 'ID=debian' /etc/os-release 2>/dev/null && [ -n "$CODENAME" ] || return 0
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
        awk -v codename="$CODENAME" '$1 == "Debian" && $2 == "Debian" && $3 == codename && $4 == "main" && $5 !~ /^cdrom:/ { sub(/\/$/, "", $5); if (!found++) print $5 }' || true
}

# look_into SUITE fills LOOK with the options by which apt sees only that suite
# of the Debian archive, with lists of its own that go when the script ends.
look_into() {
    local dir key=/usr/share/keyrings/debian-archive-keyring.gpg
    dir=$(mktemp -d)
    CLEAN+=("$dir")
    chmod 755 "$dir" # apt reads the lists as another user
    mkdir -p "$dir/lists/partial"
    if [ -e "$key" ]; then key="[signed-by=$key] "; else key=; fi
    printf 'deb %s%s %s main\n' "$key" "$ARCHIVE" "$1" >"$dir/sources.list"
    LOOK=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$dir/lists"
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    apt-get "${LOOK[@]}" update -qq >&2 || tell "$1 cannot be read from $ARCHIVE"
}

# install_backport SUITE N, with LOOK for SUITE. Go's packages need no others,
# so even those that were made for a later Debian fit; should that change, this
# leaves the machine alone.
install_backport() {
    local more
    more=$(apt-get "${LOOK[@]}" -s -qq install --no-install-recommends "golang-1.$2-go" |
        awk -v n="$2" '/^(Inst|Remv) / && !($1 == "Inst" && $2 ~ "^golang-1\\." n "-(go|src)$") { printf " %s", $2 }') || {
        tell "golang-1.$2-go of $1 does not fit this machine"
        return 0
    }
    if [ -n "$more" ]; then
        tell "golang-1.$2-go of $1 would change more than itself:$more; leaving it"
        return
    fi
    tell "installing golang-1.$2-go from $1 in this machine's Debian archive, because its own suites have no fitting Go." \
        "apt's sources stay as they are, so no updates to it come by themselves; apt-get remove golang-1.$2-go golang-1.$2-src takes it away again"
    DEBIAN_FRONTEND=noninteractive apt-get "${LOOK[@]}" install -y -qq --no-install-recommends "golang-1.$2-go" >&2 ||
        tell "apt-get could not install golang-1.$2-go from $1"
}

# install_go takes the Go that is nearest to go.mod's version from apt; else, on
# Debian, from the backports to this release or to the stable one; else one that
# fetches the right version by itself.
install_go() {
    local want minor n suite ARCHIVE CODENAME LOOK
    want=$(sed -n 's/^go \([0-9.]*\)$/\1/p' go.mod)
    minor=${want#1.} minor=${minor%%.*}
    if [ "$(id -u)" = 0 ] && has apt-get; then
        n=$(gos | at_least "$minor")
        if [ -z "$n" ] && [ -z "${UPDATED:-}" ]; then
            tell "updating the package lists"
            apt-get update -qq >&2 || true
            UPDATED=1
            n=$(gos | at_least "$minor")
        fi
        if [ -n "$n" ]; then
            install "golang-1.$n-go"
            if scripts/go.sh >/dev/null 2>&1; then return; fi
        fi

        CODENAME=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null || true)
        ARCHIVE=$(debian_archive)
        local older= older_suite=
        local -a older_look=()
        if [ -n "$ARCHIVE" ]; then
            for suite in "$CODENAME-backports" stable-backports; do
                tell "looking for Go 1.$minor in $suite"
                look_into "$suite"
                n=$(gos "${LOOK[@]}" | at_least "$minor")
                if [ -n "$n" ]; then
                    install_backport "$suite" "$n"
                    if scripts/go.sh >/dev/null 2>&1; then return; fi
                elif [ -z "$older" ]; then
                    older=$(gos "${LOOK[@]}" | fetching) older_suite=$suite older_look=("${LOOK[@]}")
                fi
            done
        fi

        n=$(gos | fetching)
        if [ -n "$n" ]; then
            install "golang-1.$n-go"
        elif [ -n "$older" ]; then
            LOOK=("${older_look[@]}")
            install_backport "$older_suite" "$older"
        fi
    fi
    if [ "$(id -u)" != 0 ] && has apt-get; then fail "Kasoku needs Go $want or later; installing it needs root: sudo make deps"; fi
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
if [ -n "$EXTRA" ] && [ "${KASOKU_NO_MYSQL8:-}" != 1 ]; then scripts/mysql8.sh >/dev/null; fi
