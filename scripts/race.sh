#!/bin/bash
# Runs tests under the race detector:
#   scripts/race.sh all            every test of every package
#   scripts/race.sh changed        the quick tests of packages with a Go file that
#                                  the commits since $BASE changed, if it is set,
#                                  else the commits of the last six hours
#   scripts/race.sh PACKAGE …      every test of these
# The detector makes programs many times slower, and tests that wait for a server
# may fail by that alone: they run without it in "make test". So what fails here is
# a data race or a package that does not build; other failures are only told.
# PACKAGE_LIMIT is the time for one package, 10m if it is not set. LIMIT is the number
# of seconds, builds included, after which no package begins any more, none if it is not
# set: those that were left out are told. WHILE is a process: no package but the first
# begins when it has ended. Packages with most changed lines come first.
set -uo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=1 # the detector is a C library
flags=()

# base is the commit that changes are told from.
base() {
    local commit=${BASE:-}
    [ -n "$commit" ] || commit=$(git rev-list -1 --before='6 hours ago' HEAD 2>/dev/null)
    git rev-parse -q --verify "$commit^{commit}" 2>/dev/null
}

changed() {
    local since dir
    since=$(base) || return 0
    git diff --numstat --diff-filter=d "$since" HEAD -- '*.go' | grep -v /testdata/ |
        awk '{ dir = $3; sub("/[^/]*$", "", dir); lines[dir] += $1 + $2 } END { for (dir in lines) print lines[dir], dir }' |
        LC_ALL=C sort -k1,1nr -k2 | while read -r _ dir; do
            if compgen -G "$dir/*_test.go" >/dev/null; then echo "./$dir"; fi
        done
}

case ${1:-} in
all) packages=(./...) ;;
changed)
    flags=(-short)
    mapfile -t packages < <(changed)
    ;;
'')
    sed -n '2,/^set/p' "$0" | grep '^#' >&2
    exit 2
    ;;
*) packages=("$@") ;;
esac
if [ ${#packages[@]} -eq 0 ]; then
    echo "race.sh: no package changed"
    exit 0
fi

out=$(mktemp)
trap 'rm -f "$out"' EXIT
echo "race.sh: ${#packages[@]} packages"
status=0 left=()
run() { go test -race -count=1 -vet=off "${flags[@]}" -p "${PARALLEL:-2}" -timeout "${PACKAGE_LIMIT:-10m}" "$@" >>"$out" 2>&1 || status=1; }
# begins NUMBER: there is time for the package with that number, from 0.
begins() {
    [ "$SECONDS" -lt "${LIMIT:-$((SECONDS + 1))}" ] || return 1
    [ "$1" = 0 ] || [ -z "${WHILE:-}" ] || kill -0 "$WHILE" 2>/dev/null
}
if [ -z "${LIMIT:-}${WHILE:-}" ]; then
    run "${packages[@]}"
else
    for i in "${!packages[@]}"; do
        if begins "$i"; then run "${packages[i]}"; else left+=("${packages[i]}"); fi
    done
fi
grep -E '^(ok|FAIL|---)' "$out" | grep -v 'no test files'
if grep -qE 'WARNING: DATA RACE|\[build failed\]|\[setup failed\]' "$out"; then
    cat "$out"
    echo "race.sh: a data race, or a package that does not build; see above" >&2
    exit 1
fi
if [ "$status" != 0 ]; then
    grep -E '^(---|panic:)|^[[:space:]]+[^[:space:]]+_test\.go:' "$out" | head -n 40
    echo "race.sh: no data race; what failed above failed for another reason, which make test judges"
fi
if [ ${#left[@]} -gt 0 ]; then
    echo "race.sh: not begun in time (make race has them all): ${left[*]}"
fi
exit 0
