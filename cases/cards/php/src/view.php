<?php
declare(strict_types=1);

function h(string|int $text): string
{
    return htmlspecialchars((string) $text, ENT_QUOTES);
}

/** page puts what is particular to a page between head and foot. */
function page(string $title, string $body): string
{
    $device = Agent::of($_SERVER['HTTP_USER_AGENT'] ?? '');
    $title = h($title);
    $name = h($device['name']);
    $who = isset($_SESSION['player']) ? purse() : '<a href="/">Log in</a>';
    return <<<HTML
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>$title - Cards</title>
        <link rel="stylesheet" href="/css/app.css">
        <script src="/js/app.js" defer></script>
        </head>
        <body class="{$device['layout']}" data-device="$name">
        <header><h1>$title</h1>$who</header>
        <nav><a href="/mypage">My page</a> <a href="/decks">Decks</a> <a href="/gacha">Gacha</a> <a href="/guild">Guild</a></nav>
        <main>
        $body
        </main>
        <footer>Cards, shown for $name</footer>
        </body>
        </html>

        HTML;
}

/** purse is what every page tells the player of himself. */
function purse(): string
{
    return '<p class="purse">' . h(me()['name']) . ', level ' . me()['level'] . ': <b id="coins">' . me()['coins'] . '</b> coins</p>';
}

/** card_row is a card in a list. */
function card_row(array $own): string
{
    $card = Card::find($own['card_id']);
    $skill = Skill::find($card['skill_id']);
    return '<li class="card r' . $card['rarity'] . '" data-id="' . $own['id'] . '"><b>' . h($card['name']) . '</b> level ' . $own['level']
        . ' attack ' . $card['attack'] . ' <i>' . h($skill['name']) . '</i> power ' . UserCard::power($own) . "</li>\n";
}
