<?php
$a = 1;
include __DIR__ . '/more.inc';
$b = 2;
return [ 'a' => $a ];
$c = 3;
