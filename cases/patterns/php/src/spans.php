<?php
declare(strict_types=1);

// OpenTelemetry spans over OTLP/HTTP as JSON, sent after the answer. The
// attributes have the names of the older semantic conventions (http.method,
// db.statement, code.filepath), as many PHP programs still have.

/** Spans collects what one request did. */
final class Spans
{
    private const SERVER = 2, CLIENT = 3; // SpanKind of trace.proto
    private static array $spans = [];
    private static string $trace = '', $root = '', $began = '';

    public static function wanted(): bool
    {
        return settings('otel') !== '';
    }

    private static function now(): string
    {
        return (string) (int) (microtime(true) * 1e6) . '000';
    }

    public static function begin(): void
    {
        if (self::wanted()) {
            [self::$trace, self::$root, self::$began] = [bin2hex(random_bytes(16)), bin2hex(random_bytes(8)), self::now()];
        }
    }

    /** call does $act and notes it as a call to a server behind the service. */
    public static function call(string $name, string $system, string $text, callable $act): mixed
    {
        if (!self::wanted()) {
            return $act();
        }
        $began = self::now();
        try {
            return $act();
        } finally {
            [$host, $port] = [settings(self::HOSTS[$system] . '_host'), settings(self::HOSTS[$system] . '_port')];
            $attributes = ['db.system' => $system, 'server.address' => $host, 'server.port' => (int) $port] + self::caller();
            if ($text !== '') {
                $attributes['db.statement'] = $text;
            }
            self::add($name, self::CLIENT, bin2hex(random_bytes(8)), self::$root, $began, $attributes);
        }
    }

    private const HOSTS = ['mysql' => 'db', 'memcached' => 'memcached', 'redis' => 'redis'];

    /** caller is the line of a route that made the call. */
    private static function caller(): array
    {
        foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $frame) {
            if (!in_array(basename($frame['file'] ?? ''), ['', 'spans.php', 'database.php', 'caches.php'], true)) {
                return ['code.filepath' => $frame['file'], 'code.lineno' => $frame['line']];
            }
        }
        return [];
    }

    private static function add(string $name, int $kind, string $id, string $parent, string $began, array $attributes): void
    {
        $list = [];
        foreach ($attributes as $key => $value) {
            $list[] = ['key' => $key, 'value' => is_int($value) ? ['intValue' => (string) $value] : ['stringValue' => $value]];
        }
        self::$spans[] = ['traceId' => self::$trace, 'spanId' => $id, 'name' => $name, 'kind' => $kind,
            'startTimeUnixNano' => $began, 'endTimeUnixNano' => self::now(), 'attributes' => $list]
            + ($parent === '' ? [] : ['parentSpanId' => $parent]);
    }

    /** end sends what was collected; a collector that does not answer is nobody's harm. */
    public static function end(string $method, string $target, string $route, int $status): void
    {
        if (!self::wanted()) {
            return;
        }
        self::add("$method $route", self::SERVER, self::$root, '', self::$began, [
            'http.method' => $method, 'http.target' => $target, 'http.route' => $route, 'http.status_code' => $status]);
        $body = json_encode(['resourceSpans' => [[
            'resource' => ['attributes' => [['key' => 'service.name', 'value' => ['stringValue' => 'patterns']]]],
            'scopeSpans' => [['scope' => ['name' => 'patterns'], 'spans' => self::$spans]],
        ]]], JSON_UNESCAPED_SLASHES);
        @file_get_contents(settings('otel') . '/v1/traces', false, stream_context_create(['http' => [
            'method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => $body,
            'timeout' => 2, 'ignore_errors' => true]]));
    }
}
