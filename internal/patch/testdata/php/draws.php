<?php
// Numbers drawn from counters.

/**
 * want P8
 */
function fresh_id(): int
{
    static $counter = null;
    $counter ??= connect();
    for ($try = 0; $try < 3; $try++) {
        try {
            $counter->exec('UPDATE ids SET id = LAST_INSERT_ID(id + 1)');
            return (int) $counter->lastInsertId();
        } catch (PDOException $e) {
            $failed = $e;
        }
    }
    throw $failed;
}

/**
 * The column is small.
 * want P8 refused: column
 */
function smallId(): int
{
    static $counter = null;
    $counter ??= connect();
    $counter->exec('UPDATE small_ids SET id = LAST_INSERT_ID(id + 1)');
    return (int) $counter->lastInsertId();
}

/**
 * What it gives is a text.
 * want P8 refused: result
 */
function textId(): string
{
    static $counter = null;
    $counter ??= connect();
    $counter->exec('UPDATE text_ids SET id = LAST_INSERT_ID(id + 1)');
    return $counter->lastInsertId();
}

/**
 * A rollback gives the number back.
 * want P8 refused: handle
 */
function sharedId(): int
{
    db()->exec('UPDATE shared_ids SET id = LAST_INSERT_ID(id + 1)');
    return (int) db()->lastInsertId();
}

/**
 * The counter is read elsewhere.
 * want P8 refused: only
 */
function seenId(): int
{
    static $counter = null;
    if ($counter === null) {
        $counter = connect();
    }
    $counter->exec('UPDATE seen_ids SET id = LAST_INSERT_ID(id + 1)');
    return (int) $counter->lastInsertId();
}

function lastSeen(): int
{
    return (int) db()->query('SELECT id FROM seen_ids')->fetchColumn();
}

/**
 * The connection is not its own.
 * want P8 refused: handle
 */
function lentId(): int
{
    static $counter = null;
    $counter ??= db();
    $counter->exec('UPDATE lent_ids SET id = LAST_INSERT_ID(id + 1)');
    return (int) $counter->lastInsertId();
}

function numbersDrawn(array $keys): array
{
    $out = [];
    foreach ($keys as $i => $key) {
        $out[] = [fresh_id(), smallId(), textId(), seenId(), lastSeen()];
        try {
            in_tx(function () use (&$out, $i): array {
                $out[] = [sharedId(), lentId(), fresh_id()];
                if ($i % 3 === 0) {
                    throw new RuntimeException('not this one');
                }
                return [];
            });
        } catch (RuntimeException $e) {
            $out[] = $e->getMessage();
        }
    }
    return $out;
}
