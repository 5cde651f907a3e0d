<?php
declare(strict_types=1);

/** ROUTES: the function that answers; where there is none of this name, the
 * one with _bad or _clean after it. */
const ROUTES = [
    'GET /ping' => 'ping',
    'GET /posts' => 'posts',
    'GET /home' => 'home',
    'POST /notes/{id}' => 'note',
    'GET /feed' => 'feed',
    'GET /profiles/{id}' => 'profile',
    'GET /accounts/{id}' => 'account',
    'GET /tags/{id}' => 'tag',
    'POST /events' => 'events',
    'POST /stock' => 'stock',
    'POST /orders' => 'order',
    'POST /grants' => 'grants',
    'GET /banner' => 'banner',
    'GET /cards' => 'cards',
    'GET /scores' => 'scores',
    'POST /motd' => 'motd',
    'GET /connect/db' => 'connect_db',
    'GET /connect/memcached' => 'connect_memcached',
    'GET /connect/redis' => 'connect_redis',
];

function ping(): array
{
    return ['ok' => true];
}

/** serve answers with JSON and sends the spans after it. */
function serve(string $method, string $path): void
{
    $route = preg_replace('~/\d+$~', '/{id}', $path);
    $name = ROUTES["$method $route"] ?? null;
    $id = (int) basename($path);
    // IDs go from 1 to 50.
    if ($name === null || str_ends_with($route, '{id}') && ($id < 1 || $id > 50)) {
        answer(404, ['error' => 'not found']);
        return;
    }
    Spans::begin();
    // connect_db and its like are the functions that connect, not routes.
    $form = $name . '_' . settings('form');
    $act = function_exists($form) ? $form : $name;
    $answer = str_ends_with($route, '{id}') ? $act($id) : $act();
    answer(200, $answer);
    fastcgi_finish_request();
    Spans::end($method, $path, $route, 200);
}

function answer(int $status, array $value): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($value);
}
