<?php
declare(strict_types=1);

function admin_login(int $now): array
{
    $in = body('user_id', 'password');
    $admin = row('SELECT password_hash, salt FROM admin_users WHERE id = ?', [$in['user_id']]);
    if (!$admin || hash('sha256', $in['password'] . ':' . $admin['salt']) !== $admin['password_hash']) {
        throw refuse(401, 'wrong user or password');
    }
    $session = random_word();
    query('INSERT INTO admin_sessions (id, user_id, session, expired_at) VALUES (?, ?, ?, ?)', [new_id(), $in['user_id'], $session, $now + 86400]);
    return ['session' => $session];
}

/** admin lets whoever has an admin's session pass. */
function admin(callable $handler): callable
{
    return function (int $now, int ...$numbers) use ($handler): array {
        if (!row('SELECT id FROM admin_sessions WHERE session = ? AND expired_at >= ?', [head('X-Admin-Session'), $now])) {
            throw refuse(401, 'no session');
        }
        return $handler($now, ...$numbers);
    };
}

function master(): array
{
    return [
        'version' => master_version(),
        'present_alls' => rows('SELECT id, start_at, end_at, item_type, item_id, amount, message FROM present_all_masters ORDER BY id'),
        'lotteries' => rows('SELECT id, name, price, start_at, end_at FROM lottery_masters ORDER BY id'),
    ];
}

/** load_master replaces the rows it is given and puts their version in force. */
function load_master(): array
{
    $in = body('version');
    return in_tx(function () use ($in): array {
        foreach ($in['present_alls'] ?? [] as $p) {
            query('REPLACE INTO present_all_masters (id, start_at, end_at, item_type, item_id, amount, message) VALUES (?, ?, ?, ?, ?, ?, ?)',
                [$p['id'], $p['start_at'], $p['end_at'], $p['item_type'], $p['item_id'], $p['amount'], $p['message']]);
        }
        foreach ($in['lotteries'] ?? [] as $l) {
            query('REPLACE INTO lottery_masters (id, name, price, start_at, end_at) VALUES (?, ?, ?, ?, ?)',
                [$l['id'], $l['name'], $l['price'], $l['start_at'], $l['end_at']]);
        }
        query('UPDATE version_masters SET master_version = ? WHERE status = 1', [$in['version']]);
        return ['version' => $in['version']];
    });
}

function ban(int $now, int $user): array
{
    query('INSERT INTO user_bans (id, user_id, created_at) VALUES (?, ?, ?)', [new_id(), $user, $now]);
    return ['banned' => $user];
}

/**
 * books tells what the books say (../../sql/books.sql): what is wrong, and the
 * coins of whoever has done anything.
 */
function books(): array
{
    return [
        'wrong' => query('SELECT text FROM books.wrong ORDER BY text LIMIT 20')->fetchAll(PDO::FETCH_COLUMN),
        'purses' => query('SELECT text FROM books.purses')->fetchAll(PDO::FETCH_COLUMN),
    ];
}
