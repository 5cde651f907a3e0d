<?php
declare(strict_types=1);

/** RowCache keeps database rows in the memcached of this host. */
final class RowCache
{
    private static ?Memcached $pool = null;

    public static function pool(): Memcached
    {
        if (self::$pool === null) {
            $conf = settings('rows');
            self::$pool = new Memcached($conf['MEMCACHED_PERSISTENT_ID'] ?: null);
            if (!self::$pool->getServerList()) {
                [$host, $port] = explode(':', $conf['server'] . ':0');
                self::$pool->addServer($host, (int) $port);
            }
        }
        return self::$pool;
    }

    /** get returns what is kept under a name, or null. That there is something is kept apart, so that null can be kept, too. */
    public static function get(string $name): mixed
    {
        if (self::pool()->get("$name:kept") === false) {
            return null;
        }
        $value = self::pool()->get($name);
        return self::pool()->getResultCode() === Memcached::RES_SUCCESS ? $value : null;
    }

    public static function set(string $name, mixed $value): void
    {
        self::pool()->set($name, $value);
        self::pool()->set("$name:kept", 1);
    }

    /** add keeps a value unless there is one: what a request read before another one wrote must not replace it. */
    public static function add(string $name, mixed $value): void
    {
        self::pool()->add($name, $value);
        self::pool()->add("$name:kept", 1);
    }

    public static function delete(string $name): void
    {
        self::pool()->delete("$name:kept");
        self::pool()->delete($name);
    }
}
