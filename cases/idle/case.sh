#!/bin/bash
# The idle game case: a real nginx, PHP-FPM (or Go) and MariaDB in a private
# directory, as plain processes. `case.sh help` tells the commands.
set -euo pipefail

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
NAME=idle TITLE="The idle game" SIZES="full small" CHECKOUT=1 PROGRAM=app/bin/idle-app
TRY="curl -i %s/health"
# shellcheck source=/dev/null
. "$CASE/../lib/case.sh"

# case_sql prints the data of this size: full has 200,000 users and 1,000,000
# presents, small a fiftieth.
case_sql() {
    local users=200000
    [ "$SIZE" = full ] || users=4000
    cat "$CASE/sql/schema.sql" "$CASE/sql/data.sql" "$CASE/sql/books.sql" | sed \
        -e "s/@USERS@/$users/g" -e "s/@PRESENTS@/$((users * 5))/g" -e "s/@BANS@/$((users / 500))/g" \
        -e "s/@DECK_CARDS@/$((users * 3))/g" -e "s/@MORE_CARDS@/$users/g" \
        -e "s/@HALF@/$((users / 2))/g" -e "s/@STALE@/$((users / 2))/g"
}

# case_grants lets the game read the books.
case_grants() { echo "GRANT SELECT ON books.* TO idle@'$1';"; }

# case_scenario writes the players whom the scenario draws from, with what it has
# to see of them.
case_scenario() {
    players collectors "SELECT k.user_id AS user, k.coins, c.coins_received, CONCAT('\"', c.first, '\"') AS first, CONCAT('\"', c.second, '\"') AS second
        FROM players k JOIN collectors c ON c.user_id = k.user_id WHERE k.kind < 4"
    players gamblers "SELECT user_id AS user, coins, coins - 400 AS coins_drawn FROM players WHERE kind IN (4, 5)"
    players smiths "SELECT k.user_id AS user, k.coins, k.coins - 100 AS coins_bought, k.user_id * 3 - 2 AS card,
        i.amount AS ore, i.amount - 7 AS ore_left FROM players k JOIN items i ON i.user_id = k.user_id AND i.id = k.user_id WHERE k.kind IN (6, 7)"
    players idlers "SELECT user_id AS user, coins, coins + 3 * 28800 AS coins_gathered FROM players WHERE kind = 8"
    players others "SELECT user_id AS user, coins FROM players WHERE kind = 9"
}

players() {
    mariadb --defaults-file="$DIR/secrets/client.cnf" --batch books -e "$2" | tr '\t' ',' >"$DIR/$1.csv" ||
        fail "writing the players of $1 failed; see above"
}

# case_reset tells the game that its data was replaced, for whatever it keeps.
case_reset() {
    curl -fsS -o /dev/null -X POST "http://127.0.0.1:$HTTP_PORT/initialize" || fail "the game does not answer to /initialize"
}

main "$@"
