<?php
// mysqli by its functions.
$socket = getenv('DB_SOCKET');

// want P10
function db_connect()
{
	global $socket;
	$link = mysqli_connect(null, 'root', '', 'app', 0, $socket);
	if (!$link) {
		die('no database');
	}
	mysqli_set_charset($link, 'utf8mb4');
	return $link;
}

function find_user($id)
{
	$link = db_connect();
	$result = mysqli_query($link, 'SELECT * FROM users WHERE id = ' . (int) $id);
	$row = mysqli_fetch_assoc($result);
	mysqli_free_result($result);
	return $row;
}

function add_note($id, $text)
{
	$link = db_connect();
	$stmt = mysqli_prepare($link, 'INSERT INTO notes (user_id, text) VALUES (?, ?)');
	mysqli_stmt_bind_param($stmt, 'is', $id, $text);
	mysqli_stmt_execute($stmt);
	$new = mysqli_insert_id($link);
	mysqli_stmt_close($stmt);
	return $new;
}

foreach (array(1, 2, 8) as $id) {
	echo json_encode(array(find_user($id), add_note($id, "t$id"))), "\n";
}
