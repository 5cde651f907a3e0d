<?php
declare(strict_types=1);

/** prizes lists the cards of a gacha, the rarest first. */
function prizes(int $gacha, int $most): string
{
    $out = '';
    foreach (array_slice(GachaCard::where('gacha_id = ? ORDER BY weight, id', [$gacha]), 0, $most) as $prize) {
        $card = Card::find($prize['card_id']);
        $out .= '<li class="card r' . $card['rarity'] . '">' . h($card['name']) . ' <i>' . h(Skill::find($card['skill_id'])['name']) . "</i></li>\n";
    }
    return $out;
}

/** gachas shows what can be won. */
function gachas(): string
{
    $out = '';
    foreach (Gacha::where('open = 1 ORDER BY id') as $gacha) {
        $out .= '<section><h2>' . h($gacha['name']) . '</h2><p>' . $gacha['price'] . " coins each</p><ul>\n" . prizes($gacha['id'], 40)
            . "</ul><form action=\"/gacha/{$gacha['id']}/draw\" method=\"post\"><input name=\"count\"><button>Draw</button></form></section>\n";
    }
    return page('Gacha', $out);
}

/** draw sells up to ten cards. */
function draw(int $id): string
{
    $count = (int) field('count');
    $gacha = Gacha::find($id) ?? throw new Failure(404, 'no such gacha');
    if ($count < 1 || $count > 10 || !$gacha['open']) {
        throw new Failure(400, 'draw 1 to 10');
    }
    $prizes = GachaCard::where('gacha_id = ?', [$id]);
    $won = in_tx(function () use ($gacha, $count, $prizes): array {
        Player::pay(me()['id'], -$gacha['price'] * $count, 'gacha');
        $won = [];
        for ($i = 0; $i < $count; $i++) {
            $prize = pick($prizes);
            $won[] = UserCard::insert(['player_id' => me()['id'], 'card_id' => $prize['card_id'], 'level' => 1]);
            Ledger::insert(['player_id' => me()['id'], 'thing' => 'cards', 'amount' => 1, 'reason' => 'gacha', 'created_at' => time()]);
        }
        return $won;
    });
    $list = '';
    foreach ($won as $own) {
        $list .= card_row($own);
    }
    return page('Drawn', '<p>You won <b id="won">' . count($won) . "</b> cards.</p><ul>\n$list</ul>");
}

/** pick draws a prize by the weights. */
function pick(array $prizes): array
{
    $at = random_int(0, array_sum(array_column($prizes, 'weight')) - 1);
    foreach ($prizes as $prize) {
        $at -= $prize['weight'];
        if ($at < 0) {
            return $prize;
        }
    }
    return end($prizes);
}
