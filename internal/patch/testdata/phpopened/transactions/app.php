<?php
// Each transaction ends where it begins, and asks nothing beside it.
$config = ['socket' => getenv('DB_SOCKET'), 'user' => 'root'];

// want P10
function db(): PDO
{
    global $config;
    $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
    $pdo = new PDO("mysql:unix_socket={$config['socket']};dbname=app", $config['user'], '', $options);
    return $pdo;
}

function scores(): array
{
    return db()->query('SELECT id, score FROM users ORDER BY id')->fetchAll(PDO::FETCH_KEY_PAIR);
}

function give(int $from, int $to, int $points): bool
{
    $pdo = db();
    $pdo->beginTransaction();
    try {
        $stmt = $pdo->prepare('UPDATE users SET score = score + ? WHERE id = ?');
        $stmt->execute([-$points, $from]);
        $stmt->execute([$points, $to]);
        $left = $pdo->query('SELECT MIN(score) FROM users')->fetchColumn();
        if ($left < 0) {
            throw new RuntimeException('not as many');
        }
        $pdo->commit();
        return true;
    } catch (Throwable $e) {
        $pdo->rollBack();
        return false;
    }
}

foreach ([[1, 2, 2], [1, 3, 2], [2, 3, 7]] as [$from, $to, $points]) {
    echo json_encode([give($from, $to, $points), scores()]), "\n";
}
