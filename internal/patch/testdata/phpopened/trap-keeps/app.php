<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// Numbers are drawn beside the transaction, which does not give them back.
function fresh(): int
{
    static $counter = null;
    $counter ??= db();
    $counter->exec('UPDATE users SET score = score + 1 WHERE id = 3');
    return (int) $counter->query('SELECT score FROM users WHERE id = 3')->fetchColumn();
}

function pay(int $user): void
{
    $pdo = db();
    $pdo->beginTransaction();
    try {
        $pdo->exec("UPDATE users SET score = score - 4 WHERE id = $user");
        $number = fresh();
        $pdo->exec("INSERT INTO notes (user_id, text) VALUES ($user, '$number')");
        if ($pdo->query("SELECT score FROM users WHERE id = $user")->fetchColumn() < 0) {
            throw new RuntimeException('too little');
        }
        $pdo->commit();
    } catch (Throwable $e) {
        $pdo->rollBack();
    }
}

fresh();
foreach ([1, 2] as $user) {
    pay($user);
}
echo json_encode(db()->query('SELECT user_id, text FROM notes')->fetchAll()), "\n";
