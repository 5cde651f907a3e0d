#!/bin/bash
# The bank login case: a real nginx, PHP-FPM (or Go) and MariaDB in a private
# directory, as plain processes. `case.sh help` tells the commands.
set -euo pipefail

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
NAME=login TITLE="The bank login"
TRY="curl -i -d 'login=user1&password=pass1' %s/login"
# On a disposable host the shared part lies beside this file (hosts.sh).
LIB=$CASE/lib
[ -f "$LIB/case.sh" ] || LIB=$CASE/../lib
# shellcheck source=/dev/null
. "$LIB/case.sh"

case_sql() { cat "$CASE/sql/schema.sql" "$CASE/sql/data.sql"; }

case_reset() {
    find "$DIR/sessions" -type f \( -name 'sess_*' -o -name 'new_*' \) -delete 2>/dev/null || true
}

main "$@"
