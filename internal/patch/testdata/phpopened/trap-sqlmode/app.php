<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

function strict(): array
{
    $pdo = db();
    $pdo->exec("SET SESSION sql_mode = 'ANSI_QUOTES'");
    return $pdo->query('SELECT "name" FROM users ORDER BY id')->fetchAll();
}

function plain(): array
{
    return db()->query('SELECT "name" AS n FROM users ORDER BY id')->fetchAll();
}

echo json_encode([plain(), strict(), plain()]), "\n";
