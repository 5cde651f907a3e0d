<?php
// want P1
$result = mysqli_query($conn, "SELECT id, user_id, title FROM posts ORDER BY id");
?>
<ul>
<?php while ($row = mysqli_fetch_assoc($result)) { ?>
<?php
    $uid = $row['user_id'];
    $uq = mysqli_query($conn, "SELECT name FROM users WHERE id = '$uid'");
    $u = mysqli_fetch_assoc($uq);
?>
  <li><?= htmlspecialchars($row['title']) ?> by <?php echo $u ? $u['name'] : 'nobody'; ?></li>
<?php } ?>
</ul>
