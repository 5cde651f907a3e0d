<?php
declare(strict_types=1);

const NOTICES = [
    'banned' => 'Your address is banned.',
    'locked' => 'This account is locked.',
    'wrong' => 'Wrong username or password.',
];

function h(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES, 'UTF-8');
}

function render(string $view, array $vars = []): void
{
    header('Content-Type: text/html; charset=utf-8');
    extract($vars);
    require __DIR__ . '/../views/header.php';
    require __DIR__ . "/../views/$view.php";
    require __DIR__ . '/../views/footer.php';
}

function redirect(string $to): void
{
    header('Location: ' . $to, true, 302);
}

function send_json(array $value): void
{
    header('Content-Type: application/json');
    echo json_encode($value, JSON_UNESCAPED_SLASHES), "\n";
}

function show_form(): void
{
    $notice = $_SESSION['notice'] ?? null;
    unset($_SESSION['notice']);
    render('form', ['notice' => $notice]);
}

function handle_login(): void
{
    [$user, $reason] = attempt_login((string) ($_POST['login'] ?? ''), (string) ($_POST['password'] ?? ''));
    if ($user === null) {
        $_SESSION['notice'] = NOTICES[$reason];
        redirect('/');
        return;
    }
    $_SESSION['user_id'] = (int) $user['id'];
    redirect('/mypage');
}

function show_mypage(): void
{
    $user = current_user();
    if ($user === null) {
        $_SESSION['notice'] = 'You must be logged in.';
        redirect('/');
        return;
    }
    render('mypage', ['user' => $user, 'previous' => previous_login((int) $user['id'])]);
}

function handle_logout(): void
{
    unset($_SESSION['user_id']);
    redirect('/');
}

function show_report(): void
{
    send_json(['banned_ips' => banned_ips(), 'locked_users' => locked_users()]);
}

function show_health(): void
{
    $users = query('SELECT COUNT(*) FROM users')->fetchColumn();
    send_json(['status' => 'ok', 'users' => (int) $users]);
}

function show_not_found(): void
{
    http_response_code(404);
    render('not_found');
}
