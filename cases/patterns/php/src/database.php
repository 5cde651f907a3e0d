<?php
declare(strict_types=1);

/** connect_db makes a connection, or takes up the worker's own. */
function connect_db(bool $persistent): PDO
{
    $make = fn () => new PDO(
        sprintf('mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4', settings('db_host'), settings('db_port'), settings('db_name')),
        settings('db_user'),
        settings('db_password'),
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC, PDO::ATTR_PERSISTENT => $persistent]
    );
    return !$persistent || first_use('db') ? Spans::call('PDO::__construct', 'mysql', '', $make) : $make();
}

function db(): PDO
{
    static $pdo = null;
    return $pdo ??= connect_db(true);
}

/** bind writes the values into a statement's placeholders. */
function bind(PDO $pdo, string $sql, array $values): string
{
    return preg_replace_callback('/\?/', function () use (&$values, $pdo) {
        $value = array_shift($values);
        return is_int($value) ? (string) $value : $pdo->quote($value);
    }, $sql);
}

/** rows runs a statement in one round trip and returns its rows. */
function rows(string $sql, array $values = [], ?PDO $pdo = null): array
{
    $pdo ??= db();
    $text = bind($pdo, $sql, $values);
    return Spans::call('PDO::query', 'mysql', $text, fn () => $pdo->query($text)->fetchAll());
}

/** execute runs a statement that changes rows. */
function execute(string $sql, array $values = []): void
{
    $text = bind(db(), $sql, $values);
    Spans::call('PDO::exec', 'mysql', $text, fn () => db()->exec($text));
}

/** prepared_rows prepares on the server, executes and closes: three messages. */
function prepared_rows(string $sql, array $values): array
{
    db()->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
    $statement = Spans::call('PDO::prepare', 'mysql', $sql, fn () => db()->prepare($sql));
    Spans::call('PDOStatement::execute', 'mysql', $sql, fn () => $statement->execute($values));
    $rows = $statement->fetchAll();
    db()->setAttribute(PDO::ATTR_EMULATE_PREPARES, true); // the connection outlives the request
    return $rows;
}

/** placeholders returns "?, ?, ?". */
function placeholders(array $values): string
{
    return implode(', ', array_fill(0, count($values), '?'));
}
