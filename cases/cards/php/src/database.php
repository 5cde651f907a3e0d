<?php
declare(strict_types=1);

/** db connects to one of the two databases, 'master' or 'players', on first use. */
function db(string $name): PDO
{
    static $open = [];
    if (!isset($open[$name])) {
        $conf = settings('database');
        $open[$name] = new PDO(settings($name)['dsn'], $conf['user'], $conf['password'], [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::ATTR_PERSISTENT => (bool) $conf['DB_PERSISTENT'],
        ]);
    }
    return $open[$name];
}

/** query runs one statement with its parameters. */
function query(string $name, string $sql, array $params = []): PDOStatement
{
    $statement = db($name)->prepare($sql);
    $statement->execute($params);
    return $statement;
}

/** in_tx does work on the players' database in a transaction, and again after a deadlock. */
function in_tx(callable $work): mixed
{
    for ($try = 1; ; $try++) {
        db('players')->beginTransaction();
        Model::$written = [];
        try {
            $out = $work();
            db('players')->commit();
            return $out;
        } catch (Throwable $e) {
            db('players')->rollBack();
            Model::forget_written();
            if ($try === 10 || !($e instanceof PDOException && ($e->errorInfo[1] ?? 0) === 1213)) {
                throw $e;
            }
        }
    }
}
