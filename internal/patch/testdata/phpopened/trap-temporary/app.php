<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

function ranked(): array
{
    $pdo = db();
    $pdo->exec('CREATE TEMPORARY TABLE ranks AS SELECT id FROM users ORDER BY score DESC');
    return $pdo->query('SELECT id FROM ranks')->fetchAll();
}

foreach ([1, 2] as $i) {
    try {
        echo json_encode(ranked()), "\n";
    } catch (PDOException $e) {
        echo $e->getMessage(), "\n";
    }
}
