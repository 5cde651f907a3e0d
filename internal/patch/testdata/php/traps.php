<?php
// Loops that look alike and must stay.

/**
 * The loop changes the row that a later turn reads.
 * want P1 refused: writes
 * want P4 refused: statement
 */
function raises(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $pdo->prepare('UPDATE users SET score = score + 1 WHERE id = ?')->execute([$post['user_id']]);
        $out[] = $user;
    }
    return $out;
}

/**
 * The same, in a function that the loop calls.
 * want P1 refused: writes
 */
function raisesByFunction(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        raise_score($pdo, $post['user_id']);
        $out[] = $user;
    }
    return $out;
}

function raise_score(PDO $pdo, $id): void
{
    $stmt = $pdo->prepare('UPDATE users SET score = score + 1 WHERE id = ?');
    $stmt->execute([$id]);
}

/**
 * Nobody knows what the function does.
 * want P1 refused: calls
 */
function callsBack(PDO $pdo, array $posts, callable $then): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $then($user);
    }
    return $out;
}

/**
 * want P1 refused: statement
 */
function locks(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ? FOR UPDATE');
        $stmt->execute([$post['user_id']]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Collations: 'A' finds 'a', and 'a ' does.
 * want P1 refused: key
 */
function byNick(PDO $pdo, array $nicks): array
{
    $out = [];
    foreach ($nicks as $nick) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE nick = ?');
        $stmt->execute([$nick]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Several rows, of which one comes first.
 * want P1 refused: key
 */
function firstPost(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, title FROM posts WHERE user_id = ? LIMIT 1');
        $stmt->execute([$id]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * want P1 refused: key
 */
function padded(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, name FROM padded WHERE id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * want P1 refused: key
 */
function weights(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, name FROM weights WHERE id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Its text is put together.
 * want P1 refused: constant
 */
function ofTable(PDO $pdo, array $ids, string $table): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare("SELECT * FROM $table WHERE id = ?");
        $stmt->execute([$id]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Each object is one of its own.
 * want P1 refused: mode
 */
function objects(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $user = $stmt->fetch(PDO::FETCH_OBJ);
        if ($user) {
            $user->name .= '!';
        }
        $out[] = $user;
    }
    return $out;
}

/**
 * want P1 refused: mode
 */
function modeGiven(PDO $pdo, array $ids, int $mode): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $out[] = $stmt->fetch($mode);
    }
    return $out;
}

/**
 * Another connection in each turn.
 * want P1 refused: handle
 */
function shards(PDO $pdo, array $posts): array
{
    $out = [];
    $other = connect();
    foreach ($posts as $i => $post) {
        $at = $i % 2 ? $pdo : $other;
        $stmt = $at->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Nobody knows what the connection is.
 * want P1 refused: handle
 */
function wrapped(object $wrapper, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $wrapper->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Somebody looks at the statement later.
 * want P1 refused: left
 */
function counts(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = [$user, $stmt->rowCount()];
    }
    return $out;
}

/**
 * want P1 refused: left
 */
function countsAtEnd(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $user;
    }
    return [$out, isset($stmt) ? $stmt->rowCount() : 0];
}

/**
 * The next key is of the row.
 * want P1 refused: key
 */
function upwards(PDO $pdo, int $id): array
{
    $out = [];
    for ($i = 0; $i < 5; $i++) {
        $stmt = $pdo->prepare('SELECT name, boss_id FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $user = $stmt->fetch();
        if (!$user || $user['boss_id'] === null) {
            break;
        }
        $out[] = $user['name'];
        $id = $user['boss_id'];
    }
    return $out;
}

/**
 * Two values change.
 * want P1 refused: key
 */
function twoValues(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ? AND lang = ?');
        $stmt->execute([$post['user_id'], $post['lang'] ?? 'en']);
        $out[] = $stmt->fetch();
    }
    return $out;
}

/**
 * Not the key's equal.
 * want P1 refused: statement
 */
function below(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id < ?');
        $stmt->execute([$id]);
        $out[] = count([$stmt->fetch()]);
    }
    return $out;
}

/**
 * Whoever goes through it may do anything between.
 * want P1 refused: calls
 */
function oneByOne(PDO $pdo, array $posts): Generator
{
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        yield $user;
    }
}

/**
 * In a transaction, for all that is known, and it writes.
 * want P1 refused: writes
 */
function logs(PDO $pdo, array $posts): array
{
    $out = [];
    foreach ($posts as $post) {
        $pdo->exec("INSERT INTO log (text) VALUES ('seen')");
        $stmt = $pdo->prepare('SELECT score FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $user;
    }
    return $out;
}

function in_transaction(PDO $pdo, callable $work)
{
    $pdo->beginTransaction();
    $out = $work();
    $pdo->commit();
    return $out;
}

/**
 * The statement stands after the loop has begun to use it again.
 * want P1 refused: statement
 */
function otherBetween(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT name, RAND() AS r FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $out[] = is_array($stmt->fetch());
    }
    return $out;
}

/**
 * The rest of the result is read behind the loop.
 * want P1 refused: end
 */
function restOfResult(PDO $pdo): array
{
    $out = [];
    $posts = $pdo->query('SELECT id, user_id FROM posts ORDER BY id');
    while ($post = $posts->fetch()) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch();
        $out[] = $user;
        if (!$user) {
            break;
        }
    }
    return [$out, $posts->fetchAll()];
}

/**
 * The first value that is empty ends it.
 * want P1 refused: end
 */
function columnsOfResult(PDO $pdo): array
{
    $out = [];
    $posts = $pdo->query('SELECT user_id FROM posts ORDER BY id');
    while ($id = $posts->fetchColumn()) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $user = $stmt->fetch();
        $out[] = $user;
    }
    return $out;
}

/**
 * A text is compared with a number in another way than with a text.
 * want P1 refused: statement
 */
function numbersBound(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = :id AND lang = :lang');
        $stmt->bindValue(':id', $id);
        $stmt->bindValue(':lang', 0, PDO::PARAM_INT);
        $stmt->execute();
        $row = $stmt->fetch();
        $out[] = $row;
    }
    return $out;
}

/**
 * want P1 refused: mode
 */
function modeSet(PDO $pdo, array $ids): array
{
    $out = [];
    $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
    $stmt->setFetchMode(PDO::FETCH_NUM);
    foreach ($ids as $id) {
        $stmt->execute([$id]);
        $row = $stmt->fetch();
        $out[] = $row;
    }
    return $out;
}

/**
 * want P1 refused: left
 */
function compacts(PDO $pdo, array $ids): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $row = $stmt->fetch();
        $out[] = count(compact('row', 'stmt'));
    }
    return $out;
}

/**
 * Nothing is known of what is included.
 * want P1 refused: calls
 */
function includes(PDO $pdo, array $ids, string $file): array
{
    $out = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $row = $stmt->fetch();
        include $file;
        $out[] = $row;
    }
    return $out;
}
