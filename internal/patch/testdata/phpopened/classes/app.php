<?php
class Database
{
    private const USER = 'root';

    // want P10
    public static function open(): PDO
    {
        try {
            $db = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', self::USER, '');
            $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
            $db->exec("SET NAMES utf8mb4");
            return $db;
        } catch (PDOException $e) {
            die('no database: ' . $e->getMessage());
        }
    }
}

class Users
{
    public function name(int $id): ?string
    {
        $stmt = Database::open()->prepare('SELECT name FROM users WHERE id = :id');
        $stmt->bindValue(':id', $id, PDO::PARAM_INT);
        $stmt->execute();
        return $stmt->fetchColumn() ?: null;
    }

    public function count(): int
    {
        return (int) Database::open()->query('SELECT COUNT(*) FROM users')->fetchColumn();
    }
}

$users = new Users();
foreach ([3, 2, 7] as $id) {
    echo json_encode([$users->name($id), $users->count()]), "\n";
}
