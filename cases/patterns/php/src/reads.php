<?php
declare(strict_types=1);

// Routes that read the database.

const PAGE = 'SELECT id, author_id, title FROM posts ORDER BY id LIMIT 10';

/** posts has no pattern: one statement. */
function posts(): array
{
    return ['posts' => array_map(fn ($p) => ['id' => $p['id'], 'title' => $p['title']], rows(PAGE))];
}

/** home has no pattern: one call to each server, two to the database. */
function home(): array
{
    $post = rows('SELECT id, author_id, title FROM posts WHERE id = ?', [1])[0];
    $author = rows('SELECT name FROM authors WHERE id = ?', [(int) $post['author_id']])[0];
    return ['title' => $post['title'], 'author' => $author['name'], 'banner' => cached('banner'), 'score' => (int) redis(['GET', 'score:1'])];
}

/** feed_bad: n+1, a statement for each post. */
function feed_bad(): array
{
    $feed = [];
    foreach (rows(PAGE) as $post) {
        $author = rows('SELECT name FROM authors WHERE id = ?', [(int) $post['author_id']])[0];
        $feed[] = ['title' => $post['title'], 'author' => $author['name']];
    }
    return ['feed' => $feed];
}

function feed_clean(): array
{
    $posts = rows(PAGE);
    $ids = array_map(intval(...), array_column($posts, 'author_id'));
    $names = array_column(rows('SELECT id, name FROM authors WHERE id IN (' . placeholders($ids) . ')', $ids), 'name', 'id');
    return ['feed' => array_map(fn ($p) => ['title' => $p['title'], 'author' => $names[$p['author_id']]], $posts)];
}

function author_name(int $id): string
{
    return rows('SELECT name FROM authors WHERE id = ?', [$id])[0]['name'];
}

/** profile_bad: the same row for the title, the heading and the footer. */
function profile_bad(int $id): array
{
    return ['title' => author_name($id), 'heading' => author_name($id), 'footer' => author_name($id)];
}

function profile_clean(int $id): array
{
    $name = author_name($id);
    return ['title' => $name, 'heading' => $name, 'footer' => $name];
}

/** account_bad: three statements on one row of one table. */
function account_bad(int $id): array
{
    return [
        'name' => rows('SELECT name FROM authors WHERE id = ?', [$id])[0]['name'],
        'email' => rows('SELECT email FROM authors WHERE id = ?', [$id])[0]['email'],
        'city' => rows('SELECT city FROM authors WHERE id = ?', [$id])[0]['city'],
    ];
}

function account_clean(int $id): array
{
    return rows('SELECT name, email, city FROM authors WHERE id = ?', [$id])[0];
}

/** tag_bad: prepared on the server, executed once, closed. */
function tag_bad(int $id): array
{
    return ['tag' => prepared_rows('SELECT name FROM tags WHERE id = ?', [$id])[0]['name']];
}

function tag_clean(int $id): array
{
    return ['tag' => rows('SELECT name FROM tags WHERE id = ?', [$id])[0]['name']];
}
