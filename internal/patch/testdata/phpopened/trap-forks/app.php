<?php
// want P10 refused: request
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// A process that ends takes the connection with it.
function users(): int
{
    return (int) db()->query('SELECT COUNT(*) FROM users')->fetchColumn();
}

function work(): void
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        users();
        exit;
    }
    pcntl_waitpid($pid, $status);
}

echo json_encode(users()), "\n";
flush();
work();
try {
    echo json_encode(users()), "\n";
} catch (PDOException $e) {
    echo $e->getMessage(), "\n";
}
