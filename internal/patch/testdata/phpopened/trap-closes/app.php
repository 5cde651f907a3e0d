<?php
// want P10 refused: session
function db()
{
    $link = mysqli_connect(null, 'root', '', 'app', 0, getenv('DB_SOCKET'));
    return $link;
}

function score($id)
{
    $link = db();
    $row = mysqli_fetch_row(mysqli_query($link, 'SELECT score FROM users WHERE id = ' . (int) $id));
    mysqli_close($link);
    return $row;
}

foreach ([1, 2] as $id) {
    try {
        echo json_encode(score($id)), "\n";
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
}
