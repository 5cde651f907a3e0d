<?php
// Runs all programs with the rows of a seed and prints what each gives:
// run.php SOCKET SEED
[, $socket, $seed] = $argv;
$dsn = "mysql:unix_socket=$socket;dbname=app;charset=utf8mb4";
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
foreach (['connect', 'prepares', 'preparetraps'] as $file) {
    require __DIR__ . "/$file.php";
}
mt_srand((int) $seed);
$pdo = connect();

function run_users(): array
{
    $out = [];
    for ($i = mt_rand(0, 30); $i > 0; $i--) {
        $out[] = ['id' => mt_rand(0, 20), 'nick' => [null, 'n1', 'N2', 'n3 ', 'o' . mt_rand(0, 9)][mt_rand(0, 4)], 'score' => mt_rand(-3, 12)];
    }
    return $out;
}

function run_say(string $name, callable $work): void
{
    global $pdo;
    $pdo->exec('DELETE FROM users');
    $pdo->exec('DELETE FROM notes');
    $pdo->exec('ALTER TABLE notes AUTO_INCREMENT = 1');
    $rows = [];
    for ($i = 1; $i < 20; $i++) {
        $rows[] = "($i, 'u$i', " . ($i % 4 ? "'n$i'" : 'NULL') . ', ' . mt_rand(0, 9) . ')';
    }
    $pdo->exec('INSERT INTO users VALUES ' . implode(', ', $rows));
    try {
        $said = $work();
    } catch (Throwable $e) {
        $said = get_class($e) . ': ' . $e->getMessage();
    }
    echo json_encode([$name, $said, $pdo->query('SELECT * FROM users')->fetchAll(PDO::FETCH_NUM), $pdo->query('SELECT * FROM notes')->fetchAll(PDO::FETCH_NUM)]), "\n";
}

error_reporting(E_ALL & ~E_WARNING);
for ($round = 0; $round < 8; $round++) {
    foreach (['addEach', 'nameEach', 'byNick', 'firstOfMany', 'addOnce', 'ofColumn', 'modes', 'databases', 'keptStatements', 'givenAway', 'modeOfSome', 'reconnects', 'twoStatements', 'countsLast'] as $name) {
        run_say($name, fn () => $name($pdo, run_users()));
    }
    foreach (['linkAdd', 'linkAbove', 'linkCloses', 'linkResults'] as $name) {
        run_say($name, fn () => $name(link_of(), run_users()));
    }
    run_say('aboveAll', fn () => aboveAll($pdo, ['a' => run_users(), 'b' => [], 'c' => run_users()]));
    run_say('shards', fn () => shards($pdo, connect(), run_users()));
    run_say('asksBack', fn () => asksBack($pdo, run_users(), 'strlen'));
    run_say('Notes.drop', fn () => (new Notes($pdo))->drop(run_users()));
}
