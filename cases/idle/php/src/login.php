<?php
declare(strict_types=1);

/** register makes a new user with three pieces of gear, and logs in. */
function register(int $now): array
{
    $in = body('viewer', 'platform');
    if ($in['viewer'] === '' || $in['platform'] < 1) {
        throw refuse(400, 'viewer and platform are needed');
    }
    $id = new_id();
    return in_tx(function () use ($in, $id, $now): array {
        query('INSERT INTO users (id, name, coins, last_reward_at, last_activated_at, registered_at, created_at, updated_at) VALUES (?, ?, 0, ?, 0, ?, ?, ?)',
            [$id, 'newcomer', $now, $now, $now, $now]);
        query('INSERT INTO user_devices (id, user_id, viewer, platform, created_at) VALUES (?, ?, ?, ?, ?)',
            [new_id(), $id, $in['viewer'], $in['platform'], $now]);
        $cards = [];
        for ($i = 0; $i < 3; $i++) {
            $cards[] = add_card($id, 2, $now)['id'];
        }
        add_deck($id, $cards, $now);
        return enter($id, $now);
    });
}

/** login makes a session; the first login of a day brings what the day brings. */
function login(int $now): array
{
    $in = body('user_id', 'viewer');
    get_user($in['user_id']) ?? throw refuse(404, 'no such user');
    check_ban($in['user_id']);
    check_device($in['user_id'], $in['viewer']);
    return in_tx(fn () => enter($in['user_id'], $now));
}

/** enter ends the user's sessions and begins one. */
function enter(int $id, int $now): array
{
    query('UPDATE user_sessions SET deleted_at = ? WHERE user_id = ? AND deleted_at IS NULL', [$now, $id]);
    $session = random_word();
    query('INSERT INTO user_sessions (id, user_id, session, created_at, expired_at) VALUES (?, ?, ?, ?, ?)', [new_id(), $id, $session, $now, $now + 86400]);
    $bonuses = [];
    $sent = 0;
    if (intdiv(get_user($id)['last_activated_at'], 86400) !== intdiv($now, 86400)) {
        $bonuses = give_bonuses($id, $now);
        $sent = send_presents($id, $now);
    }
    query('UPDATE users SET last_activated_at = ?, updated_at = ? WHERE id = ?', [$now, $now, $id]);
    return ['session' => $session, 'user' => get_user($id), 'bonuses' => $bonuses, 'presents_sent' => $sent];
}

/** give_bonuses gives the login bonuses of the day. */
function give_bonuses(int $user, int $now): array
{
    $given = [];
    foreach (rows('SELECT id, days, looped FROM login_bonus_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id', [$now, $now]) as $master) {
        $bonus = give_bonus($user, $master, $now);
        if ($bonus) {
            $given[] = $bonus;
        }
    }
    return $given;
}

/** give_bonus gives the next reward of one bonus; null: there is none left. */
function give_bonus(int $user, array $master, int $now): ?array
{
    $had = row('SELECT id, last_sequence, loop_count FROM user_login_bonuses WHERE user_id = ? AND login_bonus_id = ?', [$user, $master['id']]);
    $last = ($had['last_sequence'] ?? 0) + 1;
    $loops = $had['loop_count'] ?? 1;
    if ($last > $master['days']) {
        if (!$master['looped']) {
            return null;
        }
        $last = 1;
        $loops++;
    }
    $reward = row('SELECT item_type, item_id, amount FROM login_bonus_reward_masters WHERE login_bonus_id = ? AND sequence = ?', [$master['id'], $last]);
    obtain($user, $reward['item_type'], $reward['item_id'], $reward['amount'], 'bonus', $now);
    if ($had) {
        query('UPDATE user_login_bonuses SET last_sequence = ?, loop_count = ?, updated_at = ? WHERE id = ?', [$last, $loops, $now, $had['id']]);
    } else {
        query('INSERT INTO user_login_bonuses (id, user_id, login_bonus_id, last_sequence, loop_count, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
            [new_id(), $user, $master['id'], $last, $loops, $now]);
    }
    return ['login_bonus_id' => $master['id'], 'sequence' => $last];
}

/** send_presents sends the presents for all that the user has not had, and says how many. */
function send_presents(int $user, int $now): int
{
    $sent = 0;
    $all = rows('SELECT id, item_type, item_id, amount, message FROM present_all_masters WHERE start_at <= ? AND end_at >= ? ORDER BY id', [$now, $now]);
    foreach ($all as $p) {
        if (row('SELECT id FROM user_present_all_history WHERE user_id = ? AND present_all_id = ?', [$user, $p['id']])) {
            continue;
        }
        add_present($user, $p, $p['message'], $now);
        query('INSERT INTO user_present_all_history (id, user_id, present_all_id, received_at) VALUES (?, ?, ?, ?)', [new_id(), $user, $p['id'], $now]);
        $sent++;
    }
    return $sent;
}
