<?php
// Lists read by key in each turn.

/**
 * want P2
 */
function comments(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, text FROM comments WHERE post_id = ? ORDER BY stars, id DESC');
        $stmt->execute([$post['id']]);
        $comments = $stmt->fetchAll();
        $out[$post['id']] = $comments;
    }
    return $out;
}

/**
 * want P2
 */
function latest(PDO $pdo, array $posts): array
{
    $stmt = $pdo->prepare("SELECT * FROM comments WHERE post_id = :post AND (stars > :stars OR stars IS NULL) ORDER BY id DESC LIMIT 2");
    foreach ($posts as &$post) {
        $stmt->execute(['post' => $post['user_id'], 'stars' => -1]);
        $post['comments'] = $stmt->fetchAll(PDO::FETCH_ASSOC);
        $post['comments'][] = count($post['comments']);
    }
    unset($post);
    return $posts;
}

/**
 * want P2
 */
function wordsUntil(PDO $pdo, array $ids): array
{
    $words = [];
    foreach ($ids as $id) {
        $q = $pdo->prepare('SELECT text FROM comments WHERE post_id = ?');
        $q->execute([$id]);
        $words = array_merge($words, $q->fetchAll(PDO::FETCH_COLUMN));
        if (count($words) > 20) {
            break;
        }
    }
    return $words;
}

/**
 * want P2
 */
function withAuthors(PDO $db, array $ids): string
{
    $html = '';
    foreach ($ids as $id) {
        $statement = $db->prepare('
            SELECT c.text, u.name, c.price
            FROM comments c
            LEFT JOIN users u ON u.id = c.user_id
            WHERE c.post_id = :id
            ORDER BY c.id
        ');
        $statement->bindValue(':id', $id, PDO::PARAM_INT);
        $statement->execute();
        foreach ($statement->fetchAll(PDO::FETCH_NUM) as [$text, $name, $price]) {
            $html .= "<li>$text ($name) $price\n";
        }
    }
    return $html;
}

/**
 * want P2
 */
function someOf(PDO $pdo, array $posts, int $most): array
{
    $out = [];
    foreach ($posts as $i => $post) {
        $stmt = $pdo->prepare('SELECT id, stars FROM comments WHERE post_id = :post ORDER BY day DESC, id LIMIT :most');
        $stmt->bindValue(':post', $post['user_id']);
        $stmt->bindValue(':most', $most, PDO::PARAM_INT);
        $stmt->execute();
        $out[$i] = array_map('json_encode', $stmt->fetchAll(PDO::FETCH_BOTH));
    }
    return $out;
}

/**
 * want P2
 */
function listsInText(PDO $pdo, array $posts): int
{
    $sum = 0;
    foreach ($posts as $post) {
        foreach ($pdo->query('SELECT stars FROM comments WHERE post_id = ' . (int) $post['user_id'] . ' ORDER BY id')->fetchAll() as $comment) {
            $sum = $sum * 3 % 1000 + $comment['stars'];
        }
    }
    return $sum;
}

/**
 * Texts are compared as they were.
 * want P2
 */
function byText(PDO $pdo, array $words): array
{
    $out = [];
    foreach ($words as $word) {
        $stmt = $pdo->prepare('SELECT id FROM comments WHERE text = ? ORDER BY id');
        $stmt->execute([$word]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

/**
 * Above a key, and grouped.
 * want P2
 */
function starsAbove(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT stars, COUNT(*) AS n, AVG(price) AS price FROM comments WHERE post_id > ? GROUP BY stars ORDER BY n DESC, stars');
        $stmt->execute([$id]);
        $out[] = $stmt->fetchAll();
    }
    return $out;
}

function commentsOf(PDO $pdo, $post, $least = 0)
{
    $sql = 'SELECT id, text, day FROM comments WHERE post_id = ? AND id > ? ORDER BY id DESC';
    $stmt = $pdo->prepare($sql);
    $stmt->execute([$post, $least]);
    return $stmt->fetchAll();
}

/**
 * want P2
 */
function allComments(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        foreach (commentsOf($pdo, $post['id'], 3) as $comment) {
            $out[] = $comment['text'] . $comment['day'];
        }
    }
    return $out;
}

/**
 * want P2
 */
function listsSent(array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = all_rows('SELECT c.id, c.text FROM comments AS c WHERE c.stars > ? AND c.post_id = ? ORDER BY c.id', [0, $post['user_id']]);
    }
    return $out;
}

/**
 * want P2
 */
function listsFetched(array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[$id] = query('SELECT text FROM comments WHERE post_id = :id ORDER BY id LIMIT 1', ['id' => $id])->fetchAll(PDO::FETCH_COLUMN);
    }
    return $out;
}

/**
 * want P2
 */
function linkLists(mysqli $link, array $posts): array
{
    $out = [];
    $like = 'c1%';
    foreach ($posts as $post) {
        $stmt = $link->prepare('SELECT id, text, price FROM comments WHERE post_id = ? AND (text LIKE ? OR stars = 1) ORDER BY id');
        $stmt->bind_param('is', $post['id'], $like);
        $stmt->execute();
        $out[] = $stmt->get_result()->fetch_all(MYSQLI_ASSOC);
    }
    return $out;
}

/**
 * want P2
 */
function linkTexts(mysqli $link, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $id = mysqli_real_escape_string($link, (string) $id);
        $result = mysqli_query($link, "SELECT id, text FROM comments WHERE post_id = '$id' ORDER BY id DESC");
        $list = mysqli_fetch_all($result);
        $out[] = $list;
    }
    return $out;
}

/**
 * want P2
 */
function whileComments(PDO $pdo, array $posts): array
{
    $out = [];
    $stmt = $pdo->prepare('SELECT id, text FROM comments WHERE post_id = :id ORDER BY stars DESC, id');
    foreach ($posts as $post) {
        $stmt->execute(['id' => $post['user_id']]);
        while ($comment = $stmt->fetch()) {
            if ($comment['text'] === 'a') {
                break;
            }
            $out[$post['id']][] = $comment['text'] . $comment['id'];
        }
    }
    return $out;
}

/**
 * want P2
 */
function linkWhile(mysqli $link, array $posts): string
{
    $text = '';
    foreach ($posts as $post) {
        $text .= "$post[title]:";
        $result = mysqli_query($link, "SELECT text, stars FROM comments WHERE post_id = " . (int) $post['user_id'] . " ORDER BY id");
        while ($row = mysqli_fetch_assoc($result)) {
            if (!$row['stars']) continue;
            $text .= ' ' . $row['text'] . $row['stars'];
        }
    }
    return $text;
}

/**
 * want P2
 */
function overStatement(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT text FROM comments WHERE post_id = ? ORDER BY id DESC');
        $stmt->execute([$id]);
        foreach ($stmt as $i => $row) {
            $out[] = "$i " . $row['text'];
        }
    }
    return $out;
}

/**
 * The readers of both loops are one patch.
 * want P2
 * want P1
 */
function authorsOfLists(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        foreach ($pdo->query("SELECT id, user_id FROM comments WHERE post_id = '{$post['id']}' ORDER BY id") as $comment) {
            $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
            $stmt->execute([$comment['user_id']]);
            $user = $stmt->fetch();
            $out[] = [$comment, $user];
        }
    }
    return $out;
}

/**
 * want P2
 */
function linkRows(mysqli $link, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $link->prepare('SELECT id, stars FROM comments WHERE post_id = ? ORDER BY id');
        $stmt->bind_param('s', $id);
        $stmt->execute();
        foreach ($stmt->get_result() as $row) {
            $out[] = $row;
        }
    }
    return $out;
}

/**
 * want P2
 */
function deepLists(PDO $pdo, array $groups): array
{
    $out = [];
    foreach ($groups as $name => $posts) {
        foreach ($posts as $post) {
            $stmt = $pdo->prepare('SELECT text FROM comments WHERE post_id = ? ORDER BY id LIMIT 3');
            $stmt->execute([$post['id']]);
            while (($comment = $stmt->fetch(PDO::FETCH_NUM)) !== false) {
                $out[$name][] = $comment[0];
            }
        }
    }
    return $out;
}
