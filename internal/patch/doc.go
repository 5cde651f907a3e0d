// Package patch finds places of a program that can be written so that a request
// makes fewer calls, and writes them:
//
//  1. Load reads and type-checks the packages of Go below a folder (program.go), the texts
//     of its PHP (php.go), whose trees internal/phpsyntax reads, and the schema in its
//     .sql files (schema.go).
//  2. Each shape of Shapes looks for its pattern (p1.go …). Where a precondition cannot
//     be shown, the place is refused with that precondition's name and the reason.
//  3. What is offered is a set of byte ranges of the files with their new text
//     (edit.go); it is formatted as the file is, and checked by its types, or parsed, again.
//  4. Commits (git.go) makes commits of it on a branch of its own. The checkout is not
//     touched.
//
// Nothing here runs the program or writes a file of it.
package patch
