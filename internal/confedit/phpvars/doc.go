// Package phpvars edits plain assignments of variables in a PHP file of
// settings, such as MediaWiki's LocalSettings.php: `$name = expression;`
// outside of all blocks. It keeps every byte that it does not change.
//
// In: a file's bytes. Out: what a variable is set to, as PHP code, and the
// bytes with another assignment. The file is read as PHP's own scanner reads
// it (zend_language_scanner.l): tags, comments, strings, heredocs, brackets;
// nothing is run.
//
// Where the text does not tell what a variable will be (it is set in a block,
// by a reference, part by part, or may be set by an included file) a Value is
// not Sure, and Set refuses what it could not be sure of.
package phpvars
