<?php
declare(strict_types=1);

/** banned_ips lists addresses with too many failures since their last success. */
function banned_ips(): array
{
    return query(
        'SELECT l.ip FROM login_log l LEFT JOIN'
        . ' (SELECT ip, MAX(id) AS last_id FROM login_log WHERE succeeded = 1 GROUP BY ip) s ON s.ip = l.ip'
        . ' WHERE l.id > IFNULL(s.last_id, 0) GROUP BY l.ip HAVING COUNT(1) >= ? ORDER BY l.ip',
        [(int) settings('login')['ip_ban_threshold']]
    )->fetchAll(PDO::FETCH_COLUMN);
}

/** locked_users lists logins with too many failures since their last success. */
function locked_users(): array
{
    $ids = query(
        'SELECT l.user_id FROM login_log l LEFT JOIN'
        . ' (SELECT user_id, MAX(id) AS last_id FROM login_log WHERE succeeded = 1 GROUP BY user_id) s'
        . ' ON s.user_id = l.user_id'
        . ' WHERE l.user_id IS NOT NULL AND l.id > IFNULL(s.last_id, 0)'
        . ' GROUP BY l.user_id HAVING COUNT(1) >= ? ORDER BY l.user_id',
        [(int) settings('login')['user_lock_threshold']]
    )->fetchAll(PDO::FETCH_COLUMN);

    $logins = [];
    foreach ($ids as $id) {
        $logins[] = query('SELECT login FROM users WHERE id = ?', [$id])->fetchColumn();
    }
    return $logins;
}
