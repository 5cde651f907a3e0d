#!/bin/bash
# How long a whole session of Kasoku on the bank login takes, from as found to
# within 5 % of its final score, against the same plans one by one with fixed
# 5+5 runs of the scenario's full duration. Ends with 1 if it is more than a
# third. ARGS go to bench/sessiontime (e.g. -decided, -limit 40m); BUDGET of the session.
# FOREIGN is the share of the machine that others may use (tune.max_foreign_cpu),
# to see that it works where it is not quiet; its figures are then worth nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

budget=${BUDGET:-15m}
work=$(mktemp -d /tmp/ksXXXXXX)
case=cases/login/case.sh
cleanup() {
    for dir in "$work"/kasoku "$work"/one; do "$case" down "$dir" --purge || true; done
    rm -rf "$work" "$work.sessiontime"
}
trap cleanup EXIT
chmod 755 "$work"
go build -o "$work.sessiontime" ./bench/sessiontime

up() {
    "$case" up "$1" >/dev/null
    if [ -n "${FOREIGN:-}" ]; then printf 'tune:\n  max_foreign_cpu: %s\n' "$FOREIGN" >>"$1/kasoku.yaml"; fi
}

printf '== Kasoku, at most %s\n' "$budget"
up "$work/kasoku"
bin/kasoku -f "$work/kasoku/kasoku.yaml" tune --budget "$budget" || case $? in 10 | 12) ;; *) exit 2 ;; esac
"$case" down "$work/kasoku"

printf '\n== One by one\n'
up "$work/one"
# shellcheck disable=SC2086 # ARGS are words
"$work.sessiontime" ${ARGS:-} "$work/kasoku" "$work/one"
