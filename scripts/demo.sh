#!/bin/bash
# Starts the bank login as a hurried team left it, lets Kasoku tune it, and
# says where the report is. `make demo` runs it; BUDGET and DIR may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

budget=${BUDGET:-6m30s}
dir=${DIR:-$PWD/cases/login/run}
kasoku=$PWD/bin/kasoku

say() { printf '\n== %s\n' "$*"; }

say "A bank's login service, as found"
cases/login/case.sh up "$dir"
cd "$dir"

say "Kasoku tunes it for at most $budget"
status=0
"$kasoku" tune --budget "$budget" --duration 3s || status=$?
case $status in
0 | 10 | 12) ;; # done; nothing paid; not sure
*)
    echo "demo.sh: kasoku tune ended with status $status; look with: cd $dir && $kasoku history" >&2
    exit "$status"
    ;;
esac

say "The report"
"$kasoku" report
cat <<END

The service still runs in $dir.
  see the kept changes:      cd $dir && $kasoku export
  put everything back:       cd $dir && $kasoku undo --all
  stop it and remove it:     cases/login/case.sh down $dir --purge
END
