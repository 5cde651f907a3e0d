<?php
declare(strict_types=1);

const STATIC_TYPES = [
    'css' => 'text/css',
    'png' => 'image/png',
    'jpg' => 'image/jpeg',
];

/** send_static_file sends a file of public/ and reports whether there was one. */
function send_static_file(string $path): bool
{
    $type = STATIC_TYPES[pathinfo($path, PATHINFO_EXTENSION)] ?? null;
    if ($type === null) {
        return false;
    }
    $public = realpath(__DIR__ . '/../public');
    $file = realpath($public . $path);
    if ($file === false || !str_starts_with($file, $public . '/') || !is_file($file)) {
        return false;
    }
    header('Content-Type: ' . $type);
    header('Content-Length: ' . filesize($file));
    readfile($file);
    return true;
}
