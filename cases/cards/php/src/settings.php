<?php
declare(strict_types=1);

/** settings returns one section of the settings file. */
function settings(string $section): array
{
    static $all = null;
    $all ??= parse_ini_file(__DIR__ . '/../config/app.ini', true);
    return $all[$section];
}

/** redis connects on first use. */
function redis(): Redis
{
    static $redis = null;
    if ($redis === null) {
        [$scheme, $at] = explode('://', settings('redis')['server'], 2);
        $redis = new Redis();
        if ($scheme === 'unix') {
            $redis->connect($at);
        } else {
            [$host, $port] = explode(':', $at);
            $redis->connect($host, (int) $port);
        }
    }
    return $redis;
}
