<?php
// want P10 refused: session
function db(): mysqli
{
    return new mysqli('localhost', 'root', '', 'app', 0, getenv('DB_SOCKET'));
}

// The rows come one by one, and other statements in between.
function all(): array
{
    $out = [];
    $link = db();
    $stmt = $link->prepare('SELECT id FROM users ORDER BY id');
    $stmt->execute();
    $stmt->bind_result($id);
    while ($stmt->fetch()) {
        $other = db();
        $out[] = $other->query("SELECT name FROM users WHERE id = $id")->fetch_row();
    }
    return $out;
}

try {
    echo json_encode(all()), "\n";
} catch (mysqli_sql_exception $e) {
    echo $e->getMessage(), "\n";
}
