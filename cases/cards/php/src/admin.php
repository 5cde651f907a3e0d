<?php
declare(strict_types=1);

/** books tells what the books say (../../sql/books.sql), and whether the ranking has the points of the battle. */
function books(): string
{
    $wrong = query('players', 'SELECT text FROM books.wrong ORDER BY text LIMIT 20')->fetchAll(PDO::FETCH_COLUMN);
    $points = query('players', 'SELECT guild_id, points FROM guild_battles')->fetchAll(PDO::FETCH_KEY_PAIR);
    foreach (redis()->zRange('battle', 0, -1, true) as $guild => $ranked) {
        if ((int) $ranked !== $points[$guild]) {
            $wrong[] = "guild $guild has {$points[$guild]} points and is ranked with $ranked";
        }
    }
    header('Content-Type: application/json');
    return json_encode(['wrong' => $wrong, 'purses' => query('players', 'SELECT text FROM books.purses')->fetchAll(PDO::FETCH_COLUMN)]);
}

/** initialize is told that the data was replaced: rows that are kept are forgotten, the ranking is made anew. */
function initialize(): string
{
    RowCache::pool()->flush();
    redis()->flushDB();
    foreach (query('players', 'SELECT guild_id, points FROM guild_battles')->fetchAll() as $battle) {
        redis()->zAdd('battle', $battle['points'], (string) $battle['guild_id']);
    }
    return 'ok';
}
