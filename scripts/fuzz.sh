#!/bin/bash
# Runs the fuzzers of a folder, each for the same number of executions or the same
# time, and prints how many executions there were.
#   scripts/fuzz.sh [EXECUTIONS|TIME [FOLDER]]
# EXECUTIONS are of all together, 1000000 if not given; TIME, such as 60s or 5m, is
# for each; the folder is internal, which is all fuzzers, if none is given.
# New inputs are hardly minimized: that took most of the time.
# RESULTS=FILE appends the counts to a file. What each fuzzer was run is added up in
# HOURS (bench/fuzz/hours.tsv: package, name, seconds, executions), and the table of
# docs/measured/fuzzing.md is written from it; HOURS= counts nothing. A failure stops it; the
# failing input is under testdata/fuzz of its package.
#   scripts/fuzz.sh --table     only writes the table
set -euo pipefail
cd "$(dirname "$0")/.."
hours=${HOURS-bench/fuzz/hours.tsv}

# count adds seconds and executions of a fuzzer to the hours so far.
count() {
    [ -n "$hours" ] || return 0
    touch "$hours"
    awk -F '\t' -v OFS='\t' -v p="$1" -v n="$2" -v s="$3" -v x="$4" '
        $1 == p && $2 == n { $3 += s; $4 += x; seen = 1 }
        { print }
        END { if (!seen) print p, n, s, x }' "$hours" | LC_ALL=C sort >"$hours.new"
    mv "$hours.new" "$hours"
}

# table writes the hours so far of all targets into docs/measured/fuzzing.md, which keeps
# what stands before its table.
table() {
    local page=${PAGE:-docs/measured/fuzzing.md}
    {
        sed '/^| package /,$d' "$page"
        echo '| package | fuzzer | hours | million executions |'
        echo '|---|---|---|---|'
        grep -rhoHE '^func Fuzz[A-Za-z0-9]+\(' --include='*_test.go' internal | LC_ALL=C sort |
            sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9]+)\(|\t\1|; s|^|./|' |
            awk -F '\t' 'FILENAME != "-" { s[$1, $2] = $3; x[$1, $2] = $4; next }
                { a += s[$1, $2]; b += x[$1, $2]
                  printf "| `%s` | `%s` | %.3f | %.3f |\n", substr($1, 3), $2, s[$1, $2] / 3600, x[$1, $2] / 1e6 }
                END { printf "| all | | %.3f | %.3f |\n", a / 3600, b / 1e6 }' "$hours" -
    } >"$page.new"
    mv "$page.new" "$page"
}

if [ "${1:-}" = --table ]; then
    table
    exit
fi
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
    # The last line that counts says how long: the build is not fuzzing.
    took=$(grep -oE 'elapsed: [0-9ms]+' "$log" | tail -n 1 | awk '{ s = $2; m = 0; if (split(s, p, "m") == 2 && p[2] != "s") { m = p[1]; s = p[2] }; print m * 60 + s + 0 }')
    rm -f "$log"
    count "$package" "$name" "${took:-0}" "${n#execs: }"
    printf '%-40s %-24s %10d executions\n' "$package" "$name" "${n#execs: }" | tee -a "${RESULTS:-/dev/null}"
    done_all=$((done_all + ${n#execs: }))
done
printf 'all %61s %10d executions, no failure\n' '' "$done_all" | tee -a "${RESULTS:-/dev/null}"
if [ -n "$hours" ]; then
    table
fi
