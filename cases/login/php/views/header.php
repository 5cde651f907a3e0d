<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Kiln Street Bank</title>
<link rel="stylesheet" href="/css/base.css">
<link rel="stylesheet" href="/css/site.css">
</head>
<body>
<header class="masthead">
<div class="container brand">
<img src="/images/logo.png" alt="">
<h1>Kiln Street Bank</h1>
<nav><a href="/">Login</a><a href="/mypage">My page</a></nav>
</div>
</header>
<main class="container">
