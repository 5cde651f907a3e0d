<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// Two connections that were there before the transaction.
function pay(int $user): void
{
    $log = db();
    $pdo = db();
    $pdo->beginTransaction();
    try {
        $pdo->exec("UPDATE users SET score = score - 4 WHERE id = $user");
        $log->exec("INSERT INTO notes (user_id, text) VALUES ($user, 'tried')");
        if ($pdo->query('SELECT MIN(score) FROM users')->fetchColumn() < 0) {
            throw new RuntimeException('too little');
        }
        $pdo->commit();
    } catch (Throwable $e) {
        $pdo->rollBack();
    }
}

foreach ([1, 2] as $user) {
    pay($user);
}
echo json_encode(db()->query('SELECT user_id, text FROM notes')->fetchAll()), "\n";
