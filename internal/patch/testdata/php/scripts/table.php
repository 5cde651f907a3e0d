<?php
// want P1
$list = $pdo->query('SELECT id, user_id FROM posts ORDER BY id')->fetchAll();
foreach ($list as $entry):
    $find = $pdo->prepare('SELECT name, lang FROM users WHERE id = ?');
    $find->execute([$entry['user_id']]);
    $writer = $find->fetch(PDO::FETCH_ASSOC);
    if (!$writer):
        echo "-\n";
        continue;
    endif;
    echo $entry['id'], ' ', $writer['name'], ' ', $writer['lang'], "\n";
endforeach;
