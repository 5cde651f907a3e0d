<?php
// As tutorials have it: an object of its own for each statement.
class Connection
{
    private $user = 'root';
    private $password = '';
    public $conn;

    // want P10
    public function getConnection()
    {
        $this->conn = null;

        try {
            $this->conn = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=app', $this->user, $this->password);
        } catch (PDOException $exception) {
            echo 'Connection error: ' . $exception->getMessage();
        }

        return $this->conn;
    }
}

function score($id)
{
    $connection = new Connection();
    $connection->getConnection();
    $stmt = $connection->conn->prepare('SELECT score FROM users WHERE id = ?');
    $stmt->execute([$id]);
    return $stmt->fetchColumn();
}

function raise($id)
{
    $db = (new Connection())->getConnection();
    return $db->exec('UPDATE users SET score = score + 1 WHERE id = ' . (int) $id);
}

foreach ([1, 1, 3] as $id) {
    echo json_encode([raise($id), score($id)]), "\n";
}
