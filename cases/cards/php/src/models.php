<?php
declare(strict_types=1);

final class Card extends Model
{
    public const BASE = 'master';
    public const TABLE = 'm_cards';
}

final class Skill extends Model
{
    public const BASE = 'master';
    public const TABLE = 'm_skills';
}

final class Gacha extends Model
{
    public const BASE = 'master';
    public const TABLE = 'm_gachas';
}

final class GachaCard extends Model
{
    public const BASE = 'master';
    public const TABLE = 'm_gacha_cards';
}

final class News extends Model
{
    public const BASE = 'master';
    public const TABLE = 'm_news';
}

final class UserCard extends Model
{
    public const TABLE = 'user_cards';

    /** power is what a card is worth in a battle: of its kind, its level and its skill. */
    public static function power(array $own): int
    {
        $card = Card::find($own['card_id']);
        return $card['attack'] + 3 * $own['level'] + Skill::find($card['skill_id'])['bonus'];
    }
}

final class DeckCard extends Model
{
    public const TABLE = 'deck_cards';
}

final class Guild extends Model
{
    public const TABLE = 'guilds';
}

final class GuildBattle extends Model
{
    public const TABLE = 'guild_battles';
}

final class Attack extends Model
{
    public const TABLE = 'attacks';
}

final class AttackCard extends Model
{
    public const TABLE = 'attack_cards';
}

final class Ledger extends Model
{
    public const TABLE = 'ledger';
}

final class Player extends Model
{
    public const TABLE = 'players';

    /** pay changes a player's coins, which cannot become fewer than none, and notes why. */
    public static function pay(int $id, int $amount, string $reason): void
    {
        $done = query('players', 'UPDATE players SET coins = coins + ? WHERE id = ? AND coins + ? >= 0', [$amount, $id, $amount]);
        if ($done->rowCount() !== 1) {
            throw new Failure(409, 'not enough coins');
        }
        Ledger::insert(['player_id' => $id, 'thing' => 'coins', 'amount' => $amount, 'reason' => $reason, 'created_at' => time()]);
        self::refresh($id);
    }
}
