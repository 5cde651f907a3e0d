// Package apache reads and edits the configuration of the Apache HTTP Server
// 2.4 without touching a byte that an edit is not about.
//
// In: the main file's path, what the server is started with (-D, environment,
// modules that are compiled in) and functions that read files and expand
// globs. Out: the tree of directives as the server sees it, with included
// files in place of each include and macros in place of each Use; which value
// of a directive counts; and after edits the new bytes of every file that
// changed. It writes nothing; the change stage does.
//
// The flow:
//
//  1. line.go cuts text into lines and words by the rules of the server's own
//     reader (ap_cfg_getline, ap_getword_conf in server/util.c);
//  2. node.go nests a file's lines into sections;
//  3. expand.go shows lines as Directives in the order in which the server
//     reads them; state.go decides <IfModule> and its like on the way,
//     include.go lists the files of an include, macro.go writes out macros;
//  4. rule.go and value.go say which directive counts at a place;
//  5. edit.go and insert.go change lines, and then read everything again: an
//     edit whose result would not be read back is undone;
//  6. debian.go names the links that switching modules takes on Debian.
package apache
