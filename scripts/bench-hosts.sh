#!/bin/bash
# The bank login on disposable hosts with systemd, reached by SSH: all on one,
# then web and database on two. Each is tuned as found, every host is rebooted,
# and kept changes, services and the score are looked at again. Ends with 1 if
# the score after the reboot is below 0.95 of that before, or something is not
# as the journal says. BUDGET (of each session), HOSTS ("1 2") and RUNS may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

bar=0.95
budget=${BUDGET:-6m30s}
runs=${RUNS:-5}
kasoku=$PWD/bin/kasoku
case=$PWD/cases/login/hosts.sh
work=$(mktemp -d /tmp/khXXXXXX)
failed=0

cleanup() {
    for dir in "$work"/*/; do "$case" down "${dir%/}" || true; done
    rm -rf "$work"
}
trap cleanup EXIT

say() { printf '\n== %s\n' "$*"; }

# on DIR ARGS … runs kasoku where the hosts are reached.
on() {
    local dir=$1
    shift
    "$case" exec "$dir" -- "$kasoku" -f "$dir/kasoku.yaml" "$@"
}

# score DIR prints the median of some runs.
score() {
    local i
    for i in $(seq "$runs"); do
        on "$1" --json --quiet run --score-only --duration 5s | sed -n 's/^    "score": \([0-9.e+]*\),*$/\1/p' | head -1
    done | sort -g | sed -n "$(((runs + 1) / 2))p"
}

for hosts in ${HOSTS:-1 2}; do
    dir=$work/$hosts
    say "$hosts host(s), as found"
    "$case" up "$dir" --hosts "$hosts"
    found=$(score "$dir")
    say "tuned for at most $budget"
    status=0
    on "$dir" tune --budget "$budget" --duration 3s || status=$?
    case $status in 0 | 10 | 12) ;; *) exit 2 ;; esac
    before=$(score "$dir")
    say "every host is rebooted"
    "$case" reboot "$dir"
    verified=yes
    on "$dir" verify || verified=no
    after=$(score "$dir")
    ok=$(awk -v a="$after" -v b="$before" -v bar="$bar" 'BEGIN { print (a >= bar * b) ? "ok" : "SHORT" }')
    [ "$ok" = ok ] && [ "$verified" = yes ] || failed=1
    results+=$(printf '\n%-8s  %8.0f  %8.0f  ×%-6.1f  %8.0f  %.3f  %-5s  %s' "$hosts" "$found" "$before" \
        "$(awk -v a="$before" -v b="$found" 'BEGIN { print a / b }')" "$after" "$(awk -v a="$after" -v b="$before" 'BEGIN { print a / b }')" "$ok" "$verified")
    say "everything is put back"
    on "$dir" undo --all
done
printf '\nhosts      found     tuned           reboot  ratio (bar %s)  as the journal says%s\n' "$bar" "$results"
exit "$failed"
