<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

function page(): array
{
    $pdo = db();
    $rows = $pdo->query('SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 1')->fetchAll();
    $first = name($rows[0]['id']);
    return [$first, $pdo->query('SELECT FOUND_ROWS() AS n')->fetchAll()];
}

function name($id)
{
    return db()->query('SELECT name FROM users WHERE id <= ' . (int) $id)->fetchAll();
}

echo json_encode([page(), page()]), "\n";
