<?php
declare(strict_types=1);

/** client_address is the first address of X-Forwarded-For, else the peer's. */
function client_address(): string
{
    $forwarded = trim(explode(',', $_SERVER['HTTP_X_FORWARDED_FOR'] ?? '')[0]);
    return filter_var($forwarded, FILTER_VALIDATE_IP) !== false ? $forwarded : $_SERVER['REMOTE_ADDR'];
}

function password_hash_of(string $password, string $salt): string
{
    return hash('sha256', $password . ':' . $salt);
}

/** log_attempt writes one line of the login log. */
function log_attempt(bool $succeeded, string $login, ?int $userId): void
{
    query(
        'INSERT INTO login_log (created_at, user_id, login, ip, succeeded) VALUES (?, ?, ?, ?, ?)',
        [date('Y-m-d H:i:s'), $userId, $login, client_address(), $succeeded ? 1 : 0]
    );
}

/** user_locked: too many failures since the user's last success. */
function user_locked(?array $user): bool
{
    if ($user === null) {
        return false;
    }
    $failures = query(
        'SELECT COUNT(1) AS failures FROM login_log WHERE user_id = ? AND id > IFNULL('
        . '(SELECT id FROM login_log WHERE user_id = ? AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)',
        [$user['id'], $user['id']]
    )->fetchColumn();
    return $failures >= (int) settings('login')['user_lock_threshold'];
}

/** ip_banned: too many failures since the address's last success. */
function ip_banned(): bool
{
    $failures = query(
        'SELECT COUNT(1) AS failures FROM login_log WHERE ip = ? AND id > IFNULL('
        . '(SELECT id FROM login_log WHERE ip = ? AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)',
        [client_address(), client_address()]
    )->fetchColumn();
    return $failures >= (int) settings('login')['ip_ban_threshold'];
}

/**
 * attempt_login logs the attempt and returns [user, null] or [null, reason],
 * where reason is banned, locked or wrong.
 */
function attempt_login(string $login, string $password): array
{
    $user = query('SELECT * FROM users WHERE login = ?', [$login])->fetch() ?: null;
    $userId = $user === null ? null : (int) $user['id'];

    if (ip_banned()) {
        log_attempt(false, $login, $userId);
        return [null, 'banned'];
    }
    if (user_locked($user)) {
        log_attempt(false, $login, $userId);
        return [null, 'locked'];
    }
    if ($user !== null && password_hash_of($password, $user['salt']) === $user['password_hash']) {
        log_attempt(true, $login, $userId);
        return [$user, null];
    }
    log_attempt(false, $login, $userId);
    return [null, 'wrong'];
}

/** current_user is who is logged in in this session, or null. */
function current_user(): ?array
{
    if (empty($_SESSION['user_id'])) {
        return null;
    }
    return query('SELECT * FROM users WHERE id = ?', [$_SESSION['user_id']])->fetch() ?: null;
}

/** previous_login is the login before the current one, or the only one. */
function previous_login(int $userId): ?array
{
    $logins = query(
        'SELECT * FROM login_log WHERE succeeded = 1 AND user_id = ? ORDER BY id DESC LIMIT 2',
        [$userId]
    )->fetchAll();
    return $logins === [] ? null : $logins[count($logins) - 1];
}
