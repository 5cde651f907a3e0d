<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// The id is asked of another connection than the one of the statement.
function note(int $user): int
{
    $pdo = db();
    $stmt = $pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)');
    $pdo = db();
    $stmt->execute([$user, 'n']);
    return (int) $pdo->lastInsertId();
}

echo json_encode([note(1), note(2)]), "\n";
