<?php
declare(strict_types=1);

/** settings returns one value of app.ini. */
function settings(string $name): string
{
    static $all = null;
    $all ??= parse_ini_file(__DIR__ . '/../app.ini');
    return (string) $all[$name];
}

/** first_use tells whether this worker asks for the first time; PHP itself
 * does not say whether it took up an old connection or made a new one. */
function first_use(string $what): bool
{
    $file = settings('seen') . '/' . getmypid() . ".$what";
    return !file_exists($file) && touch($file);
}
