<?php
// The connections of all programs.

/**
 * One of its options is given a value twice.
 * want P10 refused: arguments
 */
function connect(): PDO
{
    return new PDO($GLOBALS['dsn'], 'root', '', [PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => $GLOBALS['emulate']]);
}

function db(): PDO
{
    static $pdo = null;
    return $pdo ??= connect();
}

function link_of(): mysqli
{
    static $link = null;
    return $link ??= mysqli_connect(null, 'root', '', 'app', 0, $GLOBALS['socket']);
}

$pdo = connect();
$conn = link_of();
