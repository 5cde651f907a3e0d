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
# LONG=1 also kills Kasoku before every step, and shows each remedy alone; without it
# those that KASOKU_SEED draws. PARALLEL, PACKAGE_LIMIT and TESTFLAGS may be set.
set -uo pipefail
cd "$(dirname "$0")/.."
events=.cache/test/events.json
read -ra flags <<<"${TESTFLAGS:-}"
mkdir -p "$(dirname "$events")"

if [ $# -gt 0 ]; then
    packages=("$@")
else
    mapfile -t all < <(go list ./...)
    mapfile -t slow < <(sed 's/[[:space:]]*#.*//; /^$/d; s|^|kasoku/|' scripts/slow-packages)
    mapfile -t packages < <(printf '%s\n' "${slow[@]}" "${all[@]}" | awk '!seen[$0]++')
fi

again=()
if [ "${RERUN:-}" = 1 ]; then
    again=(--rerun-fails=1 --rerun-fails-max-failures=8 --rerun-fails-report=.cache/test/reruns)
    rm -f .cache/test/reruns
fi

# go vet is a part of "make static", so go test need not run it again.
go tool -modfile=tools.mod gotestsum --format pkgname --hide-summary skipped --jsonfile "$events" "${again[@]}" --packages "${packages[*]}" -- \
    -count=1 -vet=off -ldflags='-s -w' -p "${PARALLEL:-5}" -timeout "${PACKAGE_LIMIT:-20m}" "${flags[@]}"
status=$?
if [ -s .cache/test/reruns ]; then
    echo "run again alone, which a test should not need (runs and failures of each):"
    cat .cache/test/reruns
fi
exit "$status"
