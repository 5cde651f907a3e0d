<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// Whether the last statement failed is asked of a connection that has sent none.
function failed(): bool
{
    try {
        db()->query('SELECT nothing FROM users');
    } catch (PDOException $e) {
    }
    return db()->errorCode() !== null && db()->errorCode() !== '00000';
}

echo json_encode([failed(), failed()]), "\n";
