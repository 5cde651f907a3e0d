// Package redis reads and edits redis.conf and what it includes, without
// touching a byte that an edit is not about.
//
// In: the main file's path and functions that read files and expand globs.
// Out: what a directive is set to and where, and after edits the new bytes of
// every file that changed. It writes nothing; the change stage does.
//
// line.go cuts a line into arguments as sdssplitargs does (sds.c), table.go
// names the directives that may stand more than once and their old names,
// config.go follows includes, edit.go changes lines.
package redis
