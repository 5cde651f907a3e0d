#!/bin/bash
# Prints which share of the statements of internal/ is run by the tests of packages,
# of all packages if none is named:
#   scripts/test-coverage.sh [PACKAGE …]
# What a test of cmd or cases runs counts as well, also in the program when it starts
# that, unless it kills it. Packages that only tests import are left out. The profile
# stays in .cache/test/coverage, for go tool cover -html. LIST=20: so many packages,
# those with most statements that nothing runs first (all if it is not set).
# Its exit status is that of the tests, and 1 if there is no profile.
set -uo pipefail
cd "$(dirname "$0")/.."
profile=.cache/test/coverage
rm -f "$profile"
mkdir -p "$(dirname "$profile")"
TESTFLAGS="${TESTFLAGS:-} -coverpkg=./internal/... -coverprofile=$profile" scripts/test.sh "$@"
status=$?
[ -s "$profile" ] || { echo "test-coverage.sh: the tests left no profile" >&2; exit 1; }

# A profile has a line for each block and each test program: FILE:FROM,TO STATEMENTS COUNT.
awk -v list="${LIST:-0}" '
    $1 == "mode:" { next }
    { statements[$1] = $2; if ($3 > 0) run[$1] = 1 }
    END {
        for (block in statements) {
            package = block
            sub("/[^/]*$", "", package)
            sub("^[^/]*/", "", package)
            if (package ~ /test$|^internal\/(await|rapidseed|lint)$|\/memory$/) continue
            all[package] += statements[block]; total += statements[block]
            if (block in run) { covered[package] += statements[block]; sum += statements[block] }
        }
        sorted = "sort -k1,1nr -k2"
        if (list > 0) sorted = sorted " | head -n " list
        print "not run  of all  share  package"
        for (package in all)
            printf "%7d %7d %5.1f %%  %s\n", all[package] - covered[package], all[package], 100 * covered[package] / all[package], package | sorted
        close(sorted)
        if (total) printf "%7d %7d %5.1f %%  all\n", total - sum, total, 100 * sum / total
    }' "$profile"
exit "$status"
