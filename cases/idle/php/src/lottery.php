<?php
declare(strict_types=1);

function prizes(int $lottery): array
{
    return rows('SELECT id, item_type, item_id, amount, weight FROM lottery_item_masters WHERE lottery_id = ? ORDER BY id', [$lottery]);
}

/** lotteries lists the lotteries and their prizes, with a token for draws. */
function lotteries(int $now, int $user): array
{
    $all = rows('SELECT id, name, price FROM lottery_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id', [$now, $now]);
    foreach ($all as &$lottery) {
        $lottery['prizes'] = prizes($lottery['id']);
    }
    return ['lotteries' => $all, 'one_time_token' => new_token($user, FOR_DRAWS, $now)];
}

/** draw sells n draws, whose prizes come as presents. */
function draw(int $now, int $user, int $id, int $n): array
{
    $token = body('one_time_token')['one_time_token'];
    if ($n !== 1 && $n !== 10) {
        throw refuse(400, 'draw 1 or 10');
    }
    use_token($user, FOR_DRAWS, $token, $now);
    $lottery = row('SELECT id, name, price FROM lottery_masters WHERE id = ? AND start_at <= ? AND end_at >= ?', [$id, $now, $now])
        ?? throw refuse(404, 'no such lottery');
    $prizes = prizes($id);
    $total = (int) row('SELECT SUM(weight) AS total FROM lottery_item_masters WHERE lottery_id = ?', [$id])['total'];
    return in_tx(function () use ($user, $lottery, $prizes, $total, $n, $now): array {
        add_coins($user, -$lottery['price'] * $n, 'lottery', $now);
        $won = [];
        for ($i = 0; $i < $n; $i++) {
            $won[] = add_present($user, pick($prizes, random_int(0, $total - 1)), $lottery['name'], $now);
        }
        return ['presents' => $won, 'present_ids' => array_column($won, 'id'), 'user' => get_user($user)];
    });
}

/** pick returns the prize where the weights before it leave at of them. */
function pick(array $prizes, int $at): array
{
    foreach ($prizes as $prize) {
        $at -= $prize['weight'];
        if ($at < 0) {
            return $prize;
        }
    }
    return end($prizes);
}
