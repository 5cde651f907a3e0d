<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// Only errors of statements roll back; what else goes wrong ended with the connection.
function check(int $left): void
{
    if ($left < 0) {
        throw new RuntimeException('too little');
    }
}

function take(int $user): void
{
    $pdo = db();
    $pdo->beginTransaction();
    try {
        $pdo->prepare('UPDATE users SET score = score - 4 WHERE id = ?')->execute([$user]);
        check((int) $pdo->query("SELECT score FROM users WHERE id = $user")->fetchColumn());
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
    }
}

foreach ([1, 2] as $user) {
    try {
        take($user);
    } catch (RuntimeException $e) {
        echo $e->getMessage(), "\n";
    }
    echo json_encode(db()->query('SELECT score FROM users ORDER BY id')->fetchAll()), "\n";
}
