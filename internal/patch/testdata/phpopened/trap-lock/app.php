<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// A lock ends with its connection, and is not had twice by two.
function held(): array
{
    $first = db();
    $second = db();
    $one = $first->query("SELECT GET_LOCK('one', 0) AS l")->fetch();
    return [$one, $second->query("SELECT GET_LOCK('one', 0) AS l")->fetch()];
}

echo json_encode([held(), held()]), "\n";
