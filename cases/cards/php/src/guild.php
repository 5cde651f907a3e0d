<?php
declare(strict_types=1);

/** members returns the players of a guild, the first ones if $most is given. */
function members(int $guild, int $most = 1000): array
{
    $members = [];
    foreach (query('players', 'SELECT id FROM players WHERE guild_id = ? ORDER BY id LIMIT ' . $most, [$guild])->fetchAll() as $member) {
        $members[] = Player::find($member['id']);
    }
    return $members;
}

/** battle_of returns the battle of a guild. */
function battle_of(int $guild): array
{
    return GuildBattle::where('guild_id = ?', [$guild])[0];
}

/** ranking lists the ten guilds with most points of the battle. */
function ranking(): string
{
    $out = '<section id="ranking"><h2>Guild battle</h2><ol>';
    foreach (redis()->zRevRange('battle', 0, 9, true) as $guild => $points) {
        $out .= '<li>' . h(Guild::find((int) $guild)['name']) . ': ' . (int) $points . "</li>\n";
    }
    return $out . '</ol></section>';
}

/** guild shows the guild, and the enemies with the power of their first decks. */
function guild(): string
{
    $guild = Guild::find(me()['guild_id']);
    $battle = battle_of($guild['id']);
    $out = '<section><h2>' . h($guild['name']) . "</h2><ul>\n";
    foreach (members($guild['id']) as $member) {
        $out .= '<li>' . h($member['name']) . ', level ' . $member['level'] . "</li>\n";
    }
    $out .= '</ul></section><section><h2>' . h(Guild::find($battle['enemy_id'])['name']) . "</h2><ul>\n";
    foreach (members($battle['enemy_id'], 5) as $enemy) {
        $out .= '<li data-enemy="' . $enemy['id'] . '">' . h($enemy['name']) . ': power ' . deck_power($enemy['id'], 1) . "</li>\n";
    }
    return page('Guild', $out . '</ul></section>' . ranking());
}

/** attack lets a deck of the player fight an enemy of the battle. */
function attack(): string
{
    $deck = (int) field('deck');
    $enemy = Player::find((int) field('enemy'));
    $battle = battle_of(me()['guild_id']);
    if ($enemy === null || $enemy['guild_id'] !== $battle['enemy_id'] || $deck < 1 || $deck > DECKS) {
        throw new Failure(400, 'no such battle');
    }
    $cards = deck_of(me()['id'], $deck);
    $defence = intdiv(deck_power($enemy['id'], 1), 2 * count($cards));
    $points = in_tx(function () use ($deck, $enemy, $battle, $cards, $defence): int {
        $points = 0;
        $attack = Attack::insert(['player_id' => me()['id'], 'guild_id' => me()['guild_id'], 'enemy_id' => $enemy['id'], 'deck' => $deck, 'created_at' => time()]);
        foreach ($cards as $own) {
            $damage = max(1, UserCard::power($own) - $defence);
            AttackCard::insert(['attack_id' => $attack['id'], 'user_card_id' => $own['id'], 'damage' => $damage]);
            $points += $damage;
        }
        Player::pay(me()['id'], 10, 'battle');
        query('players', 'UPDATE guild_battles SET points = points + ? WHERE id = ?', [$points, $battle['id']]);
        return $points;
    });
    redis()->zIncrBy('battle', $points, (string) me()['guild_id']);
    return page('Attack', "<p>You made <b id=\"points\">$points</b> points against " . h($enemy['name']) . '.</p>' . ranking());
}
