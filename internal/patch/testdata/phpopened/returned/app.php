<?php
// One function sends all statements, over a connection that it opens for each.

define('DB_NAME', 'app');

// want P10
function connect()
{
    return new PDO(
        sprintf('mysql:unix_socket=%s;dbname=%s', $_SERVER['DB_SOCKET'] ?? getenv('DB_SOCKET'), DB_NAME),
        'root',
        '',
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_NUM]
    );
}

function rows($sql, array $values = [])
{
    $stmt = connect()->prepare($sql);
    $stmt->execute($values);
    return $stmt->fetchAll();
}

for ($i = 0; $i < 4; $i++) {
    echo json_encode(rows('SELECT name FROM users WHERE score > ? ORDER BY id', [$i])), "\n";
}
echo json_encode(rows('SELECT COUNT(*) FROM notes')), "\n";
