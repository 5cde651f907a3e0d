<?php
declare(strict_types=1);

/** Failure is an answer that says why not. */
final class Failure extends Exception
{
    public function __construct(public int $status, public array $body)
    {
        parent::__construct($body['error']);
    }
}

function refuse(int $status, string $text): Failure
{
    return new Failure($status, ['error' => $text]);
}

/** body decodes the body of a request; all $names are needed. */
function body(string ...$names): array
{
    $in = json_decode((string) file_get_contents('php://input'), true);
    if (!is_array($in)) {
        throw refuse(400, 'the body is no JSON of this request');
    }
    foreach ($names as $name) {
        if (!isset($in[$name])) {
            throw refuse(400, "$name is needed");
        }
    }
    return $in;
}

function head(string $name): string
{
    return $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '';
}

/** route finds the handler of a request and the numbers in its path. */
function route(string $method, string $path): array
{
    foreach (routes() as [$m, $pattern, $handler]) {
        if ($m === $method && preg_match('#^' . $pattern . '$#', $path, $found)) {
            return [$handler, array_map(intval(...), array_slice($found, 1))];
        }
    }
    throw refuse(404, 'not found');
}

/** dispatch answers a request in JSON. */
function dispatch(string $method, string $path, int $now): void
{
    try {
        [$handler, $numbers] = route($method, $path);
        $status = 200;
        $out = $handler($now, ...$numbers);
    } catch (Failure $f) {
        $status = $f->status;
        $out = $f->body;
    } catch (Throwable $e) {
        error_log("$method $path: $e");
        $status = 500;
        $out = ['error' => 'internal error'];
    }
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($out, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
}
