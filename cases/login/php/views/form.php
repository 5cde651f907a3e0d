<div class="hero"><img src="/images/building.jpg" alt="Head office"></div>
<section class="panel">
<img class="icon" src="/images/lock.png" alt="">
<h2>Login</h2>
<?php if ($notice !== null): ?>
<div class="notice" id="notice"><?= h($notice) ?></div>
<?php endif ?>
<form action="/login" method="post">
<div class="field"><label for="login">User name</label><input type="text" id="login" name="login"></div>
<div class="field"><label for="password">Password</label><input type="password" id="password" name="password"></div>
<button class="button" type="submit">Login</button>
</form>
</section>
