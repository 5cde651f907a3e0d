<?php
declare(strict_types=1);

/** Agent tells a visitor's device by the table of agents. */
final class Agent
{
    private const FILE = __DIR__ . '/../data/agents.ini';

    /** table maps regular expressions to what is known of a device, the longest first. */
    private static function table(): array
    {
        $table = RowCache::get('agents');
        if ($table === null) {
            $table = [];
            foreach (parse_ini_file(self::FILE, true, INI_SCANNER_RAW) as $pattern => $known) {
                $table['#^' . strtr(preg_quote((string) $pattern, '#'), ['\*' => '.*', '\?' => '.']) . '$#i'] = $known;
            }
            uksort($table, fn (string $a, string $b): int => strlen($b) <=> strlen($a) ?: strcmp($a, $b));
            RowCache::set('agents', $table);
        }
        return $table;
    }

    /** of returns name and layout of the device that an agent names. */
    public static function of(string $agent): array
    {
        foreach (self::table() as $pattern => $known) {
            if (preg_match($pattern, $agent)) {
                return $known;
            }
        }
        return ['name' => 'unknown', 'layout' => 'pc'];
    }
}
