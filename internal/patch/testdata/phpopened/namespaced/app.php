<?php
namespace Shop;

final class Link
{
    // want P10
    public static function get(): \mysqli
    {
        return new \mysqli('localhost', 'root', '', 'app', 0, getenv('DB_SOCKET'));
    }
}

function names(int $least): array
{
    $link = Link::get();
    $stmt = $link->prepare('SELECT name FROM users WHERE score >= ? ORDER BY id');
    $stmt->bind_param('i', $least);
    $stmt->execute();
    $result = $stmt->get_result();
    $rows = $result->fetch_all();
    $result->close();
    $stmt->close();
    return $rows;
}

function rename(int $id, string $name): int
{
    $link = Link::get();
    $link->query("UPDATE users SET name = '" . $link->real_escape_string($name) . "' WHERE id = $id");
    return $link->affected_rows;
}

foreach ([0, 4, 9] as $least) {
    echo json_encode([names($least), rename($least, "it's")]), "\n";
}
echo json_encode(names(0)), "\n";
