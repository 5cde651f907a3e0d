<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
}

function all(): array
{
    $out = [];
    foreach (db()->query('SELECT id FROM users ORDER BY id') as $row) {
        $stmt = db()->query('SELECT name FROM users WHERE id = ' . $row['id']);
        $out[] = $stmt->fetchAll(PDO::FETCH_NUM);
    }
    return $out;
}

try {
    echo json_encode(all()), "\n";
} catch (PDOException $e) {
    echo $e->getMessage(), "\n";
}
