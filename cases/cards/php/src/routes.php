<?php
declare(strict_types=1);

/** with_session begins the session that memcached keeps. */
function with_session(callable $handler): callable
{
    return function (int ...$numbers) use ($handler): string {
        session_start();
        return $handler(...$numbers);
    };
}

/** routes lists method, path and handler of all requests. */
function routes(): array
{
    return [
        ['GET', '/', with_session(home(...))],
        ['POST', '/login', with_session(login(...))],
        ['GET', '/mypage', with_session(mypage(...))],
        ['GET', '/decks', with_session(decks(...))],
        ['POST', '/decks/(\d+)', with_session(save_deck(...))],
        ['GET', '/gacha', with_session(gachas(...))],
        ['POST', '/gacha/(\d+)/draw', with_session(draw(...))],
        ['GET', '/guild', with_session(guild(...))],
        ['POST', '/guild/attack', with_session(attack(...))],
        ['GET', '/admin/books', books(...)],
        ['POST', '/initialize', initialize(...)],
    ];
}
