<?php
class Shard
{
    private $name = 'app';

    // want P10 refused: arguments
    public function open(): PDO
    {
        $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ";dbname={$this->name}", 'root', '');
        return $pdo;
    }

    public function of(string $name): self
    {
        $this->name = $name;
        return $this;
    }
}

foreach (['app', 'other'] as $name) {
    echo json_encode((new Shard())->of($name)->open()->query('SELECT name FROM users ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)), "\n";
}
