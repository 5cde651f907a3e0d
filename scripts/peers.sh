#!/bin/bash
# Installs what Kasoku is compared with, where it is missing, and prints what is
# not there. "peers.sh" or "peers.sh load" for make bench-load: wrk, ab and h2load
# by apt, hey, vegeta and bombardier by go, oha by cargo. k6 is under the AGPL, so
# it is built only if asked for (K6=1), for use as a program of its own; one that
# is in PATH is compared in any case. "peers.sh digest" for make
# bench-digest: goaccess, percona-toolkit and zstd by apt, alp and slp by go. What
# go and cargo build goes into .cache/peers/bin. Whatever cannot be had is named
# and left out; the status is 0 all the same.
#
# The first run takes some minutes of CPU (oha, slp and k6 are big), later ones none.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=$PWD/.cache/peers
bin=$cache/bin
mkdir -p "$bin"

tell() { printf 'peers.sh: %s\n' "$*" >&2; }

# has PROGRAM: in the cache or in PATH.
has() { [ -x "$bin/$1" ] || command -v "$1" >/dev/null; }

WORK=
trap 'rm -rf -- "$WORK"' EXIT
WORK=$(mktemp -d)

# debian PROGRAM PACKAGE
debian() {
    has "$1" && return
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        tell "$1 is missing; install it as root: apt-get install $2"
        return
    fi
    tell "installing $2"
    {
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2" ||
            { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; }
    } >"$WORK/log" 2>&1 || because "$1"
}

# because PROGRAM tells the end of the log.
because() { tell "$1 could not be installed: $(grep . "$WORK/log" | tail -n 3 | tr '\n' ' ')"; }

# with_go PROGRAM PACKAGE MODULE VERSION…: the first version that builds. A
# throw-away module that requires the version builds where "go install" does
# not: the latter wants the list of all versions, which not every proxy gives.
# CGO=1 for what needs a C compiler.
with_go() {
    local program=$1 package=$2 module=$3 version go
    shift 3
    has "$program" && return
    if ! go=$(scripts/go.sh 2>"$WORK/log"); then
        because "$program"
        return
    fi
    for version; do
        tell "building $program $version"
        rm -rf "$WORK/module" && mkdir "$WORK/module"
        printf 'module peer\n\ngo 1.26.0\n\nrequire %s %s\n' "$module" "$version" >"$WORK/module/go.mod"
        if (cd "$WORK/module" && GOTOOLCHAIN=local GOFLAGS=-mod=mod CGO_ENABLED=${CGO:-0} "$go" build -o "$WORK/$program" "$package") >"$WORK/log" 2>&1; then
            mv "$WORK/$program" "$bin/$program"
            return
        fi
    done
    because "$program"
}

# with_cargo PROGRAM VERSION…: the first version that builds with this rustc.
with_cargo() {
    local program=$1 version
    shift
    has "$program" && return
    if ! command -v cargo >/dev/null; then
        tell "$program is missing: it needs cargo (Rust)"
        return
    fi
    for version; do
        tell "building $program $version"
        if CARGO_TARGET_DIR=$WORK/target cargo install --locked --root "$WORK/root" --version "$version" "$program" >"$WORK/log" 2>&1; then
            mv "$WORK/root/bin/$program" "$bin/$program"
            return
        fi
    done
    because "$program"
}

# absent PROGRAM… tells which are not there.
absent() {
    local program missing=
    for program; do has "$program" || missing="$missing, $program"; done
    [ -z "$missing" ] || tell "missing:${missing#,}"
}

load() {
    debian wrk wrk
    debian ab apache2-utils
    debian h2load nghttp2-client
    with_go hey github.com/rakyll/hey github.com/rakyll/hey v0.1.5 v0.1.4
    with_go vegeta github.com/tsenart/vegeta/v12 github.com/tsenart/vegeta/v12 v12.13.0 v12.12.0
    with_go bombardier github.com/codesenberg/bombardier github.com/codesenberg/bombardier v1.2.6
    if [ "${K6:-}" = 1 ]; then with_go k6 go.k6.io/k6 go.k6.io/k6 v1.8.1 v0.57.0 v0.49.0; fi
    with_cargo oha 1.16.0 1.9.0
    absent wrk ab h2load bombardier oha vegeta hey
    has k6 || tell "k6: not installed (AGPL); K6=1 builds it, or put one into PATH to have it compared"
    has wrk2 || tell "wrk2: not installed (no package); put one into PATH to have it compared"
}

digest() {
    debian goaccess goaccess
    debian pt-query-digest percona-toolkit
    debian zstd zstd
    with_go alp github.com/tkuchiki/alp/cmd/alp github.com/tkuchiki/alp v1.0.21
    # Its SQL parser is C.
    CGO=1 with_go slp github.com/tkuchiki/slp/cmd/slp github.com/tkuchiki/slp v0.2.1
    absent goaccess pt-query-digest zstd alp slp
}

case ${1:-load} in
load | digest) "${1:-load}" ;;
*)
    echo "usage: scripts/peers.sh [load|digest]" >&2
    exit 2
    ;;
esac
