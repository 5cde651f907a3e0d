<?php
// The read stands in a function that the loop calls.

function get_user(PDO $pdo, $id)
{
    $stmt = $pdo->prepare('SELECT id, name, score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetch();
}

function findName(int $id): ?array
{
    $sql = 'SELECT name FROM users WHERE id = :id';
    $stmt = db()->prepare($sql);
    $stmt->execute(['id' => $id]);
    $row = $stmt->fetch(PDO::FETCH_NUM) ?: null;
    return $row;
}

function findWord(int $id): ?string
{
    $stmt = db()->prepare('SELECT name FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetchColumn() ?: null;
}

/** Counts how often it is called. */
function count_user(PDO $pdo, $id)
{
    static $calls = 0;
    $calls++;
    $stmt = $pdo->prepare('SELECT id, name, score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    $row = $stmt->fetch();
    $row['calls'] = $calls;
    return $row;
}

function truth(PDO $pdo, bool $id)
{
    $stmt = $pdo->prepare('SELECT id, name, score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetch();
}

/**
 * want P1
 */
function usersOf(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $user = get_user($pdo, $post['user_id']);
        $out[] = $user ? $user['name'] : null;
    }
    return $out;
}

/**
 * want P1
 */
function scoresOf(array $posts): int
{
    global $pdo;
    $sum = 0;
    foreach ($posts as $post) {
        $sum += get_user($pdo, $post['user_id'])['score'] ?? 1000;
    }
    return $sum;
}

/**
 * want P1
 */
function namesOf(array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        if ($post['user_id'] !== null && ($name = findName($post['user_id'])) !== null) {
            $out[] = $name;
        }
    }
    return $out;
}

/**
 * A name of "0" is none.
 * want P1 refused: function
 */
function wordsOf(array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = findWord((int) $post['user_id']);
    }
    return $out;
}

/**
 * want P1 refused: function
 */
function countsCalls(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = count_user($pdo, $post['user_id']);
    }
    return $out;
}

/**
 * want P1 refused: function
 */
function truths(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = truth($pdo, $post['user_id']);
    }
    return $out;
}

/**
 * want P1 refused: writes
 * want P4 refused: statement
 */
function renames(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $user = get_user($pdo, $post['user_id']);
        if ($user) {
            $stmt = $pdo->prepare('UPDATE users SET name = CONCAT(name, ?) WHERE id = ?');
            $stmt->execute(['x', $user['id']]);
        }
        $out[] = $user;
    }
    return $out;
}

/** Sends any statement. */
function query(string $sql, array $params = []): PDOStatement
{
    $statement = db()->prepare($sql);
    $statement->execute($params);
    return $statement;
}

function row(string $sql, array $params = []): ?array
{
    return query($sql, $params)->fetch() ?: null;
}

function all_rows(string $sql, array $params): array
{
    return query($sql, $params)->fetchAll();
}

/** Tells what it was asked. */
function told_row(string $sql, array $params = []): ?array
{
    error_log('asked');
    return query($sql, $params)->fetch() ?: null;
}

/**
 * want P1
 */
function powerOf(array $deck): int
{
    $power = 0;
    foreach ($deck ? ['first', 'second', 'third'] : [] as $place) {
        $power += row('SELECT score FROM users WHERE id = ?', [$deck[$place]])['score'] ?? 100;
    }
    return $power;
}

/**
 * want P1
 */
function ownersOf(array $ids, string $lang): array
{
    $out = [];
    foreach ($ids as $id) {
        if ((row('SELECT name FROM users WHERE lang = ? AND id = ?', [$lang, $id])['name'] ?? '') === '') {
            $out[] = "none of $id";
            continue;
        }
        $out[] = query('SELECT name FROM users WHERE lang = :lang', ['lang' => 'xx'])->fetch();
    }
    return $out;
}

/**
 * want P1
 */
function columnsOf(array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = query('SELECT score FROM users WHERE id = ?', [$post['user_id']])->fetchColumn();
    }
    return $out;
}

/**
 * want P1 refused: writes
 * want P4 refused: statement
 */
function sentAndChanged(array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[] = row('SELECT score FROM users WHERE id = ?', [$id]);
        query('UPDATE users SET score = score + 1 WHERE id = ?', [$id]);
    }
    return $out;
}
