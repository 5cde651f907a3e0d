<?php
// Runs all programs with the rows of a seed and prints what each gives:
// run.php SOCKET SEED EMULATE
[, $socket, $seed, $emulate] = $argv;
$dsn = "mysql:unix_socket=$socket;dbname=app;charset=utf8mb4";
$emulate = (bool) $emulate;
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
foreach (['connect', 'plain', 'traps', 'link', 'helpers', 'writes', 'writetraps', 'kept', 'draws', 'lists', 'sums', 'listtraps', 'shop/Catalogue'] as $file) {
    require __DIR__ . "/$file.php";
}
$runSeed = (int) $seed;

function run_fill(int $seed): void
{
    mt_srand($seed);
    $db = db();
    foreach (['DELETE FROM users', 'DELETE FROM posts', 'DELETE FROM notes', 'DELETE FROM padded', 'DELETE FROM weights', 'DELETE FROM log', 'DELETE FROM marks', 'DELETE FROM comments', 'DELETE FROM rates'] as $sql) {
        $db->exec($sql);
    }
    $rows = mt_rand(0, 40);
    for ($i = 1; $i <= $rows; $i++) {
        if (mt_rand(0, 4)) {
            $db->exec(sprintf("INSERT INTO users VALUES (%d, 'n%d', %s, %s, 'k%d', '%s')", $i, mt_rand(0, 9), mt_rand(0, 3) ? mt_rand(-5, 5) : 'NULL', mt_rand(0, 3) ? mt_rand(0, 40) : 'NULL', $i, mt_rand(0, 1) ? 'en' : 'de'));
        }
        $db->exec("INSERT INTO padded VALUES ($i, 'p$i')");
        $db->exec("INSERT INTO weights VALUES ($i, 'w$i')");
    }
    $rows = mt_rand(0, 40);
    for ($i = 1; $i <= $rows; $i++) {
        $db->exec(sprintf("INSERT INTO posts VALUES (%d, %s, 't%d', %s)", $i, mt_rand(0, 5) ? mt_rand(0, 45) : 'NULL', $i, mt_rand(0, 2) ? mt_rand(0, 999) / 100 : 'NULL'));
    }
    $null = fn ($value) => mt_rand(0, 3) ? $value : 'NULL';
    $rows = mt_rand(0, 90);
    for ($i = 1; $i <= $rows; $i++) {
        $db->exec(sprintf("INSERT INTO comments VALUES (%d, %d, %s, '%s', %s, %s, %s, %s)", $i * 7 % 97, mt_rand(-1, 30), $null(mt_rand(0, 9)), ['c1', 'C1', '2', '02', 'a'][mt_rand(0, 4)],
            $null(mt_rand(0, 5)), $null(mt_rand(0, 999) / 100), $null(mt_rand() / 7), $null("'2026-01-0" . mt_rand(1, 4) . "'")));
        $db->exec(sprintf('INSERT INTO rates VALUES (%d, %d, %s)', $i, mt_rand(0, 30), mt_rand(0, 1000) / 7));
    }
}

function run_keys(): array
{
    $odd = [null, '', '1', '01', ' 2', '2 ', 3.0, 3.7, '4abc', true, false, -1, '-1', '-0', 0, PHP_INT_MAX, '9223372036854775808', '1e1', "5\n"];
    $out = [];
    for ($i = mt_rand(0, 50); $i > 0; $i--) {
        $out[] = mt_rand(0, 2) ? mt_rand(0, 45) : $odd[array_rand($odd)];
    }
    return $out;
}

function run_posts(): array
{
    $out = [];
    foreach (run_keys() as $i => $key) {
        $post = ['id' => $i, 'user_id' => $key, 'title' => "t$i"];
        $out[] = $post;
    }
    return $out;
}

function run_say(string $name, callable $work): void
{
    global $runSeed;
    mt_srand($runSeed + crc32($name));
    db()->exec('UPDATE users SET score = id, name = IF(id % 7 = 0, "0", CONCAT("n", id))');
    try {
        ob_start();
        $out = $work();
        if ($out instanceof Generator) {
            $out = iterator_to_array($out);
        }
        $said = var_export($out, true);
    } catch (Throwable $e) {
        // Which row of a statement failed is another number where it has several.
        $said = get_class($e) . ': ' . preg_replace('/, called in .*| must be of type| at row \d+/', '', $e->getMessage());
    }
    $said .= ob_get_clean();
    $left = md5(json_encode([db()->query('SELECT * FROM users')->fetchAll(), db()->query('SELECT text FROM log ORDER BY id')->fetchAll(), db()->query('SELECT * FROM notes')->fetchAll(), db()->query('SELECT * FROM posts')->fetchAll(), db()->query('SELECT * FROM marks')->fetchAll(), db()->query('SELECT * FROM comments')->fetchAll()]));
    echo json_encode([$name, $said, $left], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}

error_reporting(E_ALL & ~E_DEPRECATED & ~E_WARNING);
foreach ([1, 2, 3] as $round) {
    run_fill($runSeed * 10 + $round);
    $with = function (array $names, callable $call) {
        foreach ($names as $name) {
            run_say($name, fn () => $call($name));
        }
    };
    $pdo = connect();
    $with(['authors', 'named', 'boths', 'byIndex', 'assignedKey', 'changesKey', 'overwritesKey', 'inText', 'chain', 'usersOf', 'countsCalls', 'truths', 'renames',
        'raises', 'raisesByFunction', 'locks', 'shards', 'wrapped', 'counts', 'countsAtEnd', 'twoValues', 'oneByOne', 'logs'], fn ($f) => $f($pdo, run_posts()));
    $with(['bound', 'byNick', 'firstPost', 'padded', 'weights', 'objects', 'below', 'otherBetween', 'numbersBound', 'modeSet', 'compacts'], fn ($f) => $f($pdo, run_keys()));
    $with(['listOfCall', 'resultItself', 'objectsInList', 'twoOfResult', 'restOfResult', 'columnsOfResult'], fn ($f) => $f($pdo));
    $with(['scoresOf', 'linkText', 'wordsOf', 'columnsOf'], fn ($f) => $f(run_posts()));
    $with(['namesOf'], fn ($f) => $f(array_filter(run_posts(), fn ($p) => is_int($p['user_id']))));
    $with(['link_authors'], fn ($f) => $f(link_of(), run_posts()));
    $with(['linkRow', 'linkCounts', 'linkWrites'], fn ($f) => $f(link_of(), run_keys()));
    $with(['linkArrays'], fn ($f) => $f(link_of()));
    run_say('linkOnce', fn () => linkOnce(link_of(), run_posts(), 'de'));
    run_say('linkTwo', fn () => linkTwo(link_of(), run_keys(), 'de'));
    run_say('bound with an iterator', fn () => bound($pdo, new ArrayIterator(run_keys())));
    run_say('conditional', fn () => conditional($pdo, run_keys(), 'en'));
    run_say('keysOfList', fn () => keysOfList(array_combine(range(1, 9), range(1, 9)) + ['x' => 1, '07' => 2]));
    run_say('nested', fn () => nested($pdo, ['a' => run_posts(), 'b' => run_posts(), 'c' => []]));
    run_say('destructured', fn () => destructured($pdo, array_map(fn ($k) => [$k, 'w'], run_keys())));
    run_say('powerOf', fn () => powerOf(['first' => mt_rand(1, 40), 'second' => mt_rand(1, 40), 'third' => '07']));
    run_say('ownersOf', fn () => ownersOf(array_map('json_encode', run_keys()), 'en'));
    run_say('sentAndChanged', fn () => sentAndChanged(run_keys()));
    run_say('whileRows', fn () => whileRows($pdo, 2));
    run_say('callsBack', fn () => callsBack($pdo, run_posts(), 'json_encode'));
    run_say('ofTable', fn () => ofTable($pdo, run_keys(), 'users'));
    run_say('modeGiven', fn () => modeGiven($pdo, run_keys(), PDO::FETCH_NUM));
    run_say('upwards', fn () => upwards($pdo, 3));
    run_say('in_transaction', fn () => in_transaction($pdo, fn () => logs($pdo, run_posts())));
    $with(['addNotes', 'addNamed', 'addBound', 'addMarks', 'some_logs', 'addEach', 'addSome', 'addMissing', 'addTold', 'addCounted', 'addLogs', 'addUntil', 'addElsewhere', 'addAfter', 'addPrinted', 'addRandom',
        'addCounting', 'renameEach'], fn ($f) => $f($pdo, run_posts()));
    $with(['moveEach', 'raiseEach', 'dropNamed', 'dropTold', 'dropCounted', 'markBound', 'forgetBound', 'forget'], fn ($f) => $f($pdo, run_keys()));
    $with(['kindsOf', 'kindTraps', 'numbersDrawn'], fn ($f) => $f(run_keys()));
    $with(['comments', 'latest', 'listsInText', 'commentCounts', 'countsInPosts', 'starsInPosts', 'lastDays', 'countedPosts', 'summedPosts', 'allComments', 'answersEach', 'renamesEach', 'countsAndRaises',
        'pairsOf'], fn ($f) => $f($pdo, run_posts()));
    $with(['wordsUntil', 'withAuthors', 'byText', 'starsAbove', 'totals', 'averages', 'sumInText', 'lockedLists', 'shuffledLists', 'objectLists', 'pairLists', 'taggedLists', 'rateLists', 'otherLists', 'countedLists',
        'foundLists', 'foundRows', 'weightSums', 'firstWords', 'countsByText', 'countsAbove', 'countsAndSums', 'countTexts', 'scoreTexts', 'sureUsers', 'firstAndRest'], fn ($f) => $f($pdo, run_keys()));
    $with(['overStatement', 'lastOfWhile', 'starsOfWhile', 'twoAtOnce', 'restOfWhile', 'changesStatement'], fn ($f) => $f($pdo, run_keys()));
    $with(['whileComments', 'authorsOfLists', 'raisesInWhile'], fn ($f) => $f($pdo, run_posts()));
    run_say('deepLists', fn () => deepLists($pdo, ['a' => run_posts(), 'b' => run_posts(), 'c' => []]));
    run_say('linkWhile', fn () => linkWhile(link_of(), run_posts()));
    run_say('linkRows', fn () => linkRows(link_of(), run_keys()));
    $with(['listsSent', 'sumsSent'], fn ($f) => $f(run_posts()));
    run_say('listsFetched', fn () => listsFetched(array_map('strval', run_keys())));
    run_say('someOf', fn () => someOf($pdo, run_posts(), 3));
    run_say('listsTold', fn () => listsTold($pdo, run_keys(), 'count'));
    run_say('downwards', fn () => downwards($pdo, 3));
    $with(['linkLists', 'linkSums'], fn ($f) => $f(link_of(), run_posts()));
    $with(['linkTexts', 'linkTotals'], fn ($f) => $f(link_of(), run_keys()));
    run_say('sent_notes', fn () => sent_notes(run_posts(), 'sent'));
    run_say('sent_marks', fn () => sent_marks(run_keys(), 'all'));
    run_say('link_notes', fn () => link_notes(link_of(), run_posts()));
    run_say('link_forget', fn () => link_forget(link_of(), run_keys(), 't1'));
    $shop = (new Shop\Catalogue($pdo, 'en'))->start();
    foreach (['authors' => run_posts(...), 'all' => run_keys(...), 'renameAll' => run_keys(...), 'moves' => run_keys(...), 'note' => run_posts(...)] as $method => $given) {
        run_say("shop $method", fn () => $shop->$method($given()));
    }
    foreach (['list', 'table'] as $script) {
        ob_start();
        require __DIR__ . "/scripts/$script.php";
        echo json_encode([$script, ob_get_clean()]), "\n";
    }
}
