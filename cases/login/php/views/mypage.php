<section class="panel">
<h2>Welcome, <?= h($user['login']) ?></h2>
<?php if ($previous !== null): ?>
<p class="last-login">Last login at <b id="last-time"><?= h($previous['created_at']) ?> UTC</b> from <b id="last-ip"><?= h($previous['ip']) ?></b></p>
<?php endif ?>
<img class="card-art" src="/images/card.jpg" alt="Your card">
<form action="/logout" method="post">
<button class="button quiet" type="submit">Logout</button>
</form>
</section>
