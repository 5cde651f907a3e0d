<?php
class Pool
{
    private static $turn = 0;

    // want P10 refused: arguments
    public static function next(): PDO
    {
        $name = ['app', 'other'][self::$turn++ % 2];
        $pdo = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ";dbname=$name", 'root', '');
        return $pdo;
    }
}

foreach ([1, 2, 3] as $i) {
    echo json_encode(Pool::next()->query('SELECT name FROM users ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)), "\n";
}
