<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// Another insert comes between.
function audit(string $text): void
{
    db()->prepare('INSERT INTO notes (user_id, text) VALUES (0, ?)')->execute([$text]);
}

function note(int $user): int
{
    $pdo = db();
    $pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)')->execute([$user, 'n']);
    audit("for $user");
    return (int) $pdo->lastInsertId();
}

echo json_encode([note(1), note(2)]), "\n";
