// Package haproxy reads and edits HAProxy's configuration files, without
// touching a byte that an edit is not about.
//
// In: a function that reads files. Out: sections with their statements, and
// after edits the new bytes of every file that changed. It writes nothing. It
// knows how the text is cut into words and sections (configuration manual,
// 2.1-2.4), not what the keywords mean.
//
// line.go cuts a line into words, config.go finds the sections, edit.go
// changes statements.
package haproxy
