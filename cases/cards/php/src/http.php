<?php
declare(strict_types=1);

/** Failure is an answer that says why not. */
final class Failure extends Exception
{
    public function __construct(public int $status, string $text)
    {
        parent::__construct($text);
    }
}

/** redirect answers with another address. */
function redirect(string $to): string
{
    http_response_code(302);
    header("Location: $to");
    return '';
}

/** field is one field of a form. */
function field(string $name): string
{
    $value = $_POST[$name] ?? null;
    if (!is_string($value) || $value === '') {
        throw new Failure(400, "$name is needed");
    }
    return $value;
}

/** me is the player who is logged in. */
function me(): array
{
    $id = $_SESSION['player'] ?? throw new Failure(401, 'log in first');
    return Player::find($id);
}

/** route finds the handler of a request and the numbers in its path. */
function route(string $method, string $path): array
{
    foreach (routes() as [$m, $pattern, $handler]) {
        if ($m === $method && preg_match('#^' . $pattern . '$#', $path, $found)) {
            return [$handler, array_map(intval(...), array_slice($found, 1))];
        }
    }
    throw new Failure(404, 'not found');
}

/** dispatch answers a request. */
function dispatch(string $method, string $path): void
{
    try {
        [$handler, $numbers] = route($method, $path);
        $out = $handler(...$numbers);
    } catch (Failure $f) {
        http_response_code($f->status);
        $out = page('Not done', '<p class="error">' . h($f->getMessage()) . '</p>');
    } catch (Throwable $e) {
        error_log("$method $path: $e");
        http_response_code(500);
        $out = 'internal error';
    }
    echo $out;
}
