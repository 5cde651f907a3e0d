<?php
declare(strict_types=1);

/** Model is a table whose rows are kept one by one in the row cache. */
abstract class Model
{
    public const BASE = 'players';
    public const TABLE = '';

    /** @var string[] names of the entries that the transaction under way has written */
    public static array $written = [];

    private static function name(int $id): string
    {
        return 'row:' . static::TABLE . ":$id";
    }

    private static function keep(array $row): array
    {
        self::$written[] = self::name($row['id']);
        RowCache::set(self::name($row['id']), $row);
        return $row;
    }

    /** find returns the row with this id, or null. */
    public static function find(int $id): ?array
    {
        $row = RowCache::get(self::name($id));
        if ($row === null && ($row = self::read($id)) !== null) {
            self::$written[] = self::name($id);
            RowCache::add(self::name($id), $row);
        }
        return $row;
    }

    private static function read(int $id): ?array
    {
        return query(static::BASE, 'SELECT * FROM ' . static::TABLE . ' WHERE id = ?', [$id])->fetch() ?: null;
    }

    /** refresh reads a row that was changed by a statement, and keeps it. */
    public static function refresh(int $id): ?array
    {
        $row = self::read($id);
        return $row === null ? null : self::keep($row);
    }

    /** where returns the rows of a condition, and keeps each for find. */
    public static function where(string $condition, array $params = []): array
    {
        $rows = query(static::BASE, 'SELECT * FROM ' . static::TABLE . " WHERE $condition", $params)->fetchAll();
        foreach ($rows as $row) {
            self::keep($row);
        }
        return $rows;
    }

    /** insert adds a row and returns it with its id. */
    public static function insert(array $values): array
    {
        $names = implode(', ', array_keys($values));
        $places = implode(', ', array_fill(0, count($values), '?'));
        query(static::BASE, 'INSERT INTO ' . static::TABLE . " ($names) VALUES ($places)", array_values($values));
        return self::keep(['id' => (int) db(static::BASE)->lastInsertId()] + $values);
    }

    /** delete takes a row away. */
    public static function delete(int $id): void
    {
        query(static::BASE, 'DELETE FROM ' . static::TABLE . ' WHERE id = ?', [$id]);
        RowCache::delete(self::name($id));
        self::$written[] = self::name($id);
    }

    /** forget_written is for a transaction that was taken back. */
    public static function forget_written(): void
    {
        foreach (self::$written as $name) {
            RowCache::delete($name);
        }
        self::$written = [];
    }
}
