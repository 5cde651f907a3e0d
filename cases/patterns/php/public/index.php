<?php
declare(strict_types=1);

// The patterns service in PHP: every route in a bad and a clean form.

foreach (['settings', 'spans', 'database', 'caches', 'reads', 'writes', 'cached', 'connects', 'routes'] as $part) {
    require __DIR__ . "/../src/$part.php";
}

serve($_SERVER['REQUEST_METHOD'], explode('?', $_SERVER['REQUEST_URI'], 2)[0]);
