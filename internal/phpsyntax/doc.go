// Package phpsyntax reads the source of PHP programs into trees whose nodes know their
// place, so that text can be changed where it stands:
//
//  1. Start runs PHP with a small script of ours (parse.php) and the library PHP-Parser.
//  2. Parse sends it the text of one file, and reads the tree that it prints as JSON.
//
// Nothing of the program is run or loaded by it.
package phpsyntax
