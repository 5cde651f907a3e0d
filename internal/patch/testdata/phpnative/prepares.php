<?php
// Statements that each turn prepares, and that nothing else can do at once.

/**
 * In no transaction: what is inserted before an error stays.
 * want P5
 * want P3 refused: left
 */
function addEach(PDO $pdo, array $users): int
{
    $n = 0;
    foreach ($users as $user) {
        $stmt = $pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)');
        $stmt->execute([$user['id'], $user['nick']]);
        $n += $stmt->rowCount();
    }
    return $n;
}

/**
 * want P4 refused: values
 * want P5
 */
function nameEach(PDO $pdo, array $users): void
{
    foreach ($users as $user) {
        $pdo->prepare("UPDATE users SET name = :name WHERE id = :id")->execute(['id' => $user['id'], 'name' => 'x' . $user['nick']]);
    }
}

/**
 * want P5
 * want P1 refused: key
 */
function byNick(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $find = $pdo->prepare('SELECT id, name FROM users WHERE nick = ?');
        $find->execute([$user['nick']]);
        $out[] = $find->fetch(PDO::FETCH_ASSOC);
    }
    return $out;
}

/**
 * What is not fetched of a turn is thrown away by the next one.
 * want P5
 * want P1 refused: statement
 */
function firstOfMany(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $i => $user) {
        if ($i % 3 === 0) {
            $q = $pdo->prepare('
                SELECT id FROM users
                WHERE score >= :least ORDER BY id
            ');
            $q->bindValue(':least', $user['score'], PDO::PARAM_INT);
            $q->execute();
            $out[] = [$q->fetchColumn(), $q->columnCount()];
        }
    }
    return $out;
}

/**
 * An error of one turn is no matter to the next.
 * want P5
 * want P3 refused: error
 */
function addOnce(PDO $pdo, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        try {
            $stmt = $pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)');
            $stmt->execute([$user['score'], $user['nick']]);
            $out[] = (int) $pdo->lastInsertId() > 0;
        } catch (PDOException $e) {
            $out[] = $e->getCode();
        }
    }
    return $out;
}

/**
 * want P5
 * want P2 refused: key
 */
function aboveAll(PDO $pdo, array $groups): array
{
    $out = [];
    foreach ($groups as $name => $users) {
        foreach ($users as $user) {
            $stmt = $pdo->prepare('SELECT name FROM users WHERE score > ? AND id <> ? ORDER BY id');
            $stmt->execute([$user['score'], $user['id']]);
            foreach ($stmt as $row) {
                $out[$name][] = $row['name'];
            }
        }
    }
    return $out;
}

/**
 * want P5
 * want P3 refused: alone
 */
function linkAdd(mysqli $link, array $users): int
{
    $sum = 0;
    foreach ($users as $user) {
        $stmt = $link->prepare('INSERT IGNORE INTO notes (user_id, text) VALUES (?, ?)');
        $stmt->bind_param('is', $user['id'], $user['nick']);
        $stmt->execute();
        $sum += $stmt->affected_rows;
        $link->query('UPDATE users SET score = score + 1 WHERE id = 1');
    }
    return $sum;
}

/**
 * want P5
 * want P2 refused: key
 */
function linkAbove(mysqli $link, array $users): array
{
    $out = [];
    foreach ($users as $user) {
        $stmt = mysqli_prepare($link, 'SELECT id, score FROM users WHERE score > ? AND id <> ? ORDER BY id LIMIT 3');
        mysqli_stmt_bind_param($stmt, 'ii', $user['score'], $user['id']);
        mysqli_stmt_execute($stmt);
        $result = mysqli_stmt_get_result($stmt);
        while ($row = mysqli_fetch_assoc($result)) {
            $out[] = $row;
            if (count($out) % 2) {
                break;
            }
        }
    }
    return $out;
}

class Notes
{
    public function __construct(private PDO $db)
    {
    }

    /**
     * want P4 refused: key
     * want P5
     */
    public function drop(array $users): void
    {
        foreach ($users as $user) {
            $this->db->prepare('DELETE FROM notes WHERE user_id = ? AND text = ?')->execute([$user['id'], $user['nick']]);
        }
    }
}
