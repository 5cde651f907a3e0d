<?php
$opened = 0;

// want P10 refused: function
function db(): PDO
{
    global $opened;
    $opened++;
    $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '');
    return $pdo;
}

function users(): int
{
    return (int) db()->query('SELECT COUNT(*) FROM users')->fetchColumn();
}

echo json_encode([users(), users(), $opened]), "\n";
