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
