<?php
declare(strict_types=1);

/** items lists what a user has, with a token for gear. */
function items(int $now, int $user): array
{
    return [
        'user' => get_user($user),
        'items' => rows('SELECT id, item_type, item_id, amount FROM user_items WHERE user_id = ? ORDER BY id', [$user]),
        'cards' => rows('SELECT id, item_id, amount_per_sec, level, total_exp FROM user_cards WHERE user_id = ? ORDER BY id', [$user]),
        'one_time_token' => new_token($user, FOR_GEAR, $now),
    ];
}

/** buy_gear sells a piece of gear. */
function buy_gear(int $now, int $user): array
{
    $item = body('item_id')['item_id'];
    $master = get_item_master($item, GEAR);
    return in_tx(function () use ($user, $item, $master, $now): array {
        add_coins($user, -$master['price'], 'gear', $now);
        return ['card' => add_card($user, $item, $now), 'user' => get_user($user)];
    });
}

/** add_exp turns material into experience of a piece of gear. */
function add_exp(int $now, int $user, int $id): array
{
    $in = body('one_time_token', 'items');
    use_token($user, FOR_GEAR, $in['one_time_token'], $now);
    return in_tx(function () use ($in, $user, $id, $now): array {
        $card = row('SELECT id, item_id, amount_per_sec, level, total_exp FROM user_cards WHERE id = ? AND user_id = ? FOR UPDATE', [$id, $user])
            ?? throw refuse(404, 'not your card');
        $master = get_item_master($card['item_id'], GEAR);
        $left = [];
        foreach ($in['items'] as $use) {
            [$item, $exp] = use_item($user, $use, $now);
            $left[] = $item;
            $card['total_exp'] += $exp;
        }
        [$card['level'], $card['amount_per_sec']] = level_of($master, $card['total_exp']);
        query('UPDATE user_cards SET amount_per_sec = ?, level = ?, total_exp = ?, updated_at = ? WHERE id = ?',
            [$card['amount_per_sec'], $card['level'], $card['total_exp'], $now, $id]);
        return ['card' => $card, 'items' => $left];
    });
}

/** level_of: a level for each base_exp, and as much of the way to the most coins. */
function level_of(array $master, int $exp): array
{
    $level = min(1 + intdiv($exp, $master['base_exp']), $master['max_level']);
    return [$level, $master['amount_per_sec'] + intdiv(($master['max_amount_per_sec'] - $master['amount_per_sec']) * ($level - 1), $master['max_level'] - 1)];
}

/** use_item uses material up and returns what is left, and the experience. */
function use_item(int $user, array $use, int $now): array
{
    $item = row('SELECT i.id, i.item_type, i.item_id, i.amount, m.gained_exp FROM user_items i
        JOIN item_masters m ON m.id = i.item_id WHERE i.id = ? AND i.user_id = ? AND i.item_type = 3 FOR UPDATE', [$use['id'], $user]);
    if (!$item || $use['amount'] < 1 || $item['amount'] < $use['amount']) {
        throw refuse(409, 'not enough material');
    }
    $exp = $item['gained_exp'] * $use['amount'];
    unset($item['gained_exp']);
    $item['amount'] -= $use['amount'];
    query('UPDATE user_items SET amount = ?, updated_at = ? WHERE id = ?', [$item['amount'], $now, $item['id']]);
    return [$item, $exp];
}
