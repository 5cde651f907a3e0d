<?php
declare(strict_types=1);

// Routes that write to the database.

/** note has no pattern: the second read is needed, a write is between. */
function note(int $id): array
{
    $text = rows('SELECT text, seen FROM notes WHERE id = ?', [$id])[0]['text'];
    execute('UPDATE notes SET seen = seen + 1 WHERE id = ?', [$id]);
    $seen = (int) rows('SELECT text, seen FROM notes WHERE id = ?', [$id])[0]['seen'];
    return ['text' => $text, 'read' => $seen > 0];
}

/** events_bad: ten rows in ten statements. */
function events_bad(): array
{
    foreach (range(1, 10) as $n) {
        execute('INSERT INTO events (kind, amount) VALUES (?, ?)', ["kind$n", $n]);
    }
    return ['added' => 10];
}

function events_clean(): array
{
    $values = [];
    foreach (range(1, 10) as $n) {
        array_push($values, "kind$n", $n);
    }
    execute('INSERT INTO events (kind, amount) VALUES ' . implode(', ', array_fill(0, 10, '(?, ?)')), $values);
    return ['added' => 10];
}

/** stock_bad: ten rows changed in ten statements. */
function stock_bad(): array
{
    foreach (range(1, 10) as $id) {
        execute('UPDATE stock SET amount = amount - 1 WHERE id = ?', [$id]);
    }
    return ['taken' => 10];
}

function stock_clean(): array
{
    $ids = range(1, 10);
    execute('UPDATE stock SET amount = amount - 1 WHERE id IN (' . placeholders($ids) . ')', $ids);
    return ['taken' => 10];
}

/** grants_bad: a read and a write for each of five items. */
function grants_bad(): array
{
    $granted = [];
    foreach (range(1, 5) as $id) {
        $name = rows('SELECT name FROM tags WHERE id = ?', [$id])[0]['name'];
        execute('INSERT INTO events (kind, amount) VALUES (?, ?)', [$name, $id]);
        $granted[] = $name;
    }
    return ['granted' => $granted];
}

function grants_clean(): array
{
    $ids = range(1, 5);
    $names = array_column(rows('SELECT id, name FROM tags WHERE id IN (' . placeholders($ids) . ')', $ids), 'name', 'id');
    $values = [];
    foreach ($ids as $id) {
        array_push($values, $names[$id], $id);
    }
    execute('INSERT INTO events (kind, amount) VALUES ' . implode(', ', array_fill(0, 5, '(?, ?)')), $values);
    return ['granted' => array_map(fn ($id) => $names[$id], $ids)];
}

/** order_bad: the ID is made by changing a row that all orders wait for. */
function order_bad(): array
{
    execute('UPDATE sequence SET id = LAST_INSERT_ID(id + 1)');
    $id = (int) db()->lastInsertId();
    execute('INSERT INTO orders (id, item) VALUES (?, ?)', [$id, 'book']);
    return ['order' => $id];
}

function order_clean(): array
{
    execute('INSERT INTO orders (item) VALUES (?)', ['book']);
    return ['order' => (int) db()->lastInsertId()];
}
