#!/bin/bash
# Runs the fuzzers of a folder, each for the same number of executions or the same
# time, and prints how many executions there were.
#   scripts/fuzz.sh [EXECUTIONS|TIME [FOLDER]]
# EXECUTIONS are of all together, 1000000 if not given; TIME, such as 60s or 5m, is
# for each; the folder is internal, which is all fuzzers, if none is given.
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
done < <(grep -rhoHE '^func Fuzz[A-Za-z0-9]+\(' --include='*_test.go' "$folder" | LC_ALL=C sort)
if [ ${#targets[@]} -eq 0 ]; then
    echo "fuzz.sh: no fuzzer in $folder" >&2
    exit 2
fi
case $total in
*[smh]) each=$total ;;
*[!0-9]* | '')
    echo "fuzz.sh: $total is neither a number of executions nor a time such as 60s" >&2
    exit 2
    ;;
*) each=$(((total + ${#targets[@]} - 1) / ${#targets[@]}))x ;;
esac
done_all=0
for t in "${targets[@]}"; do
    read -r package name <<<"$t"
    log=$(mktemp)
    if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "$each" -fuzzminimizetime 10x -parallel "${PARALLEL:-$(nproc)}" "$package" >"$log" 2>&1; then
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
