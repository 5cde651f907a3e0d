#!/bin/bash
# Plays a case whole, unattended: one copy as found, one that Kasoku tunes, one tuned
# by hand (cases/NAME/hand) with the same means, and with SOURCE=1 one whose program
# is hand/src's, too; then all of them in alternating runs. Prints as found, by hand
# and by Kasoku with the ratio, and ends with 1 if that falls short of BAR.
#   scripts/case-hand.sh NAME [php|go|both]
# BUDGET of the session, ROUNDS, WINDOW of a run, SIZE of the data may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1 bar=${BAR:-0.90} budget=${BUDGET:-6m30s} window=${WINDOW:-3s}
case=cases/$name/case.sh
case ${2:-php} in both) variants="php go" ;; *) variants=${2:-php} ;; esac
work=$(mktemp -d /tmp/kcXXXXXX)
cleanup() {
    for dir in "$work"/*/; do "$case" down "${dir%/}" --purge || true; done
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
go build -o "$work.compare" ./bench/tuners
trap 'cleanup; rm -f "$work.compare"' EXIT

say() { printf '\n== %s\n' "$*"; }
up() { "$case" up "$work/$1" --variant "$variant" ${SIZE:+--size "$SIZE"} >/dev/null; }

status=0
for variant in $variants; do
    say "$name in $variant: Kasoku, at most $budget"
    up kasoku
    begun=$SECONDS
    bin/kasoku -f "$work/kasoku/kasoku.yaml" tune --budget "$budget" --duration "$window" || case $? in 10 | 12) ;; *) exit 2 ;; esac
    echo "$name in $variant: the session took $((SECONDS - begun)) s"
    copies=(kasoku="$work/kasoku")
    say "$name in $variant: as found, by Kasoku, by hand"
    up found
    up hand
    "$case" hand "$work/hand" >/dev/null
    copies+=(found="$work/found" hand="$work/hand")
    if [ -n "${SOURCE:-}" ]; then
        up source
        "$case" hand "$work/source" --source >/dev/null
        copies+=(source="$work/source")
    fi
    "$work.compare" compare -rounds "${ROUNDS:-8}" -d "$window" -bar "$bar" "${copies[@]}" || case $? in 1) status=1 ;; *) exit 2 ;; esac
    for copy in "${copies[@]}"; do "$case" down "${copy#*=}" --purge; done
done
exit "$status"
