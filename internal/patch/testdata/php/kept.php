<?php
// Functions that read the same again in one request.

function rows(string $sql, array $params = []): array
{
    return query($sql, $params)->fetchAll();
}

/** want P6 */
function kind(int $id): ?array
{
    return row('SELECT id, name, price FROM kinds WHERE id = ?', [$id]);
}

/** want P6 */
function kindPrice(int $id): int
{
    return (int) (row('SELECT price FROM kinds WHERE id = ?', [$id])['price'] ?? 7);
}

/** want P6 */
function kinds(): array
{
    return rows('SELECT id, name FROM kinds ORDER BY id');
}

/** want P6 */
function kindsNamed(string $name, int $from): array
{
    return rows('SELECT k.id, COUNT(*) AS n FROM kinds k JOIN kinds o ON o.name = k.name WHERE k.name = :name AND k.id >= :from GROUP BY k.id ORDER BY k.id', ['name' => $name, 'from' => $from]);
}

/** want P6 */
function knownKind(int $id): array
{
    return query('SELECT id, name FROM kinds WHERE id = ?', [$id])->fetch() ?: throw new RuntimeException("no kind $id");
}

function kindsOf(array $ids): array
{
    $out = [kinds(), kinds()];
    foreach ($ids as $id) {
        $out[] = kind((int) $id);
        $out[] = kindPrice((int) $id);
        $out[] = kindsNamed((string) $id, 1);
        $out[] = kindsNamed('1 a', (int) $id);
        $out[] = kindsNamed('a', (int) $id % 3);
        try {
            $out[] = knownKind((int) $id % 6);
        } catch (RuntimeException $e) {
            $out[] = $e->getMessage();
        }
        $got = kinds();
        $got[] = 'one of its own';
        $out[] = $got;
    }
    return $out;
}

/**
 * Users change.
 * want P6 refused: writes
 */
function ownerOf(int $id): ?array
{
    return row('SELECT id, name, score FROM users WHERE id = ?', [$id]);
}

/** want P6 refused: key */
function anyKind($id): ?array
{
    return row('SELECT id FROM kinds WHERE id = ?', [$id]);
}

/** want P6 refused: key */
function kindLike(string $name, string $other): array
{
    return rows('SELECT id FROM kinds WHERE name = ? OR name = ?', [$name, $other]);
}

/** want P6 refused: statement */
function kindNow(int $id): ?array
{
    return row('SELECT id, NOW() > 0 AS late FROM kinds WHERE id = ?', [$id]);
}

/** want P6 refused: statement */
function kindLocked(int $id): ?array
{
    return row('SELECT id FROM kinds WHERE id = ? FOR UPDATE', [$id]);
}

/** want P6 refused: mode */
function kindObjects(int $id): array
{
    return query('SELECT id, name FROM kinds WHERE id = ?', [$id])->fetchAll(PDO::FETCH_OBJ);
}

/** want P6 refused: constant */
function kindColumn(string $column): array
{
    return rows("SELECT $column AS c FROM kinds");
}

/** want P6 refused: function */
function kindOfAny(int $id): array
{
    return rows('SELECT id FROM kinds WHERE id = ? AND id > ?', [$id, $GLOBALS['runSeed'] % 2]);
}

/** A statement is no answer. */
function kindStatement(int $id): PDOStatement
{
    return query('SELECT id FROM kinds WHERE id = ?', [$id]);
}

/** It is asked once. */
function kindOnce(int $id): ?array
{
    return row('SELECT id, name FROM kinds WHERE id = ?', [$id]);
}

function kindTraps(array $ids): array
{
    $out = [kindOnce(1)];
    foreach ($ids as $id) {
        $id = (int) $id;
        $out[] = [ownerOf($id), anyKind("$id "), kindLike('a', '1 a'), kindNow($id), kindLocked($id), kindColumn('name'), kindOfAny($id), kindStatement($id)->fetch()];
        foreach (kindObjects($id) as $kind) {
            $kind->name .= '!';
            $out[] = $kind->name;
        }
    }
    return $out;
}
