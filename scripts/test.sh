#!/bin/bash
# Runs every test, against real servers. Tests that mostly wait (for systemd, a
# host's boot, a guard's deadline) run beside each other first; those that
# measure or tune run one package at a time afterwards. LONG=1 also kills
# Kasoku before every step of apt and systemd changes, which takes ten minutes
# more; without it every ninth. PACKAGE_LIMIT and TESTFLAGS may be set.
set -uo pipefail
cd "$(dirname "$0")/.."

limit=${PACKAGE_LIMIT:-20m}
read -ra flags <<<"${TESTFLAGS:-}"
short=-short
[ -z "${LONG:-}" ] || short=
waits='^kasoku/(lab|cases/remedies|internal/(change|host|stack|confedit|remedy|report|diagnose))(/|$)'
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0

go test $short -timeout "$limit" "${flags[@]}" ./internal/change/... >"$output" 2>&1 &
change=$!
go list ./... | grep -E "$waits" | grep -v '^kasoku/internal/change' |
    xargs go test -p 2 -timeout "$limit" "${flags[@]}" || status=1
wait "$change" || status=1
cat "$output"
go list ./... | grep -vE "$waits" | xargs go test -p 1 -timeout "$limit" "${flags[@]}" || status=1
[ "$status" = 0 ] || echo "FAIL: see above" >&2
exit "$status"
