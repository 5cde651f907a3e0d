<?php
declare(strict_types=1);

/** home is what visitors see: news, cards that can be won, guilds. */
function home(): string
{
    $out = '<form action="/login" method="post"><input name="name"><input name="password" type="password"><button>Log in</button></form>';
    foreach (News::where('id <= 10 ORDER BY id DESC') as $news) {
        $out .= '<article><h2>' . h($news['title']) . '</h2><p>' . h($news['body']) . "</p></article>\n";
    }
    foreach (Gacha::where('open = 1 ORDER BY id') as $gacha) {
        $out .= '<section><h2>' . h($gacha['name']) . "</h2><ul>\n" . prizes($gacha['id'], 10) . "</ul></section>\n";
    }
    return page('Cards', $out . ranking());
}

/** login begins a session. */
function login(): string
{
    $found = Player::where('name = ?', [field('name')]);
    if (!$found || !hash_equals($found[0]['password_hash'], hash('sha256', field('password') . ':' . $found[0]['salt']))) {
        throw new Failure(401, 'wrong name or password');
    }
    $_SESSION['player'] = $found[0]['id'];
    return redirect('/mypage');
}

/** mypage shows a player himself: leader, the first deck, guild, battle, news. */
function mypage(): string
{
    $leader = UserCard::find(me()['leader_id']);
    $guild = Guild::find(me()['guild_id']);
    $battle = battle_of($guild['id']);
    $out = "<section><h2>Leader</h2><ul>\n" . card_row($leader) . '</ul></section>';
    $out .= '<section><h2>First deck</h2><p>Power <b id="power">' . deck_power(me()['id'], 1) . '</b></p></section>';
    $out .= '<section><h2>' . h($guild['name']) . '</h2><p>' . count(members($guild['id'])) . ' members, against '
        . h(Guild::find($battle['enemy_id'])['name']) . "</p></section>\n";
    foreach (News::where('id <= 5 ORDER BY id DESC') as $news) {
        $out .= '<article><h2>' . h($news['title']) . "</h2></article>\n";
    }
    return page('My page', $out . ranking());
}
