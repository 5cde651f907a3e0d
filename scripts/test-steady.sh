#!/bin/bash
# Runs the tests of each package again and again, shuffled by a new seed each time,
# beside a program that burns one CPU and one that writes to the disk:
#   scripts/test-steady.sh N [PACKAGE …]     all packages if none is named
# Results are kept in .cache/steady/results (package, key, run, seed, ok or FAIL,
# seconds): started again, it goes on where it was. The key is a hash of the test
# program and of the files beside it, so a change elsewhere takes nothing back. A run
# that failed leaves its output beside them. Prints a table, and ends with 1 if a run
# failed.
# PACKAGE_LIMIT is the time for one run of a package, 20m if it is not set.
set -uo pipefail
cd "$(dirname "$0")/.."
n=${1:-10}
shift
if [ $# -gt 0 ]; then
    mapfile -t packages < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@")
else
    mapfile -t packages < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
fi
dir=.cache/steady
mkdir -p "$dir"
results=$dir/results
touch "$results"

# The disturbers end with this script, or after a day.
(timeout 86400 sh -c 'while :; do :; done') &
burner=$!
(timeout 86400 sh -c 'while :; do dd if=/dev/zero of="$0" bs=1M count=64 conv=fsync 2>/dev/null; done' "$dir/disk") &
writer=$!
quit() {
    pkill -P "$burner" 2>/dev/null
    pkill -P "$writer" 2>/dev/null
    kill "$burner" "$writer" 2>/dev/null
    rm -f "$dir/disk"
}
trap quit EXIT
trap 'exit 130' INT TERM

# key of a package: its test program, and the files that tests read.
key() {
    local at=.${1#kasoku}
    go test -c -trimpath -buildvcs=false -vet=off -o "$dir/program" "$1" || return
    { cat "$dir/program"; git ls-files -s -- "$at" cases scripts lab; git diff HEAD -- "$at" cases scripts lab; } | sha256sum | cut -c1-12
    rm -f "$dir/program"
}
done_runs() { awk -F '\t' -v p="$1" -v k="$2" '$1 == p && $2 == k {n++} END {print n + 0}' "$results"; }

declare -A keys
for p in "${packages[@]}"; do
    keys[$p]=$(key "$p") || exit
    for ((i = $(done_runs "$p" "${keys[$p]}") + 1; i <= n; i++)); do
        seed=$((RANDOM * 32768 + RANDOM))
        began=$SECONDS out=$dir/$(tr / - <<<"$p").$i
        if KASOKU_SEED= go test -count=1 -vet=off -shuffle="$seed" -timeout "${PACKAGE_LIMIT:-20m}" "$p" >"$out" 2>&1; then
            verdict=ok
            rm -f "$out"
        else
            verdict=FAIL
        fi
        printf '%s\t%s\t%d\t%d\t%s\t%d\n' "$p" "${keys[$p]}" "$i" "$seed" "$verdict" $((SECONDS - began)) | tee -a "$results"
    done
done

printf '\n%-44s %8s %8s\n' package green seconds
for p in "${packages[@]}"; do
    awk -F '\t' -v p="$p" -v k="${keys[$p]}" '$1 == p && $2 == k {n++; s += $6; if ($5 == "ok") ok++; else bad = 1}
        END {printf "%-44s %8s %8.1f\n", p, ok + 0 "/" n, n ? s / n : 0; exit bad}' "$results" || failed=1
done
exit "${failed:-0}"
