<?php
declare(strict_types=1);

// Routes that ask memcached and Redis.

/** banner_bad: the same key for each part of the page. */
function banner_bad(): array
{
    return ['top' => cached('banner'), 'middle' => cached('banner'), 'bottom' => cached('banner')];
}

function banner_clean(): array
{
    $banner = cached('banner');
    return ['top' => $banner, 'middle' => $banner, 'bottom' => $banner];
}

/** cards_bad: ten keys, ten gets. */
function cards_bad(): array
{
    return ['cards' => array_map(fn ($n) => cached("card:$n"), range(1, 10))];
}

function cards_clean(): array
{
    $keys = array_map(fn ($n) => "card:$n", range(1, 10));
    $found = cached_all($keys);
    return ['cards' => array_map(fn ($k) => $found[$k], $keys)];
}

/** scores_bad: ten keys, ten commands. */
function scores_bad(): array
{
    return ['scores' => array_map(fn ($n) => (int) redis(['GET', "score:$n"]), range(1, 10))];
}

function scores_clean(): array
{
    return ['scores' => array_map(intval(...), redis(['MGET', ...array_map(fn ($n) => "score:$n", range(1, 10))]))];
}

/** motd_bad: the same value again and again. */
function motd_bad(): array
{
    foreach (range(1, 3) as $_) {
        redis(['SET', 'motd', 'open']);
    }
    return ['motd' => 'open'];
}

function motd_clean(): array
{
    if (redis(['GET', 'motd']) !== 'open') {
        redis(['SET', 'motd', 'open']);
    }
    return ['motd' => 'open'];
}
