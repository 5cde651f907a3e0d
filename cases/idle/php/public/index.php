<?php
declare(strict_types=1);

require __DIR__ . '/../src/database.php';
require __DIR__ . '/../src/http.php';
require __DIR__ . '/../src/checks.php';
require __DIR__ . '/../src/obtain.php';
require __DIR__ . '/../src/login.php';
require __DIR__ . '/../src/home.php';
require __DIR__ . '/../src/gear.php';
require __DIR__ . '/../src/lottery.php';
require __DIR__ . '/../src/presents.php';
require __DIR__ . '/../src/admin.php';
require __DIR__ . '/../src/routes.php';

dispatch($_SERVER['REQUEST_METHOD'], explode('?', $_SERVER['REQUEST_URI'], 2)[0], time());
