<?php

declare(strict_types=1);

namespace Shop;

use PDO;

final class Catalogue
{
    public function __construct(private PDO $db, private string $lang)
    {
    }

    /**
     * want P1
     *
     * @param array<int, array<string, mixed>> $posts
     */
    public function authors(array $posts): array
    {
        $out = [];
        foreach ($posts as $post) {
            $statement = $this->db->prepare('SELECT name, score FROM users WHERE id = :id AND lang = :lang');
            $statement->execute(['id' => $post['user_id'], 'lang' => $this->lang]);
            $author = $statement->fetch(PDO::FETCH_ASSOC);
            $out[$post['id']] = $author === false ? null : $author;
        }

        return $out;
    }

    public function find(?int $id): array|false
    {
        $statement = $this->db->prepare('SELECT id, name FROM users WHERE id = ?');
        $statement->execute([$id]);
        $row = $statement->fetch(PDO::FETCH_ASSOC);
        $statement->closeCursor();

        return $row;
    }

    /** want P1 */
    public function all(array $ids): array
    {
        $found = [];
        foreach ($ids as $id) {
            if (!is_int($id)) {
                continue;
            }
            $found[] = $this->find($id);
        }

        return $found;
    }

    public function rename(int $id, string $name): void
    {
        $statement = $this->db->prepare('UPDATE users SET name = ? WHERE id = ?');
        $statement->execute([$name, $id]);
    }

    /**
     * want P1 refused: writes
     */
    public function renameAll(array $ids): array
    {
        $found = [];
        foreach ($ids as $id) {
            if (!is_int($id)) {
                continue;
            }
            $row = $this->find($id);
            $found[] = $row;
            if ($row) {
                $this->rename($id, $row['name'] . '.');
            }
        }

        return $found;
    }

    /**
     * The property is another connection later.
     *
     * want P1 refused: handle
     */
    public function moves(array $ids): array
    {
        $found = [];
        foreach ($ids as $id) {
            $statement = $this->moved->prepare('SELECT name FROM users WHERE id = ?');
            $statement->execute([$id]);
            $found[] = $statement->fetch(PDO::FETCH_NUM);
            $this->moved = \connect();
        }

        return $found;
    }

    private ?PDO $moved = null;

    public function start(): self
    {
        $this->moved = $this->db;

        return $this;
    }

    /**
     * Each call of it is in a transaction.
     *
     * want P3
     */
    private function putNotes(array $posts, int $from): void
    {
        foreach ($posts as $post) {
            $statement = $this->db->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)');
            $statement->execute([$from + $post['id'], 1, $post['title']]);
        }
    }

    /**
     * One call of it is in none.
     *
     * want P3 refused: transaction
     */
    private function putLogs(array $posts): void
    {
        foreach ($posts as $post) {
            $statement = $this->db->prepare('INSERT INTO notes (id, post_id, text) VALUES (?, ?, ?)');
            $statement->execute([70 + $post['id'] % 9, 2, $post['title']]);
        }
    }

    private function putBoth(array $posts): void
    {
        $this->putNotes($posts, 100);
        $this->putLogs($posts);
    }

    public function note(array $posts): array
    {
        try {
            $this->putLogs($posts);
        } catch (\PDOException) {
        }
        $this->db->beginTransaction();
        try {
            $this->putNotes($posts, 0);
            $this->putBoth($posts);
            $this->db->commit();
        } catch (\Throwable $e) {
            $this->db->rollBack();

            return [$e->getCode()];
        }

        return [];
    }
}
