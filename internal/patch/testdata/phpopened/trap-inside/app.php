<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// What is noted stays when the rest is rolled back.
function attempt(int $user): void
{
    db()->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)')->execute([$user, 'tried']);
}

function pay(int $user): bool
{
    $pdo = db();
    $pdo->beginTransaction();
    try {
        $pdo->prepare('UPDATE users SET score = score - 4 WHERE id = ?')->execute([$user]);
        attempt($user);
        $left = (int) $pdo->query("SELECT score FROM users WHERE id = $user")->fetchColumn();
        if ($left < 0) {
            throw new RuntimeException('too little');
        }
        $pdo->commit();
        return true;
    } catch (Throwable $e) {
        $pdo->rollBack();
        return false;
    }
}

foreach ([1, 2] as $user) {
    echo json_encode(pay($user)), "\n";
}
echo json_encode(db()->query('SELECT user_id, text FROM notes')->fetchAll()), "\n";
