<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// A connection that goes takes what is not committed with it.
function reserve(int $user, int $points): bool
{
    $pdo = db();
    $pdo->beginTransaction();
    $pdo->prepare('UPDATE users SET score = score - ? WHERE id = ?')->execute([$points, $user]);
    if ($pdo->query('SELECT MIN(score) FROM users')->fetchColumn() < 0) {
        return false;
    }
    $pdo->commit();
    return true;
}

function scores(): array
{
    return db()->query('SELECT score FROM users ORDER BY id')->fetchAll();
}

echo json_encode([reserve(1, 2), scores()]), "\n";
echo json_encode([reserve(1, 2), scores()]), "\n";
