#!/bin/bash
# Runs the tests of packages, all of them if none is named, against real servers:
#   scripts/test.sh [PACKAGE …]
# Five packages run at a time, those that take longest first, so that none is
# alone in the end: on two CPUs, as most of a test's time is waiting for servers. Test programs
# are linked without a symbol table, which takes a quarter less of a CPU. No result
# comes from go's cache. The events of the run are kept
# in .cache/test/events.json, which "make test-times" reads.
# RERUN=1 runs up to eight tests that failed once more, alone, when all others have
# ended; those that pass then are listed as such: they depend on what runs beside them.
# A panic takes the tests after it along, so that nobody knows which to run: then up to
# three packages that failed are run again whole, alone.
# LONG=1 also kills Kasoku before every step, and shows each remedy alone; without it
# those that KASOKU_SEED draws. PARALLEL, PACKAGE_LIMIT, TESTFLAGS and EVENTS, the file of
# events, may be set.
set -uo pipefail
cd "$(dirname "$0")/.."
events=${EVENTS:-.cache/test/events.json}
reruns=$(dirname "$events")/reruns
read -ra flags <<<"${TESTFLAGS:-}"
mkdir -p "$(dirname "$events")"

if [ $# -gt 0 ]; then
    packages=("$@")
else
    mapfile -t all < <(go list ./...)
    mapfile -t slow < <(sed 's/[[:space:]]*#.*//; /^$/d; s|^|kasoku/|' scripts/slow-packages)
    mapfile -t packages < <(printf '%s\n' "${slow[@]}" "${all[@]}" | awk '!seen[$0]++')
fi

# tests EVENTS PARALLEL FLAG… -- PACKAGE…: go vet is a part of "make static", so go test
# need not run it again.
tests() {
    local events=$1 parallel=$2 own=()
    shift 2
    while [ "$1" != -- ]; do own+=("$1") && shift; done
    shift
    go tool -modfile=tools.mod gotestsum --format pkgname --hide-summary skipped --jsonfile "$events" "${own[@]}" --packages "$*" -- \
        -count=1 -vet=off -ldflags='-s -w' -p "$parallel" -timeout "${PACKAGE_LIMIT:-20m}" "${flags[@]}"
}

again=()
if [ "${RERUN:-}" = 1 ]; then
    again=(--rerun-fails=1 --rerun-fails-max-failures=8 --rerun-fails-report="$reruns")
    rm -f "$reruns"
fi
tests "$events" "${PARALLEL:-5}" "${again[@]}" -- "${packages[@]}"
status=$?
if [ -s "$reruns" ]; then
    echo "run again alone, which a test should not need (runs and failures of each):"
    cat "$reruns"
elif [ "$status" != 0 ] && [ "${RERUN:-}" = 1 ] && grep -q '"Output":"panic: ' "$events"; then
    mapfile -t failed < <(grep '"Action":"fail"' "$events" | grep -v '"Test":' | sed 's/.*"Package":"\([^"]*\)".*/\1/' | sort -u)
    if [ ${#failed[@]} -ge 1 ] && [ ${#failed[@]} -le 3 ]; then
        echo "run again whole and alone, as a panic took other tests along: ${failed[*]}"
        tests "$events.again" 1 -- "${failed[@]}"
        status=$?
    fi
fi
exit "$status"
