<?php
// The database of the account whose turn it is.
$database = 'app';

// want P10 refused: arguments
function db(): PDO
{
    global $database;
    $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ";dbname=$database", 'root', '');
    return $pdo;
}

function names(): array
{
    return db()->query('SELECT name FROM users ORDER BY id')->fetchAll(PDO::FETCH_COLUMN);
}

echo json_encode(names()), "\n";
$database = 'other';
echo json_encode(names()), "\n";
