<?php
// want P10 refused: arguments
function db(string $name): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ";dbname=$name", 'root', '');
}

foreach (['app', 'other'] as $name) {
    echo json_encode(db($name)->query('SELECT name FROM users ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)), "\n";
}
