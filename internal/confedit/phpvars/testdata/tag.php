<?php
$table_prefix = 'wp_';
$debug = false ?>
