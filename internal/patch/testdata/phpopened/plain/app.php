<?php
// want P10
function getPDO(): PDO
{
    $dsn = 'mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app;charset=utf8mb4';
    $pdo = new PDO($dsn, 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $pdo->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_ASSOC);
    return $pdo;
}

function user(int $id)
{
    $stmt = getPDO()->prepare('SELECT id, name, score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetch();
}

function note(int $user, string $text): int
{
    $pdo = getPDO();
    $stmt = $pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)');
    $stmt->execute([$user, strtoupper($text)]);
    $id = (int) $pdo->lastInsertId();
    $pdo = null;
    return $id;
}

function notes(): array
{
    $out = [];
    foreach (getPDO()->query('SELECT id, user_id, text FROM notes ORDER BY id') as $note) {
        $out[] = [$note, user($note['user_id'])];
    }
    return $out;
}

foreach ([1, 2, 9] as $id) {
    echo json_encode([user($id), note($id, "n$id")]), "\n";
}
echo json_encode(notes()), "\n";

class Log
{
    private array $lines = [];

    public function info(string $line): void
    {
        $this->lines[] = $line;
    }

    public function close(): array
    {
        return $this->lines;
    }
}

$log = new Log();
$log->info('Use the notes; begin with those of ann@example.org');
echo json_encode($log->close()), "\n";
