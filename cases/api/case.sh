#!/bin/bash
# The game API case: a real nginx, a Go service, Redis and MariaDB in a private
# directory, as plain processes. `case.sh help` tells the commands.
set -euo pipefail

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
NAME=api TITLE="The game API" SIZES="full small" PROGRAM=app/api-app
TRY="curl -i %s/health"
# shellcheck source=/dev/null
. "$CASE/../lib/case.sh"

# case_sql prints the data of this size: full has 100,000 users, small a twenty-fifth.
case_sql() {
    local users=100000
    [ "$SIZE" = full ] || users=4000
    cat "$CASE/sql/schema.sql" "$CASE/sql/data.sql" "$CASE/sql/books.sql" | sed \
        -e "s/@USERS@/$users/g" -e "s/@FIFTH@/$((users / 5))/g" -e "s/@BASE_CARDS@/$((users * 6))/g" \
        -e "s/@MORE_CARDS@/$((users * 2))/g" -e "s/@PRESENTS@/$((users * 3))/g"
}

# case_grants lets the game read the books.
case_grants() { echo "GRANT SELECT ON books.* TO api@'$1';"; }

# case_scenario writes the master data, the players whom the scenario draws from, with
# what it has to see of them, and records of plays.
case_scenario() {
    local sheet
    mkdir -p "$DIR/app/master"
    for sheet in cards skills levels stages drops gachas gacha_cards items products news; do
        table "app/master/$sheet" "SELECT * FROM m_$sheet ORDER BY 1"
    done
    players adventurers "kind < 3"
    players fighters "kind IN (3, 4)"
    players drawers "kind IN (5, 6)"
    players visitors "kind = 7"
    players shoppers "kind = 8"
    players receivers "kind = 9 AND w.user IS NOT NULL"
    cp "$CASE/reroll.yaml" "$DIR/reroll.yaml"
    : >"$DIR/log/api.log.lz4"
    if [ -n "$AS_ROOT" ]; then chown "$WEB_USER:" "$DIR/log/api.log.lz4"; fi
    awk -f "$CASE/records.awk" >"$DIR/records.csv"
}

# players FILE WHICH
players() {
    table "$1" "SELECT p.user, p.coins, p.stones, p.stones - 300 AS stones_drawn, p.power, p.changed, p.stage, p.coins + p.stage_coins AS coins_played,
        p.coins + 2 * p.stage_coins AS coins_twice, p.opponent, p.opponent_power, p.coins + p.first_battle AS coins_fought,
        p.coins + p.first_battle + p.second_battle AS coins_again, p.product, p.coins - 2 * p.price AS coins_bought,
        CONCAT('\"', IFNULL(w.first, ''), '\"') AS first, p.coins + w.coins AS coins_received, p.stones + w.stones AS stones_received,
        p.user * 6 - 4 AS c1, p.user * 6 - 3 AS c2, p.user * 6 - 2 AS c3, p.user * 6 - 1 AS c4, p.user * 6 AS c5
        FROM players p LEFT JOIN waiting w ON w.user = p.user WHERE $2"
}

# table FILE QUERY writes what a query finds as CSV.
table() {
    mariadb --defaults-file="$DIR/secrets/client.cnf" --batch --raw books -e "$2" |
        sed -e '/,/{/"/!s/[^\t]*,[^\t]*/"&"/g;}' -e 's/\t/,/g' >"$DIR/$1.csv" || fail "writing $1 failed; see above"
}

# case_reset empties Redis, so that nobody is logged in and nobody plays, and the log.
case_reset() {
    : >"$DIR/log/api.log.lz4"
    if running redis; then redis-cli -p "$REDIS_PORT" FLUSHALL >/dev/null || fail "Redis does not answer"; fi
}

# case_hand lets the service reach Redis through its socket, and collect seldom.
case_hand() {
    sed -i -e 's|^network = .*|network = "unix"|' -e "s|^address = .*|address = \"$DIR/run/redis/redis.sock\"|" "$DIR/app/config/app.ini"
    cp "$CASE/hand/app.env" "$DIR/app/config/app.env"
}

main "$@"
