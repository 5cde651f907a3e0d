#!/bin/bash
# Runs the fuzzers of a folder, each for the same number of executions, and
# prints how many there were.
#   scripts/fuzz.sh [EXECUTIONS [FOLDER]]   of all together, 1000000 if not given;
#   internal, which is all fuzzers, if no folder is given
# New inputs are hardly minimized: that took most of the time.
# RESULTS=FILE appends the counts to a file. A failure stops it; the failing
# input is under testdata/fuzz of its package.
set -euo pipefail
cd "$(dirname "$0")/.."
total=${1:-1000000} folder=${2:-internal}
targets=()
while IFS=: read -r file line; do
    name=${line#func } name=${name%%(*}
    targets+=("./$(dirname "$file") $name")
done < <(grep -rhoHE '^func Fuzz[A-Za-z]+\(' --include='*_test.go' "$folder" | LC_ALL=C sort)
each=$(((total + ${#targets[@]} - 1) / ${#targets[@]}))
done_all=0
for t in "${targets[@]}"; do
    read -r package name <<<"$t"
    log=$(mktemp)
    if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "${each}x" -fuzzminimizetime 10x -parallel "${PARALLEL:-$(nproc)}" "$package" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "fuzz.sh: $name of $package failed" >&2
        exit 1
    fi
    n=$(grep -oE 'execs: [0-9]+' "$log" | tail -n 1)
    rm -f "$log"
    printf '%-40s %-24s %10d executions\n' "$package" "$name" "${n#execs: }" | tee -a "${RESULTS:-/dev/null}"
    done_all=$((done_all + ${n#execs: }))
done
printf 'all %61s %10d executions, no failure\n' '' "$done_all" | tee -a "${RESULTS:-/dev/null}"
