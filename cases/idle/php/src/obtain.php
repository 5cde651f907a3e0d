<?php
declare(strict_types=1);

const COINS = 1;
const GEAR = 2;
const MATERIAL = 3;
const TICKET = 4;

function get_user(int $id): ?array
{
    return row('SELECT id, name, coins, last_reward_at, last_activated_at FROM users WHERE id = ?', [$id]);
}

function get_item_master(int $id, int $kind): array
{
    return row('SELECT id, item_type, amount_per_sec, max_level, max_amount_per_sec, base_exp, gained_exp, price
        FROM item_masters WHERE id = ? AND item_type = ?', [$id, $kind]) ?? throw refuse(404, 'no such item');
}

/** obtain gives a user one item. */
function obtain(int $user, int $kind, int $item, int $amount, string $reason, int $now): void
{
    switch ($kind) {
        case COINS:
            add_coins($user, $amount, $reason, $now);
            break;
        case GEAR:
            add_card($user, $item, $now);
            break;
        case MATERIAL:
        case TICKET:
            add_item($user, $kind, $item, $amount, $now);
            break;
        default:
            throw refuse(400, 'unknown kind of item');
    }
}

/** add_coins adds coins, or takes them, and notes it. */
function add_coins(int $user, int $amount, string $reason, int $now): void
{
    $had = row('SELECT coins FROM users WHERE id = ? FOR UPDATE', [$user])['coins'];
    if ($had + $amount < 0) {
        throw refuse(409, 'not enough coins');
    }
    query('UPDATE users SET coins = ?, updated_at = ? WHERE id = ?', [$had + $amount, $now, $user]);
    query('INSERT INTO user_coin_logs (id, user_id, amount, reason, created_at) VALUES (?, ?, ?, ?, ?)', [new_id(), $user, $amount, $reason, $now]);
}

function add_card(int $user, int $item, int $now): array
{
    $master = get_item_master($item, GEAR);
    $id = new_id();
    query('INSERT INTO user_cards (id, user_id, item_id, amount_per_sec, level, total_exp, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 0, ?, ?)',
        [$id, $user, $item, $master['amount_per_sec'], $now, $now]);
    return ['id' => $id, 'item_id' => $item, 'amount_per_sec' => $master['amount_per_sec'], 'level' => 1, 'total_exp' => 0];
}

function add_item(int $user, int $kind, int $item, int $amount, int $now): void
{
    get_item_master($item, $kind);
    $had = row('SELECT id, amount FROM user_items WHERE user_id = ? AND item_id = ?', [$user, $item]);
    if ($had) {
        query('UPDATE user_items SET amount = ?, updated_at = ? WHERE id = ?', [$had['amount'] + $amount, $now, $had['id']]);
        return;
    }
    query('INSERT INTO user_items (id, user_id, item_type, item_id, amount, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        [new_id(), $user, $kind, $item, $amount, $now, $now]);
}

/** add_present sends a user a present, and returns it with its id. */
function add_present(int $user, array $item, string $message, int $now): array
{
    $id = new_id();
    query('INSERT INTO user_presents (id, user_id, item_type, item_id, amount, message, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        [$id, $user, $item['item_type'], $item['item_id'], $item['amount'], $message, $now]);
    return ['id' => $id, 'item_type' => $item['item_type'], 'item_id' => $item['item_id'], 'amount' => $item['amount'], 'message' => $message, 'created_at' => $now];
}
