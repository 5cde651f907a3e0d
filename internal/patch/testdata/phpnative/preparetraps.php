<?php
// Statements that are to be prepared in each turn.

/**
 * want P5 refused: constant
 * want P1 refused: constant
 */
function ofColumn(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $by = $user['id'] % 2 ? 'score' : 'id';
        $stmt = $pdo->prepare("SELECT name FROM users WHERE $by > ? ORDER BY id");
        $stmt->execute([$user['score']]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * The mode of the session is that of when it was prepared.
 * want P5 refused: calls
 * want P1 refused: statement
 */
function modes(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $pdo->exec($user['id'] % 2 ? "SET SESSION sql_mode = 'PIPES_AS_CONCAT'" : "SET SESSION sql_mode = ''");
        $stmt = $pdo->prepare('SELECT 1 || ? AS n');
        $stmt->execute([$user['id']]);
        $out[] = $stmt->fetchColumn();
    }
    $pdo->exec('SET SESSION sql_mode = DEFAULT');
    return $out;
}

/**
 * Another database in each turn.
 * want P5 refused: session
 * want P2 refused: statement
 */
function databases(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $pdo->exec('USE app');
        $stmt = $pdo->prepare('SELECT COUNT(*) FROM notes WHERE user_id > ?');
        $stmt->execute([$user['id']]);
        $out[] = $stmt->fetchColumn();
        $pdo->exec('USE mysql');
    }
    $pdo->exec('USE app');
    return $out;
}

/**
 * Each turn has a statement of its own.
 * want P5 refused: left
 */
function keptStatements(PDO $pdo, array $users): array
{
    $all = $out = [];
    foreach ($users as $user) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
        $all[] = $stmt;
    }
    foreach ($all as $one) {
        $out[] = $one->fetchColumn();
    }
    return $out;
}

function first_of(PDOStatement $stmt)
{
    $stmt->setFetchMode(PDO::FETCH_NUM);
    return $stmt->fetch();
}

/**
 * want P5 refused: left
 * want P1 refused: statement
 */
function givenAway(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $i => $user) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
        $out[] = $i % 2 ? first_of($stmt) : $stmt->fetch();
    }
    return $out;
}

/**
 * The mode lasts.
 * want P5 refused: left
 */
function modeOfSome(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $i => $user) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
        if ($i % 2) {
            $stmt->setFetchMode(PDO::FETCH_NUM);
        }
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Nobody knows which connection it is, and nothing is said.
 */
function shards(PDO $pdo, PDO $other, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $at = $user['id'] % 2 ? $pdo : $other;
        $stmt = $at->prepare('SELECT CONNECTION_ID() > ?');
        $stmt->execute([0]);
        $out[] = $stmt->fetchColumn();
        $pdo = $other;
        $stmt = null;
    }
    return $out;
}

/**
 * want P5 refused: handle
 * want P1 refused: statement
 */
function reconnects(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = $pdo->prepare('SELECT CONNECTION_ID(), ?');
        $stmt->execute([$user['id']]);
        $out[$stmt->fetchColumn()] = true;
        $pdo = connect();
    }
    return [count($out)];
}

/**
 * The variable has two statements.
 * want P5 refused: left
 * want P1 refused: statement
 * want P5 refused: left
 * want P1 refused: statement
 */
function twoStatements(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
        $out[] = $stmt->fetchColumn();
        $stmt = $pdo->prepare('SELECT name FROM users WHERE score < ? ORDER BY id');
        $stmt->execute([$user['score']]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * want P5 refused: left
 */
function countsLast(PDO $pdo, array $users): array
{
    $stmt = $pdo->query('SELECT 1');
    foreach ($users as $user) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
    }
    return [$stmt->rowCount()];
}

/**
 * want P5 refused: calls
 * want P1 refused: statement
 */
function asksBack(PDO $pdo, array $users, callable $then): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->execute([$user['score']]);
        $out[] = $then($stmt->fetchColumn());
    }
    return $out;
}

/**
 * It is closed in each turn.
 * want P5 refused: left
 * want P1 refused: statement
 */
function linkCloses(mysqli $link, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = $link->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->bind_param('i', $user['score']);
        $stmt->execute();
        $out[] = $stmt->get_result()->fetch_row();
        $stmt->close();
    }
    return $out;
}

/**
 * want P5 refused: left
 */
function linkResults(mysqli $link, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = $link->prepare('SELECT name FROM users WHERE score > ? ORDER BY id');
        $stmt->bind_param('i', $user['score']);
        $stmt->execute();
        $stmt->store_result();
        $stmt->bind_result($name);
        $stmt->fetch();
        $out[] = $name;
    }
    return $out;
}
