<?php
// Loops that change rows, in a transaction.

/**
 * want P3
 */
function addNotes(PDO $pdo, array $posts): int
{
    $pdo->beginTransaction();
    try {
        $stmt = $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)');
        $n = 0;
        foreach ($posts as $post) {
            if ($post['user_id'] === '') {
                continue;
            }
            $n++;
            $stmt->execute([1000 + $post['id'], $n, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return $n;
}

/**
 * A value may be null, which its column does not take.
 * want P3
 */
function addNamed(PDO $pdo, array $posts): bool
{
    try {
        $pdo->beginTransaction();
        foreach ($posts as $post) {
            $add = $pdo->prepare("INSERT IGNORE INTO notes (id, post_id, text) VALUES (:id, 7, :text)");
            $add->bindValue(':id', $post['id'] * 2);
            $add->bindValue(':text', $post['user_id']);
            $add->execute();
        }
        $pdo->commit();
        return true;
    } catch (Throwable $e) {
        if ($pdo->inTransaction()) {
            $pdo->rollBack();
        }
        return false;
    }
}

/**
 * It stops where it likes.
 * want P3
 */
function some_logs(PDO $pdo, array $posts)
{
    try {
        $pdo->beginTransaction();
        foreach ($posts as $post) {
            for ($i = 0; $i < 30; $i++) {
                if ($i * $post['id'] > 200) {
                    break 2;
                }
                $pdo->prepare('INSERT INTO log (text) VALUES (?)')->execute(["$i of {$post['title']}"]);
            }
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw new RuntimeException('not logged', 0, $e);
    }
}

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
            if ($try === 2) {
                throw $e;
            }
        }
    }
}

/**
 * want P3
 */
function sent_notes(array $posts, string $text): array
{
    return in_tx(function () use ($posts, $text): array {
        foreach ($posts as $i => $post) {
            query('REPLACE INTO notes (id, post_id, text) VALUES (?, ?, ?)', [$i % 20, $post['id'], "$text $i"]);
        }
        return ['sent' => count($posts)];
    });
}

/**
 * want P4
 */
function forget(PDO $pdo, array $ids): void
{
    $pdo->beginTransaction();
    try {
        $stmt = $pdo->prepare('DELETE FROM notes WHERE id = ?');
        foreach ($ids as $id) {
            $stmt->execute([$id]);
        }
        $pdo->commit();
    } catch (Exception $e) {
        $pdo->rollBack();
        throw $e;
    }
}

/**
 * want P4
 */
function sent_marks(array $ids, string $all): array
{
    return in_tx(function () use ($ids, $all): array {
        $n = 0;
        foreach ($ids as $id) {
            if ($id === null) {
                continue;
            }
            query('UPDATE posts SET title = ? WHERE id = ? AND title <> ?', [$all, $id, $all]);
            $n++;
        }
        return ['marked' => $n];
    });
}

/**
 * want P3
 */
function link_notes(mysqli $link, array $posts): bool
{
    $link->begin_transaction();
    try {
        $stmt = $link->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)');
        foreach ($posts as $post) {
            $id = $post['id'] + 500;
            $owner = (int) $post['user_id'];
            $stmt->bind_param('iis', $id, $owner, $post['title']);
            $stmt->execute();
        }
        $stmt->close();
        $link->commit();
    } catch (mysqli_sql_exception $e) {
        $link->rollback();
        return false;
    }
    return true;
}

/**
 * want P4
 */
function link_forget(mysqli $link, array $ids, $text): void
{
    $post = 40;
    $link->begin_transaction();
    try {
        foreach ($ids as $id) {
            $stmt = $link->prepare('DELETE FROM notes WHERE text <> ? AND id = ? AND post_id < ?');
            $stmt->bind_param('sii', $text, $id, $post);
            $stmt->execute();
        }
        $link->commit();
    } catch (Throwable $e) {
        $link->rollback();
        throw $e;
    }
}

/**
 * Its columns take null.
 * want P3
 */
function addMarks(PDO $pdo, array $posts): void
{
    $sql = 'INSERT INTO marks (user_id, text) VALUES (?, ?)';
    $pdo->beginTransaction();
    try {
        $add = $pdo->prepare($sql);
        foreach ($posts as $post) {
            $add->execute([is_int($post['user_id']) ? $post['user_id'] : null, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
}
