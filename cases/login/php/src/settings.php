<?php
declare(strict_types=1);

/** settings returns one section of config/app.ini. */
function settings(string $section): array
{
    $all = parse_ini_file(__DIR__ . '/../config/app.ini', true);
    if ($all === false || !isset($all[$section])) {
        throw new RuntimeException("config/app.ini has no section [$section]");
    }
    return $all[$section];
}
