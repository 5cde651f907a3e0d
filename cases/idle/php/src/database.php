<?php
declare(strict_types=1);

/** connect opens a connection to the database. */
function connect(): PDO
{
    $conf = parse_ini_file(__DIR__ . '/../config/app.ini', true)['database'];
    return new PDO($conf['dsn'], $conf['user'], $conf['password'], [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::ATTR_EMULATE_PREPARES => false,
    ]);
}

/** db connects on first use. */
function db(): PDO
{
    static $pdo = null;
    return $pdo ??= connect();
}

/** query runs one statement with its parameters. */
function query(string $sql, array $params = []): PDOStatement
{
    $statement = db()->prepare($sql);
    $statement->execute($params);
    return $statement;
}

/** row is the first row of an answer, or null. */
function row(string $sql, array $params = []): ?array
{
    return query($sql, $params)->fetch() ?: null;
}

/** rows are all rows of an answer. */
function rows(string $sql, array $params = []): array
{
    return query($sql, $params)->fetchAll();
}

/** in_tx does work in a transaction, and again after a deadlock. */
function in_tx(callable $work): array
{
    for ($try = 1; ; $try++) {
        db()->beginTransaction();
        try {
            $out = $work();
            db()->commit();
            return $out;
        } catch (Throwable $e) {
            db()->rollBack();
            if ($try === 10 || !is_deadlock($e)) {
                throw $e;
            }
        }
    }
}

function is_deadlock(Throwable $e): bool
{
    return $e instanceof PDOException && ($e->errorInfo[1] ?? 0) === 1213;
}

/**
 * new_id draws the next number, on a connection of its own, so that no
 * transaction holds the row. Deadlocks are tried again.
 */
function new_id(): int
{
    static $pdo = null;
    $pdo ??= connect();
    for ($try = 0; $try < 100; $try++) {
        try {
            $pdo->exec('UPDATE id_generator SET id = LAST_INSERT_ID(id + 1)');
            return (int) $pdo->lastInsertId();
        } catch (PDOException $e) {
            if (!is_deadlock($e)) {
                throw $e;
            }
            $last = $e;
        }
    }
    throw $last;
}

function random_word(): string
{
    return bin2hex(random_bytes(16));
}
