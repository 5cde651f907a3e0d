<?php
declare(strict_types=1);

/** LONGEST is how long gear works unattended, in seconds. */
const LONGEST = 8 * 3600;

/** deck_of returns the user's deck and the coins that it makes in a second. */
function deck_of(int $user): array
{
    $deck = row('SELECT id, card_1, card_2, card_3 FROM user_decks WHERE user_id = ? AND deleted_at IS NULL', [$user]);
    $power = 0;
    foreach ($deck ? ['card_1', 'card_2', 'card_3'] : [] as $place) {
        $power += row('SELECT amount_per_sec FROM user_cards WHERE id = ?', [$deck[$place]])['amount_per_sec'];
    }
    return [$deck, $power];
}

function add_deck(int $user, array $cards, int $now): void
{
    query('UPDATE user_decks SET deleted_at = ? WHERE user_id = ? AND deleted_at IS NULL', [$now, $user]);
    query('INSERT INTO user_decks (id, user_id, card_1, card_2, card_3, created_at) VALUES (?, ?, ?, ?, ?, ?)', [new_id(), $user, ...$cards, $now]);
}

function home(int $now, int $user): array
{
    $row = get_user($user);
    [$deck, $power] = deck_of($user);
    return ['user' => $row, 'deck' => $deck, 'power' => $power, 'past' => $now - $row['last_reward_at']];
}

/** gather gives the coins that the gear has made. */
function gather(int $now, int $user): array
{
    return in_tx(function () use ($user, $now): array {
        $last = row('SELECT last_reward_at FROM users WHERE id = ? FOR UPDATE', [$user])['last_reward_at'];
        [, $power] = deck_of($user);
        $gained = $power * min($now - $last, LONGEST);
        add_coins($user, $gained, 'gather', $now);
        query('UPDATE users SET last_reward_at = ?, updated_at = ? WHERE id = ?', [$now, $now, $user]);
        return ['gained' => $gained, 'user' => get_user($user)];
    });
}

/** set_deck puts three of the user's pieces of gear to work. */
function set_deck(int $now, int $user): array
{
    $cards = body('cards')['cards'];
    if (!is_array($cards) || count($cards) !== 3 || count(array_unique($cards)) !== 3) {
        throw refuse(400, 'three cards are needed');
    }
    foreach ($cards as $id) {
        if ((row('SELECT user_id FROM user_cards WHERE id = ?', [$id])['user_id'] ?? 0) !== $user) {
            throw refuse(400, 'not your card');
        }
    }
    return in_tx(function () use ($user, $cards, $now): array {
        add_deck($user, $cards, $now);
        [$deck, $power] = deck_of($user);
        return ['deck' => $deck, 'power' => $power];
    });
}
