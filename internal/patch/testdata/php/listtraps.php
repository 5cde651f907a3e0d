<?php
// Lists and aggregates that look alike and must stay.

/**
 * The loop adds to what a later turn reads.
 * want P2 refused: writes
 * want P3 refused: alone
 */
function answersEach(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $i => $post) {
        $stmt = $pdo->prepare('SELECT id, text FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$post['id']]);
        $list = $stmt->fetchAll();
        $pdo->prepare('INSERT INTO comments (id, post_id, text) VALUES (?, ?, ?)')->execute([1000 + $i, $post['id'] + 1, 'new']);
        $out[] = $list;
    }
    return $out;
}

/**
 * It writes to the other table of the join.
 * want P2 refused: writes
 * want P4 refused: statement
 */
function renamesEach(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT c.id, u.name FROM comments c JOIN users u ON u.id = c.user_id WHERE c.post_id = ? ORDER BY c.id');
        $stmt->execute([$post['user_id']]);
        $list = $stmt->fetchAll();
        $pdo->prepare('UPDATE users SET name = CONCAT(name, ?) WHERE id = ?')->execute(['x', $post['user_id']]);
        $out[] = $list;
    }
    return $out;
}

/**
 * want P2 refused: writes
 * want P4 refused: statement
 */
function countsAndRaises(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT SUM(stars) FROM comments WHERE post_id = ?');
        $stmt->execute([$post['id']]);
        $sum = $stmt->fetchColumn();
        $pdo->prepare('UPDATE comments SET stars = stars + 1 WHERE post_id = ?')->execute([(int) $post['id'] + 1]);
        $out[] = $sum;
    }
    return $out;
}

/**
 * want P2 refused: statement
 */
function lockedLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? FOR UPDATE');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

/**
 * Another order each time.
 * want P2 refused: statement
 */
function shuffledLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY RAND()');
        $stmt->execute([$id]);
        $out[] = count($stmt->fetchAll());
    }
    return $out;
}

/**
 * want P2 refused: mode
 */
function objectLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, text FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $list = $stmt->fetchAll(PDO::FETCH_OBJ);
        foreach ($list as $one) {
            $one->text .= '!';
        }
        $out[] = $list;
    }
    return $out;
}

/**
 * want P2 refused: mode
 */
function pairLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, text FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchAll(PDO::FETCH_KEY_PAIR);
    }
    return $out;
}

/**
 * A value among the columns has another type in each statement.
 * want P2 refused: statement
 */
function taggedLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, ? AS asked FROM comments WHERE post_id = 1 ORDER BY id');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

/**
 * A FLOAT comes out of a UNION in another form.
 * want P2 refused: statement
 */
function rateLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, rate FROM rates WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

/**
 * No schema shows the table.
 * want P2 refused: statement
 */
function otherLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_ROWS = ?');
        $stmt->execute([$id]);
        $out[] = count($stmt->fetchAll()) >= 0;
    }
    return $out;
}

/**
 * The number of rows is asked for.
 * want P2 refused: left
 */
function countedLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $list = $stmt->fetchAll();
        $out[] = [$list, $stmt->rowCount()];
    }
    return $out;
}

/**
 * The number of rows is asked for by another statement.
 * want P2 refused: writes
 */
function foundLists(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id LIMIT 9');
        $stmt->execute([$id]);
        $list = $stmt->fetchAll();
        $out[] = [$list, $pdo->query('SELECT FOUND_ROWS()')->fetchColumn()];
    }
    return $out;
}

/**
 * The same behind the loop.
 * want P1 refused: left
 */
function foundRows(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $row = $stmt->fetch();
        $out[] = $row;
    }
    return [$out, $ids ? $pdo->query('SELECT FOUND_ROWS()')->fetchColumn() : 0];
}

/**
 * Two values of the loop.
 * want P2 refused: key
 */
function pairsOf(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? AND user_id = ? ORDER BY id');
        $stmt->execute([$post['id'], $post['user_id']]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

/**
 * The next key is of the list.
 * want P2 refused: key
 */
function downwards(PDO $pdo, int $id): array
{
    $out = [];
    for ($i = 0; $i < 4; $i++) {
        $stmt = $pdo->prepare('SELECT user_id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $list = $stmt->fetchAll();
        $out[] = $list;
        $id = $list[0]['user_id'] ?? $id + 1;
    }
    return $out;
}

/**
 * want P2 refused: calls
 */
function listsTold(PDO $pdo, array $ids, callable $then): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $out[] = $then($stmt->fetchAll());
    }
    return $out;
}

/**
 * Its sum depends on the order of the rows.
 * want P2 refused: statement
 */
function weightSums(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT SUM(weight) FROM comments WHERE post_id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * Of texts that a collation takes for equal, which comes depends on the order.
 * want P2 refused: statement
 */
function firstWords(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT MIN(text) FROM comments WHERE post_id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * want P2 refused: key
 */
function countsByText(PDO $pdo, array $words): array
{
    $out = [];
    foreach ($words as $word) {
        $stmt = $pdo->prepare('SELECT COUNT(*) FROM comments WHERE text = ?');
        $stmt->execute([$word]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * want P2 refused: statement
 */
function countsAbove(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT COUNT(*) FROM comments WHERE post_id > ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchColumn();
    }
    return $out;
}

/**
 * want P2 refused: statement
 */
function countsAndSums(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT COUNT(*), SUM(stars) FROM comments WHERE post_id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

function count_text(PDO $pdo, $post): string
{
    $stmt = $pdo->prepare('SELECT COUNT(*) FROM comments WHERE post_id = ?');
    $stmt->execute([$post]);
    return $stmt->fetchColumn();
}

/**
 * The function makes a text of the number.
 * want P2 refused: function
 */
function countTexts(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[] = count_text($pdo, $id);
    }
    return $out;
}

function score_text(PDO $pdo, $id): string
{
    $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetchColumn();
}

/**
 * want P1 refused: function
 */
function scoreTexts(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[] = score_text($pdo, $id);
    }
    return $out;
}

function sure_user(PDO $pdo, $id): array
{
    $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetch();
}

/**
 * None is no array: the function throws then, and still does.
 * want P1
 */
function sureUsers(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        try {
            $out[] = sure_user($pdo, $id);
        } catch (TypeError $e) {
            $out[] = 'none';
        }
    }
    return $out;
}

/**
 * The rest of the list is read later.
 * want P2 refused: left
 */
function firstAndRest(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        $first = $stmt->fetchAll();
        $out[] = $first;
    }
    return [$out, isset($stmt) ? $stmt->columnCount() : 0];
}

/**
 * The row behind the loop is false.
 * want P2 refused: end
 */
function lastOfWhile(PDO $pdo, array $ids): array
{
    $out = [];
    $row = null;
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        while ($row = $stmt->fetch()) {
            $out[] = $row;
        }
        $out[] = $row;
    }
    return $out;
}

/**
 * It ends with the first word of "0", or none.
 * want P2 refused: end
 */
function starsOfWhile(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT stars FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        while ($stars = $stmt->fetchColumn()) {
            $out[] = $stars;
        }
    }
    return $out;
}

/**
 * The loop takes two rows in a turn.
 * want P2 refused: left
 */
function twoAtOnce(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        while ($row = $stmt->fetch()) {
            $out[] = [$row, $stmt->fetch()];
        }
    }
    return $out;
}

/**
 * The rest is read behind the loop.
 * want P2 refused: left
 */
function restOfWhile(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        while ($row = $stmt->fetch()) {
            $out[] = $row;
            break;
        }
        $out[] = count($stmt->fetchAll());
    }
    return $out;
}

/**
 * It writes to the list's table while it goes through it.
 * want P2 refused: writes
 * want P4 refused: statement
 */
function raisesInWhile(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, stars FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$post['user_id']]);
        while ($row = $stmt->fetch()) {
            $pdo->prepare('UPDATE comments SET stars = stars + 1 WHERE post_id = ?')->execute([$row['stars']]);
            $out[] = $row;
        }
    }
    return $out;
}

/**
 * Another statement is in the variable from the second row on.
 * want P2 refused: left
 */
function changesStatement(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, user_id FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->execute([$id]);
        while ($row = $stmt->fetch()) {
            $out[] = $row;
            $stmt = $pdo->prepare('SELECT id, user_id FROM comments WHERE post_id = -1 AND id > ? ORDER BY id LIMIT 1');
            $stmt->execute([$row['id']]);
        }
    }
    return $out;
}
