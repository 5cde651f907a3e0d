<?php
declare(strict_types=1);

require __DIR__ . '/../src/settings.php';
require __DIR__ . '/../src/database.php';
require __DIR__ . '/../src/login.php';
require __DIR__ . '/../src/report.php';
require __DIR__ . '/../src/static.php';
require __DIR__ . '/../src/pages.php';

date_default_timezone_set('UTC');

$method = $_SERVER['REQUEST_METHOD'];
$path = rawurldecode(explode('?', $_SERVER['REQUEST_URI'], 2)[0]);

if (($method === 'GET' || $method === 'HEAD') && send_static_file($path)) {
    exit;
}

session_start();

switch ($path) {
    case '/':
        show_form();
        break;
    case '/login':
        $method === 'POST' ? handle_login() : show_not_found();
        break;
    case '/mypage':
        show_mypage();
        break;
    case '/logout':
        handle_logout();
        break;
    case '/report':
        show_report();
        break;
    case '/health':
        show_health();
        break;
    default:
        show_not_found();
}
