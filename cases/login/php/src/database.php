<?php
declare(strict_types=1);

/** db connects on first use. */
function db(): PDO
{
    static $pdo = null;
    if ($pdo === null) {
        $conf = settings('database');
        $pdo = new PDO($conf['dsn'], $conf['user'], $conf['password'], [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::ATTR_EMULATE_PREPARES => false,
        ]);
    }
    return $pdo;
}

/** query runs one statement with its parameters. */
function query(string $sql, array $params = []): PDOStatement
{
    $statement = db()->prepare($sql);
    $statement->execute($params);
    return $statement;
}
