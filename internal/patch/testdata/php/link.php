<?php
// The same with mysqli.

/**
 * want P1
 */
function link_authors(mysqli $link, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $link->prepare('SELECT id, name, score FROM users WHERE id = ?');
        $stmt->bind_param('i', $post['user_id']);
        $stmt->execute();
        $result = $stmt->get_result();
        $user = $result->fetch_assoc();
        $out[] = $user ? $user['name'] : 'nobody';
    }
    return $out;
}

/**
 * want P1
 */
function linkOnce(mysqli $link, array $posts, string $lang): array
{
    $out = [];
    $id = 0;
    $stmt = $link->prepare('SELECT * FROM users WHERE lang = ? AND id = ?');
    $stmt->bind_param('si', $lang, $id);
    foreach ($posts as $post) {
        $id = $post['user_id'];
        $stmt->execute();
        $user = $stmt->get_result()->fetch_assoc();
        $out[] = $user;
    }
    $stmt->close();
    return $out;
}

/**
 * want P1
 */
function linkText(array $posts): array
{
    global $conn;
    $out = [];
    foreach ($posts as $post) {
        $id = $post['user_id'];
        $sql = "SELECT name, lang FROM users WHERE id = '$id'";
        $result = mysqli_query($conn, $sql);
        $user = mysqli_fetch_assoc($result);
        $out[] = $user['name'] ?? '-';
    }
    return $out;
}

/**
 * want P1
 */
function linkArrays(mysqli $link): string
{
    $text = '';
    $posts = mysqli_query($link, 'SELECT id, user_id, title FROM posts ORDER BY id');
    while ($post = mysqli_fetch_array($posts)) {
        $q = mysqli_query($link, "SELECT * FROM users WHERE id=" . intval($post['user_id']));
        $row = mysqli_fetch_array($q);
        if ($row) {
            $text .= $post['title'] . ' by ' . $row[1] . '/' . $row['name'] . count($row) . "\n";
        }
    }
    return $text;
}

/**
 * want P1
 */
function linkRow(mysqli $link, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $id = mysqli_real_escape_string($link, (string) $id);
        $out[] = $link->query("SELECT name FROM users WHERE id = '" . $id . "' LIMIT 1")->fetch_row();
    }
    return $out;
}

/**
 * The rows are counted.
 * want P1 refused: left
 */
function linkCounts(mysqli $link, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $result = $link->query("SELECT name FROM users WHERE id = " . (int) $id);
        $row = $result->fetch_assoc();
        $out[] = [$row, $result->num_rows];
    }
    return $out;
}

/**
 * Two values in the text.
 * want P1 refused: constant
 */
function linkTwo(mysqli $link, array $ids, $lang): array
{
    $out = [];
    foreach ($ids as $id) {
        $out[] = $link->query("SELECT name FROM users WHERE id = " . (int) $id . " AND lang = '$lang'")->fetch_assoc();
    }
    return $out;
}

/**
 * want P1 refused: writes
 */
function linkWrites(mysqli $link, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $row = $link->query("SELECT score FROM users WHERE id = " . (int) $id)->fetch_assoc();
        $out[] = $row;
        if ($row) {
            $link->query("UPDATE users SET score = " . ((int) $row['score'] + 1) . " WHERE id = " . (int) $id);
        }
    }
    return $out;
}
