<?php
// Loops that change rows, look alike and must stay.

/**
 * Rows before one that fails stay.
 * want P3 refused: transaction
 */
function addEach(PDO $pdo, array $posts): int
{
    $stmt = $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)');
    foreach ($posts as $post) {
        $stmt->execute([2000 + $post['id'], 1, $post['title']]);
    }
    return count($posts);
}

/**
 * The transaction is committed, whatever fails.
 * want P3 refused: transaction
 */
function addSome(PDO $pdo, array $posts): int
{
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 5, 2, $post['title']]);
        }
    } catch (PDOException $e) {
        $pdo->exec("INSERT INTO log (text) VALUES ('failed')");
    }
    $pdo->commit();
    return count($posts);
}

/**
 * What is there already is skipped.
 * want P3 refused: error
 */
function addMissing(PDO $pdo, array $posts): int
{
    $added = 0;
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            try {
                $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 7, 3, $post['title']]);
                $added++;
            } catch (PDOException $e) {
                continue;
            }
        }
        $pdo->commit();
    } catch (Throwable $e) {
        $pdo->rollBack();
        throw $e;
    }
    return $added;
}

/**
 * How far it came is told.
 * want P3 refused: error
 */
function addTold(PDO $pdo, array $posts): string
{
    $n = 0;
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            $n++;
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 11, 4, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        return "failed at $n";
    }
    return 'done';
}

/**
 * Each row is seen by the next turn.
 * want P3 refused: alone
 */
function addCounted(PDO $pdo, array $posts): array
{
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            $n = $pdo->query('SELECT COUNT(*) FROM notes')->fetchColumn();
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([3000 + $n, 5, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return [];
}

/**
 * The numbers of the rows are asked for.
 * want P3 refused: result
 */
function addLogs(PDO $pdo, array $posts): array
{
    $first = $last = 0;
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            $pdo->prepare('INSERT INTO log (text) VALUES (?)')->execute([$post['title']]);
        }
        $last = $pdo->lastInsertId();
        $pdo->prepare('UPDATE log SET text = ? WHERE id = ?')->execute(['last', $last]);
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return [];
}

/**
 * It may end without what follows.
 * want P3 refused: end
 */
function addUntil(PDO $pdo, array $posts): string
{
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            if ($post['user_id'] === null) {
                $pdo->commit();
                return 'no owner';
            }
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([4000 + $post['id'], 6, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return 'all';
}

/**
 * The transaction is one of another connection.
 * want P3 refused: transaction
 */
function addElsewhere(PDO $pdo, array $posts): array
{
    $other = connect();
    $other->beginTransaction();
    try {
        foreach ($posts as $post) {
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 13 + 5000, 7, $post['title']]);
        }
        $other->commit();
    } catch (PDOException $e) {
        $other->rollBack();
        throw $e;
    }
    return [];
}

/**
 * The transaction ended before.
 * want P3 refused: transaction
 */
function addAfter(PDO $pdo, array $posts): array
{
    $pdo->beginTransaction();
    try {
        $pdo->exec("INSERT INTO log (text) VALUES ('begun')");
        $pdo->commit();
        foreach ($posts as $post) {
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 17 + 6000, 8, $post['title']]);
        }
    } catch (PDOException $e) {
        if ($pdo->inTransaction()) {
            $pdo->rollBack();
        }
        return ['failed'];
    }
    return [];
}

/**
 * What was printed was printed.
 * want P3 refused: alone
 */
function addPrinted(PDO $pdo, array $posts): array
{
    $pdo->beginTransaction();
    try {
        foreach ($posts as $post) {
            echo $post['title'], ' ';
            $pdo->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)')->execute([$post['id'] % 19, 9, $post['title']]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return [];
}

/**
 * Each row has its own time.
 * want P3 refused: statement
 */
function addRandom(PDO $pdo, array $posts): array
{
    return in_tx(function () use ($posts): array {
        foreach ($posts as $post) {
            query('INSERT INTO log (text) VALUES (IF(CONNECTION_ID() > 0, ?, ?))', [$post['title'], 'x']);
        }
        return [];
    });
}

/**
 * A counter of the caller.
 * want P3 refused: error
 */
function addCounting(PDO $pdo, array $posts): array
{
    $n = 0;
    try {
        in_tx(function () use ($posts, &$n): array {
            foreach ($posts as $post) {
                $n++;
                query('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)', [$post['id'] % 23, 10, $post['title']]);
            }
            return [];
        });
    } catch (PDOException $e) {
        return ["failed after $n"];
    }
    return [$n];
}

/**
 * Each row gets its own value.
 * want P4 refused: values
 */
function renameEach(PDO $pdo, array $posts): array
{
    return in_tx(function () use ($posts): array {
        foreach ($posts as $post) {
            query('UPDATE posts SET title = ? WHERE id = ?', [$post['title'] . '!', $post['id']]);
        }
        return [];
    });
}

/**
 * One row is moved where another one was.
 * want P4 refused: key
 */
function moveEach(PDO $pdo, array $ids): array
{
    return in_tx(function () use ($ids): array {
        foreach ($ids as $id) {
            query('UPDATE notes SET post_id = 3 WHERE post_id = ? AND id < ?', [$id, 5]);
        }
        return [];
    });
}

/**
 * Collations: 'N1' finds 'n1'.
 * want P4 refused: key
 */
function dropNamed(PDO $pdo, array $ids): array
{
    return in_tx(function () use ($ids): array {
        foreach ($ids as $id) {
            query('DELETE FROM notes WHERE text = ?', [$id]);
        }
        return [];
    });
}

/**
 * Each of these counts.
 * want P4 refused: statement
 */
function raiseEach(PDO $pdo, array $ids): array
{
    return in_tx(function () use ($ids): array {
        foreach ($ids as $id) {
            query('UPDATE posts SET price = price + 1 WHERE id = ?', [$id]);
        }
        return [];
    });
}

/**
 * Somebody counts what was deleted.
 * want P4 refused: left
 */
function dropCounted(PDO $pdo, array $ids): array
{
    $pdo->beginTransaction();
    try {
        $stmt = $pdo->prepare('DELETE FROM notes WHERE id = ?');
        $n = 0;
        foreach ($ids as $id) {
            $stmt->execute([$id]);
            $n += $stmt->rowCount();
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
    return [$n];
}

/**
 * Each turn tells whether there was one.
 */
function dropTold(PDO $pdo, array $ids): array
{
    return in_tx(function () use ($ids): array {
        $out = [];
        foreach ($ids as $id) {
            if (query('DELETE FROM notes WHERE id = ?', [$id])->rowCount() !== 1) {
                $out[] = $id;
            }
        }
        return $out;
    });
}
