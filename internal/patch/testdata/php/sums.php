<?php
// Aggregates read by key in each turn.

/**
 * want P2
 */
function commentCounts(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT COUNT(*) FROM comments WHERE post_id = ?');
        $stmt->execute([$post['id']]);
        $count = $stmt->fetchColumn();
        $out[] = $count;
    }
    return $out;
}

/**
 * want P2
 */
function countsInPosts(PDO $pdo, array $posts): array
{
    $stmt = $pdo->prepare('SELECT COUNT(DISTINCT c.user_id) FROM comments c WHERE c.stars > :least AND c.post_id = :post');
    foreach ($posts as &$post) {
        $stmt->execute([':post' => $post['user_id'], ':least' => '0']);
        $post['count'] = (int) $stmt->fetchColumn();
    }
    unset($post);
    return $posts;
}

/**
 * No rows, or none with a value: null.
 * want P2
 */
function totals(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT SUM(price) FROM comments WHERE post_id = ?');
        $stmt->execute([$id]);
        $total = $stmt->fetchColumn();
        $out[] = $total;
    }
    return $out;
}

/**
 * want P2
 */
function starsInPosts(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $i => $post) {
        $q = $pdo->prepare('SELECT MAX(stars) AS most FROM comments WHERE post_id = ? AND stars IS NOT NULL');
        $q->execute([$post['id']]);
        $out[$i][] = $q->fetchColumn() ?? 'none';
    }
    return $out;
}

/**
 * want P2
 */
function lastDays(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $row = $pdo->query("SELECT MAX(day) AS day FROM comments WHERE post_id = '{$post['id']}'")->fetch(PDO::FETCH_ASSOC);
        $out[] = $row['day'] ?? '-';
    }
    return $out;
}

/**
 * want P2
 */
function averages(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT AVG(stars) FROM comments WHERE post_id = :id');
        $stmt->bindValue('id', $id);
        $stmt->execute();
        $row = $stmt->fetch(PDO::FETCH_BOTH);
        $out[] = $row;
    }
    return $out;
}

/**
 * want P2
 */
function sumInText(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[] = $pdo->query('SELECT SUM(stars) FROM comments WHERE post_id = ' . intval($id))->fetchColumn();
    }
    return $out;
}

function count_comments(PDO $pdo, $post): int
{
    $stmt = $pdo->prepare('SELECT COUNT(*) FROM comments WHERE post_id = ?');
    $stmt->execute([$post]);
    return (int) $stmt->fetchColumn();
}

function sum_of(PDO $pdo, $post)
{
    $stmt = $pdo->prepare('SELECT SUM(stars) FROM comments WHERE post_id = ?');
    $stmt->execute([$post]);
    return $stmt->fetchColumn();
}

/**
 * want P2
 */
function countedPosts(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        if (count_comments($pdo, $post['user_id']) > 1) {
            $out[] = $post;
        }
    }
    return $out;
}

/**
 * want P2
 */
function summedPosts(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = [$post['id'] => sum_of($pdo, $post['id'])];
    }
    return $out;
}

/**
 * want P2
 * want P2
 */
function sumsSent(array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = row('SELECT COUNT(*) AS n FROM comments WHERE post_id = ?', [$post['user_id']])['n'];
        $out[] = query('SELECT MIN(price) FROM comments WHERE post_id = ? AND stars > ?', [$post['id'], 1])->fetchColumn();
    }
    return $out;
}

/**
 * want P2
 */
function linkSums(mysqli $link, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $result = mysqli_query($link, "SELECT COUNT(*) AS n FROM comments WHERE post_id = " . (int) $post['user_id']);
        $row = mysqli_fetch_assoc($result);
        $out[] = $row['n'];
    }
    return $out;
}

/**
 * want P2
 */
function linkTotals(mysqli $link, array $ids): array
{
    $out = [];
    $most = 3;
    foreach ($ids as $id) {
        $stmt = $link->prepare('SELECT SUM(price) FROM comments WHERE stars < ? AND post_id = ?');
        $stmt->bind_param('ii', $most, $id);
        $stmt->execute();
        $result = $stmt->get_result();
        $total = $result->fetch_row();
        $out[] = $total[0];
    }
    return $out;
}
