// Package nginx reads and edits nginx configuration without touching a byte
// that an edit is not about.
//
// In: the main file's path and functions that read files and expand globs.
// Out: a tree of directives as nginx sees it, with the included files' text
// in place of each include, and after edits the new bytes of every file that
// changed. It writes nothing; the change stage does.
//
// The flow:
//
//  1. lex.go cuts text into words by the rules of nginx's own reader
//     (ngx_conf_read_token in ngx_conf_file.c), keeping what lies between
//     them; lua.go finds the end of a *_by_lua_block;
//  2. node.go holds one file as a tree whose pieces joined are the file again;
//  3. config.go follows includes and shows the files' nodes as Directives; a
//     file that is included twice is one text seen at two places;
//  4. edit.go changes pieces of a node; insert.go finds the place, the
//     indentation and the line ending for new text, fragment.go lays it out;
//  5. location.go answers which location a URI goes to.
package nginx
