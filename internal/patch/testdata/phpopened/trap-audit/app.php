<?php
// want P10 refused: session
function db(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

// An object with a connection of its own.
class Audit
{
    private PDO $pdo;

    public function __construct()
    {
        $this->pdo = db();
    }

    public function tried(int $user): void
    {
        $this->pdo->prepare('INSERT INTO notes (user_id, text) VALUES (?, ?)')->execute([$user, 'tried']);
    }
}

function pay(Audit $audit, int $user): void
{
    $pdo = db();
    try {
        $pdo->beginTransaction();
        $pdo->exec("UPDATE users SET score = score - 4 WHERE id = $user");
        $audit->tried($user);
        if ($pdo->query('SELECT MIN(score) FROM users')->fetchColumn() < 0) {
            throw new RuntimeException('too little');
        }
        $pdo->commit();
    } catch (Throwable $e) {
        $pdo->rollBack();
    }
}

$audit = new Audit();
foreach ([1, 2] as $user) {
    pay($audit, $user);
}
echo json_encode(db()->query('SELECT user_id, text FROM notes')->fetchAll()), "\n";
