<?php
declare(strict_types=1);

// Routes that connect: to the database, memcached and Redis.

/** connect_db_bad: a connection for this request only. */
function connect_db_bad(): array
{
    return ['tag' => rows('SELECT name FROM tags WHERE id = ?', [1], connect_db(false))[0]['name']];
}

function connect_db_clean(): array
{
    return ['tag' => rows('SELECT name FROM tags WHERE id = ?', [1])[0]['name']];
}

/** connect_memcached_bad: a connection for this request only. */
function connect_memcached_bad(): array
{
    return ['card' => cached('card:1', connect_memcached(null))];
}

function connect_memcached_clean(): array
{
    return ['card' => cached('card:1')];
}

/** connect_redis_bad: a connection for this request only. */
function connect_redis_bad(): array
{
    return ['score' => (int) redis(['GET', 'score:1'], connect_redis(false))];
}

function connect_redis_clean(): array
{
    return ['score' => (int) redis(['GET', 'score:1'])];
}
