<?php
declare(strict_types=1);

const DECKS = 8;
const DECK_SIZE = 25;

/** deck_of returns the cards of a deck in their order. */
function deck_of(int $player, int $deck): array
{
    $cards = [];
    foreach (DeckCard::where('player_id = ? AND deck = ? ORDER BY position', [$player, $deck]) as $place) {
        $cards[] = UserCard::find($place['user_card_id']);
    }
    return $cards;
}

/** deck_power adds up what the cards of a deck are worth. */
function deck_power(int $player, int $deck): int
{
    $power = 0;
    foreach (deck_of($player, $deck) as $own) {
        $power += UserCard::power($own);
    }
    return $power;
}

/** decks is the editor: all decks with their cards. */
function decks(): string
{
    $out = '';
    for ($deck = 1; $deck <= DECKS; $deck++) {
        $list = '';
        foreach (deck_of(me()['id'], $deck) as $own) {
            $list .= card_row($own);
        }
        $power = deck_power(me()['id'], $deck);
        $out .= "<section id=\"deck$deck\"><h2>Deck $deck</h2><p>Power <b>$power</b></p><ul>\n$list</ul></section>\n";
    }
    return page('Decks', $out);
}

/** save_deck puts other cards into a deck. */
function save_deck(int $deck): string
{
    $cards = array_map(intval(...), explode(',', field('cards')));
    if ($deck < 1 || $deck > DECKS || count($cards) !== DECK_SIZE || count(array_unique($cards)) !== DECK_SIZE) {
        throw new Failure(400, 'a deck has ' . DECK_SIZE . ' cards');
    }
    foreach ($cards as $id) {
        if ((UserCard::find($id)['player_id'] ?? 0) !== me()['id']) {
            throw new Failure(403, 'not your card');
        }
    }
    in_tx(function () use ($deck, $cards): void {
        foreach (DeckCard::where('player_id = ? AND deck = ?', [me()['id'], $deck]) as $place) {
            DeckCard::delete($place['id']);
        }
        foreach ($cards as $i => $id) {
            DeckCard::insert(['player_id' => me()['id'], 'deck' => $deck, 'position' => $i + 1, 'user_card_id' => $id]);
        }
    });
    return redirect("/decks#deck$deck");
}
