<?php
declare(strict_types=1);

/** connect_memcached: with an ID the worker keeps the connection. */
function connect_memcached(?string $id): Memcached
{
    $cache = new Memcached($id);
    if ($cache->isPristine()) {
        Spans::call('memcached connect', 'memcached', '', fn () => $cache->addServer(settings('memcached_host'), (int) settings('memcached_port')));
    }
    return $cache;
}

function memcached(): Memcached
{
    static $cache = null;
    return $cache ??= connect_memcached('patterns');
}

/** cached gets one key; null if it is not there. */
function cached(string $key, ?Memcached $cache = null): ?string
{
    $cache ??= memcached();
    $value = Spans::call('Memcached::get', 'memcached', "get $key", fn () => $cache->get($key));
    return $value === false ? null : (string) $value;
}

/** cached_all gets many keys with one command. */
function cached_all(array $keys): array
{
    return Spans::call('Memcached::getMulti', 'memcached', 'get ' . implode(' ', $keys), fn () => memcached()->getMulti($keys));
}

/** connect_redis makes a connection, or takes up the worker's own. */
function connect_redis(bool $persistent): Redis
{
    $redis = new Redis();
    [$host, $port] = [settings('redis_host'), (int) settings('redis_port')];
    $make = fn () => $persistent ? $redis->pconnect($host, $port) : $redis->connect($host, $port);
    !$persistent || first_use('redis') ? Spans::call('Redis::connect', 'redis', '', $make) : $make();
    return $redis;
}

/** redis sends one command. */
function redis(array $command, ?Redis $redis = null): mixed
{
    static $own = null;
    $redis ??= $own ??= connect_redis(true);
    return Spans::call($command[0], 'redis', implode(' ', $command), fn () => $redis->rawCommand(...$command));
}
