<?php
declare(strict_types=1);

/** routes lists method, path and handler of all requests. */
function routes(): array
{
    return [
        ['GET', '/health', health(...)],
        ['POST', '/initialize', initialize(...)],
        ['POST', '/user', versioned(register(...))],
        ['POST', '/login', versioned(login(...))],
        ['GET', '/user/(\d+)/home', player(home(...))],
        ['POST', '/user/(\d+)/gather', player(gather(...))],
        ['POST', '/user/(\d+)/deck', player(set_deck(...))],
        ['GET', '/user/(\d+)/items', player(items(...))],
        ['POST', '/user/(\d+)/gear', player(buy_gear(...))],
        ['POST', '/user/(\d+)/gear/(\d+)/exp', player(add_exp(...))],
        ['GET', '/user/(\d+)/lottery', player(lotteries(...))],
        ['POST', '/user/(\d+)/lottery/(\d+)/draw/(\d+)', player(draw(...))],
        ['GET', '/user/(\d+)/presents/(\d+)', player(presents(...))],
        ['POST', '/user/(\d+)/presents/receive', player(receive(...))],
        ['POST', '/admin/login', admin_login(...)],
        ['GET', '/admin/master', admin(master(...))],
        ['PUT', '/admin/master', admin(load_master(...))],
        ['POST', '/admin/user/(\d+)/ban', admin(ban(...))],
        ['GET', '/admin/books', admin(books(...))],
    ];
}

/** health is up when the database answers. */
function health(): array
{
    return ['status' => 'ok', 'master_version' => master_version()];
}

/** initialize is told that the data was replaced. Nothing is kept, so nothing is to do. */
function initialize(): array
{
    return ['language' => 'php'];
}
