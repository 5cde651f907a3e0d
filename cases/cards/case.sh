#!/bin/bash
# The card game case: a real HAProxy, nginx, PHP-FPM, two memcached, Redis and MariaDB
# in a private directory, as plain processes. `case.sh help` tells the commands.
set -euo pipefail

CASE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
NAME=cards TITLE="The card game" SIZES="full small" HEALTH=/ CHECKOUT=1
TRY="curl -i %s/"
# shellcheck source=/dev/null
. "$CASE/../lib/case.sh"

# case_sql prints the data of this size: full has 6,000 players and 1,200,000 places in
# decks, small a fifteenth.
case_sql() {
    local players=6000
    [ "$SIZE" = full ] || players=400
    echo "SET SESSION sql_log_bin = 0;"
    cat "$CASE/sql/schema.sql" "$CASE/sql/data.sql" "$CASE/sql/books.sql" | sed \
        -e "s/@PLAYERS@/$players/g" -e "s/@GUILDS@/$((players / 20))/g" -e "s/@PLACES@/$((players * 200))/g" -e "s/@MORE_CARDS@/$((players * 20))/g"
}

# case_grants lets the game read the master data and the books.
case_grants() { echo "GRANT SELECT ON cards_master.* TO cards@'$1'; GRANT SELECT ON books.* TO cards@'$1';"; }

# case_scenario writes the table of agents, and the players whom the scenario draws
# from, with what it has to see of them.
case_scenario() {
    mkdir -p "$DIR/app/data"
    awk -f "$CASE/agents.awk" >"$DIR/app/data/agents.ini"
    cp "$CASE/battle.yaml" "$DIR/battle.yaml"
    players readers "p.id % 10 = 1"
    players editors "p.id % 10 IN (2, 3)"
    players gamblers "p.id % 10 IN (4, 5)"
    players fighters "p.id % 10 IN (6, 7, 8)"
    players outlaws "p.id % 10 = 9"
}

# players FILE WHICH
players() {
    mariadb --defaults-file="$DIR/secrets/client.cnf" --batch cards -e "SELECT p.id, p.coins, p.coins - 300 AS coins_drawn, p.coins + 10 AS coins_1, p.coins + 20 AS coins_2,
        p.coins + 30 AS coins_3, p.level, g.name AS guild, w.power, x.power AS power_2, l.card_id AS leader, f.enemy_id AS enemy, f.points,
        CONCAT(CHAR(65 + d.n % 20 USING ascii), CHAR(88 - d.n % 3 USING ascii), '-', LPAD(d.n, 4, '0')) AS device,
        y.power AS power_3, z.power AS power_4,
        CONCAT('\"', (SELECT GROUP_CONCAT((p.id - 1) * 200 + 101 - s.seq) FROM seq_1_to_25 s), '\"') AS fourth
        FROM players p JOIN (SELECT id, 1 + id * 7919 % 1400 AS n FROM players) d ON d.id = p.id
        JOIN guilds g ON g.id = p.guild_id JOIN user_cards l ON l.id = p.leader_id
        JOIN books.powers w ON w.player_id = p.id AND w.deck = 1 JOIN books.powers x ON x.player_id = p.id AND x.deck = 2
        JOIN books.powers y ON y.player_id = p.id AND y.deck = 3 JOIN books.powers z ON z.player_id = p.id AND z.deck = 4
        LEFT JOIN books.fights f ON f.player_id = p.id WHERE $2 ORDER BY p.id" | tr '\t' ',' >"$DIR/$1.csv" ||
        fail "writing the players of $1 failed; see above"
}

# case_reset tells the game that its data was replaced, for whatever it keeps.
case_reset() {
    curl -fsS -o /dev/null -X POST "http://127.0.0.1:$HTTP_PORT/initialize" || fail "the game does not answer to /initialize"
}

case_begin() { case_reset; }

# case_hand lets the application reach its caches through their sockets, and keep its
# connections to rows.
case_hand() {
    sed -i -e "s|^server = \"127.0.0.1:[0-9]*\"|server = \"$DIR/run/cache/cache.sock\"|" \
        -e "s|^server = \"tcp://127.0.0.1:[0-9]*\"|server = \"unix://$DIR/run/redis/redis.sock\"|" \
        -e "s|^MEMCACHED_PERSISTENT_ID =.*|MEMCACHED_PERSISTENT_ID = rows|" "$DIR/app/config/app.ini"
}

main "$@"
