<?php
// want P10 refused: function
function db(): PDO
{
    $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '');
    $pdo->exec("INSERT INTO notes (user_id, text) VALUES (0, 'opened')");
    return $pdo;
}

function notes(): int
{
    return (int) db()->query('SELECT COUNT(*) FROM notes')->fetchColumn();
}

echo json_encode([notes(), notes()]), "\n";
