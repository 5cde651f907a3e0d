<?php
// want P10 refused: arguments
function db(): PDO
{
    $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=' . (getenv('DB_NAME') ?: 'app'), 'root', '');
    return $pdo;
}

function names(): array
{
    return db()->query('SELECT name FROM users ORDER BY id')->fetchAll(PDO::FETCH_COLUMN);
}

echo json_encode(names()), "\n";
putenv('DB_NAME=other');
echo json_encode(names()), "\n";
