<?php
$table_prefix = 'wp_';
$url = 'https://' . ( $_SERVER['HTTP_HOST'] ?? 'x' );
$debug = false;
if ( $debug ) :?>
