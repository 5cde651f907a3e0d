<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

function pairs(): array
{
    $pdo = db();
    $pdo->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_NUM);
    return $pdo->query('SELECT id, score FROM users ORDER BY id')->fetchAll();
}

function rows(): array
{
    return db()->query('SELECT id, name FROM users ORDER BY id')->fetchAll();
}

echo json_encode([rows(), pairs(), rows()]), "\n";
