<?php
declare(strict_types=1);

require __DIR__ . '/../src/settings.php';
require __DIR__ . '/../src/database.php';
require __DIR__ . '/../src/cache.php';
require __DIR__ . '/../src/orm.php';
require __DIR__ . '/../src/models.php';
require __DIR__ . '/../src/agent.php';
require __DIR__ . '/../src/view.php';
require __DIR__ . '/../src/http.php';
require __DIR__ . '/../src/home.php';
require __DIR__ . '/../src/deck.php';
require __DIR__ . '/../src/gacha.php';
require __DIR__ . '/../src/guild.php';
require __DIR__ . '/../src/admin.php';
require __DIR__ . '/../src/routes.php';

dispatch($_SERVER['REQUEST_METHOD'], explode('?', $_SERVER['REQUEST_URI'], 2)[0]);
