<?php
// Reads texts from its input, each after a line with its length, and prints the tree of
// each as one line of JSON: k kind, s and e first byte and the byte behind, l line, r the
// name resolved, and what the node holds.

error_reporting(0);
ini_set('display_errors', 'stderr');

if (stream_resolve_include_path('PhpParser/autoload.php')) {
    require 'PhpParser/autoload.php';
} elseif (is_file('/usr/share/php/PhpParser/autoload.php')) {
    require '/usr/share/php/PhpParser/autoload.php';
}
if (!class_exists('PhpParser\ParserFactory')) {
    echo '{"no":"parser"}', "\n";
    exit;
}

// What version 5 calls otherwise than version 4.
const RENAMED = [
    'Scalar_Int' => 'Scalar_LNumber', 'Scalar_Float' => 'Scalar_DNumber', 'Scalar_InterpolatedString' => 'Scalar_Encapsed',
    'InterpolatedStringPart' => 'Scalar_EncapsedStringPart', 'ArrayItem' => 'Expr_ArrayItem', 'ClosureUse' => 'Expr_ClosureUse',
    'PropertyItem' => 'Stmt_PropertyProperty', 'StaticVar' => 'Stmt_StaticVar', 'UseItem' => 'Stmt_UseUse',
];

function plain($value)
{
    if (is_array($value)) {
        return array_map('plain', $value);
    }
    if (!$value instanceof PhpParser\Node) {
        return $value;
    }
    $kind = $value->getType();
    $out = ['k' => RENAMED[$kind] ?? $kind, 's' => $value->getAttribute('startFilePos'), 'e' => $value->getAttribute('endFilePos') + 1, 'l' => $value->getAttribute('startLine')];
    foreach (['resolvedName', 'namespacedName'] as $attribute) {
        if ($name = $value->getAttribute($attribute)) {
            $out['r'] = $name->toString();
        }
    }
    if ($value instanceof PhpParser\Node\Name) {
        $out['name'] = $value->toString();
        return $out;
    }
    if (isset($value->namespacedName)) {
        $out['r'] = $value->namespacedName->toString();
    }
    foreach ($value->getSubNodeNames() as $name) {
        $sub = plain($value->$name);
        if ($sub !== null && $sub !== [] && $sub !== false) {
            $out[$name] = $sub;
        }
    }
    return $out;
}

$attributes = ['usedAttributes' => ['startLine', 'startFilePos', 'endFilePos']];
$factory = new PhpParser\ParserFactory;
if (method_exists($factory, 'createForNewestSupportedVersion')) {
    $parser = $factory->createForNewestSupportedVersion();
} else {
    $parser = $factory->create(PhpParser\ParserFactory::PREFER_PHP7, new PhpParser\Lexer\Emulative($attributes));
}
echo '{"ready":true}', "\n";
while (($line = fgets(STDIN)) !== false) {
    $source = '';
    for ($left = (int) $line; $left > 0; $left -= strlen($part)) {
        $part = fread(STDIN, $left);
        if ($part === false || $part === '') {
            exit(1);
        }
        $source .= $part;
    }
    try {
        $traverser = new PhpParser\NodeTraverser;
        $traverser->addVisitor(new PhpParser\NodeVisitor\NameResolver(null, ['replaceNodes' => false]));
        $out = ['stmts' => plain($traverser->traverse($parser->parse($source)))];
    } catch (Throwable $e) {
        $out = ['error' => $e->getMessage()];
    }
    $json = json_encode($out, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE, 4096);
    echo $json === false ? '{"error":"no JSON"}' : $json, "\n";
}
