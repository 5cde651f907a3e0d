<?php
// Loops over lists with the read in them.

/**
 * want P1
 */
function authors(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $user ? $user['name'] : 'nobody';
    }
    return $out;
}

/**
 * want P1
 */
function named(PDO $pdo, array $posts): string
{
    $text = '';
    $stmt = $pdo->prepare("SELECT * FROM users WHERE id = :id AND lang = :lang");
    foreach ($posts as $i => $post) {
        if ($post['user_id'] === null) {
            continue;
        }
        $stmt->execute([':id' => $post['user_id'], ':lang' => 'en']);
        $author = $stmt->fetch(PDO::FETCH_ASSOC);
        if (!$author) {
            $text .= "$i: none\n";
            continue;
        }
        $text .= $i . ': ' . $author['name'] . "\n";
        if (strlen($text) > 200) {
            break;
        }
    }
    return $text;
}

/**
 * want P1
 */
function bound(PDO $db, $ids)
{
    $names = [];
    foreach ($ids as $id) {
        $q = $db->prepare('
            SELECT u.name
            FROM users AS u
            WHERE u.id = :id
            LIMIT 1
        ');
        $q->bindValue(':id', $id, PDO::PARAM_INT);
        $q->execute();
        $names[] = $q->fetchColumn();
    }
    return $names;
}

/**
 * want P1
 */
function conditional(PDO $pdo, array $ids, string $lang): array
{
    $out = [];
    foreach ($ids as $id) {
        $find = $pdo->prepare('SELECT score, boss_id FROM users WHERE lang = ? AND id = ? AND score IS NOT NULL');
        $find->execute([$lang, $id]);
        if ($row = $find->fetch(PDO::FETCH_NUM)) {
            $out[] = $row[0] + $row[1];
        } else {
            $out[] = var_export($row, true);
        }
    }
    return $out;
}

/**
 * want P1
 */
function boths(PDO $pdo, array $posts): array
{
    foreach ($posts as &$post) {
        $s = $pdo->prepare('SELECT * FROM users WHERE id = ?');
        $s->execute(array($post['user_id']));
        $post['author'] = $s->fetch(PDO::FETCH_BOTH);
        $post['title'] = strtoupper($post['title']);
    }
    unset($post);
    return $posts;
}

/**
 * want P1
 */
function keysOfList(array $scores): array
{
    $out = [];
    foreach ($scores as $id => $score) {
        $stmt = db()->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $out[] = [$stmt->fetchColumn(), $score];
    }
    return $out;
}

/**
 * want P1
 */
function byIndex(PDO $pdo, array $posts): array
{
    $out = [];
    for ($i = 0; $i < count($posts); $i++) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$posts[$i]['user_id']]);
        $row = $stmt->fetch();
        $out[] = $row === false ? null : $row;
    }
    return $out;
}

/**
 * want P1
 */
function assignedKey(PDO $pdo, array $posts): array
{
    $out = [];
    $stmt = $pdo->prepare('SELECT name, score FROM users WHERE id = ?');
    foreach ($posts as $post) {
        $id = (int) $post['user_id'];
        $stmt->execute([$id]);
        $out[$post['id']] = $stmt->fetch();
    }
    return $out;
}

/**
 * The loop changes what it goes over: the key of the turn is what counts.
 * want P1
 */
function changesKey(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $post['user_id'] = (int) $post['user_id'] + 1;
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $user;
    }
    return $out;
}

/**
 * want P1
 */
function nested(PDO $pdo, array $groups): array
{
    $out = [];
    foreach ($groups as $name => $posts) {
        foreach ($posts as $post) {
            $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
            $stmt->execute([$post['user_id']]);
            $user = $stmt->fetch();
            $out[$name][] = $user;
        }
    }
    return $out;
}

/**
 * want P1
 */
function listOfCall(PDO $pdo): array
{
    $out = [];
    foreach ($pdo->query('SELECT id, user_id FROM posts ORDER BY id')->fetchAll() as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = [$post['id'], $user];
    }
    return $out;
}

/**
 * want P1
 */
function resultItself(PDO $pdo): array
{
    $out = [];
    foreach ($pdo->query('SELECT id, user_id FROM posts ORDER BY id') as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = [$post, $user];
    }
    return $out;
}

/**
 * want P1
 */
function whileRows(PDO $pdo, int $least): array
{
    $posts = $pdo->prepare('SELECT id, user_id, title FROM posts WHERE id >= ? ORDER BY id');
    $posts->execute([$least]);
    $out = [];
    while ($post = $posts->fetch(PDO::FETCH_ASSOC)) {
        $stmt = $pdo->prepare('SELECT * FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch(PDO::FETCH_ASSOC);
        if ($user === false) {
            continue;
        }
        $post['author'] = $user;
        $out[] = $post;
        if (count($out) > 7) break;
    }
    $posts->closeCursor();
    return $out;
}

/**
 * want P1
 */
function inText(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $out[] = $pdo->query("SELECT name, score FROM users WHERE id = " . (int) $post['user_id'])->fetch();
    }
    return $out;
}

/**
 * want P1
 */
function destructured(PDO $pdo, array $pairs): array
{
    $out = [];
    foreach ($pairs as [$id, $word]) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $user = $stmt->fetch();
        $out[] = $word . json_encode($user);
    }
    return $out;
}

/**
 * want P1
 */
function objectsInList(PDO $pdo): array
{
    $out = [];
    $posts = $pdo->query('SELECT id, user_id FROM posts ORDER BY id DESC')->fetchAll(PDO::FETCH_OBJ);
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post->user_id]);
        $user = $stmt->fetch();
        $out[] = [$post->id, $user];
    }
    return $out;
}

/**
 * Two reads of one loop, the second by what the first gave: only the first is offered.
 * want P1
 * want P1 refused: key
 */
function chain(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT name, boss_id FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        if ($user) {
            $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
            $stmt->execute([$user['boss_id']]);
            $boss = $stmt->fetch();
            $out[] = [$user, $boss];
        }
    }
    return $out;
}

/**
 * Two reads of one result: one patch writes the loop anew for both.
 * want P1
 * want P1
 */
function twoOfResult(PDO $pdo): array
{
    $out = [];
    $stmt = $pdo->query('SELECT id, user_id FROM posts ORDER BY id');
    while ($post = $stmt->fetch()) {
        $user = $pdo->query("SELECT name FROM users WHERE id = '{$post['user_id']}'")->fetch();
        $q = $pdo->prepare('SELECT title, price FROM posts WHERE id = ?');
        $q->execute([$post['id']]);
        $more = $q->fetch();
        $out[] = [$user, $more];
    }
    return $out;
}

/**
 * The row takes the place of what the key is of.
 * want P1
 */
function overwritesKey(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $post = $stmt->fetch();
        $out[] = $post;
    }
    return $out;
}
