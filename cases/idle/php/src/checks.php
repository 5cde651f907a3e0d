<?php
declare(strict_types=1);

const FOR_DRAWS = 1;
const FOR_GEAR = 2;

function master_version(): string
{
    return row('SELECT master_version FROM version_masters WHERE status = 1')['master_version'];
}

/** versioned lets clients pass that have the master data in force. */
function versioned(callable $handler): callable
{
    return function (int $now, int ...$numbers) use ($handler): array {
        $version = master_version();
        if (head('X-Master-Version') !== $version) {
            throw new Failure(422, ['error' => 'other master version', 'master_version' => $version]);
        }
        return $handler($now, ...$numbers);
    };
}

/**
 * player lets the user of the path pass who has a session, is not banned, and
 * comes from a known device.
 */
function player(callable $handler): callable
{
    return versioned(function (int $now, int $user, int ...$numbers) use ($handler): array {
        check_ban($user);
        check_session($user, $now);
        check_device($user, head('X-Viewer'));
        return $handler($now, $user, ...$numbers);
    });
}

function check_ban(int $user): void
{
    if (row('SELECT id FROM user_bans WHERE user_id = ? AND deleted_at IS NULL', [$user])) {
        throw refuse(403, 'banned');
    }
}

function check_session(int $user, int $now): void
{
    $session = row('SELECT id, user_id, expired_at FROM user_sessions WHERE session = ? AND deleted_at IS NULL', [head('X-Session')]);
    if (!$session) {
        throw refuse(401, 'no session');
    }
    if ($session['user_id'] !== $user) {
        throw refuse(403, "another user's");
    }
    if ($session['expired_at'] < $now) {
        query('UPDATE user_sessions SET deleted_at = ? WHERE id = ?', [$now, $session['id']]);
        throw refuse(401, 'the session has expired');
    }
}

function check_device(int $user, string $viewer): void
{
    if (!row('SELECT id FROM user_devices WHERE user_id = ? AND viewer = ?', [$user, $viewer])) {
        throw refuse(403, 'unknown device');
    }
}

/** new_token makes a token that the next act of this kind uses up; earlier ones end. */
function new_token(int $user, int $kind, int $now): string
{
    query('UPDATE user_one_time_tokens SET deleted_at = ? WHERE user_id = ? AND token_type = ? AND deleted_at IS NULL', [$now, $user, $kind]);
    $token = random_word();
    query('INSERT INTO user_one_time_tokens (id, user_id, token, token_type, created_at, expired_at) VALUES (?, ?, ?, ?, ?, ?)',
        [new_id(), $user, $token, $kind, $now, $now + 600]);
    return $token;
}

/** use_token uses a token up. */
function use_token(int $user, int $kind, string $token, int $now): void
{
    $found = row('SELECT id, user_id, expired_at FROM user_one_time_tokens WHERE token = ? AND token_type = ? AND deleted_at IS NULL', [$token, $kind]);
    if (!$found || $found['user_id'] !== $user || $found['expired_at'] < $now
        || query('UPDATE user_one_time_tokens SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL', [$now, $found['id']])->rowCount() !== 1) {
        throw refuse(400, 'invalid token');
    }
}
