<?php
// Connections whose statements the server prepares.

/**
 * Programs set something of their connections.
 * want P10 refused: session
 */
function connect(): PDO
{
    return new PDO($GLOBALS['dsn'], 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false]);
}

function link_of(): mysqli
{
    static $link = null;
    return $link ??= mysqli_connect(null, 'root', '', 'app', 0, $GLOBALS['socket']);
}
