<?php
declare(strict_types=1);

/** PAGE is how many presents a page has, and how many are received at once. */
const PAGE = 20;

/** presents lists one page of what waits, the newest first. */
function presents(int $now, int $user, int $page): array
{
    if ($page < 1) {
        throw refuse(400, 'page must be a number from 1');
    }
    $list = rows('SELECT id, item_type, item_id, amount, message, created_at FROM user_presents WHERE user_id = ? AND deleted_at IS NULL
        ORDER BY created_at DESC, id LIMIT ? OFFSET ?', [$user, PAGE + 1, ($page - 1) * PAGE]);
    $next = count($list) > PAGE;
    $list = array_slice($list, 0, PAGE);
    return ['presents' => $list, 'present_ids' => array_column($list, 'id'), 'next' => $next];
}

/** receive gives a user what is in presents, one after the other. */
function receive(int $now, int $user): array
{
    $ids = body('present_ids')['present_ids'];
    if (!is_array($ids) || count($ids) < 1 || count($ids) > PAGE) {
        throw refuse(400, '1 to 20 presents are received at once');
    }
    $places = implode(', ', array_fill(0, count($ids), '?'));
    $list = rows("SELECT id, item_type, item_id, amount, message, created_at FROM user_presents WHERE user_id = ? AND deleted_at IS NULL AND id IN ($places)",
        [$user, ...$ids]);
    if (count($list) !== count($ids)) {
        throw refuse(409, 'no such presents');
    }
    $order = array_flip($ids);
    usort($list, fn ($a, $b) => $order[$a['id']] <=> $order[$b['id']]);
    return in_tx(function () use ($list, $user, $now): array {
        foreach ($list as $p) {
            if (query('UPDATE user_presents SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL', [$now, $p['id']])->rowCount() !== 1) {
                throw refuse(409, 'received meanwhile');
            }
            obtain($user, $p['item_type'], $p['item_id'], $p['amount'], 'present', $now);
        }
        return ['received' => count($list), 'presents' => $list, 'user' => get_user($user)];
    });
}
