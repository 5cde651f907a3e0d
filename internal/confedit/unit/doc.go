// Package unit reads and edits systemd's unit files, their drop-ins and the
// environment files that they name, without touching a byte that an edit is
// not about.
//
// In: a unit's name and functions that read files and expand globs. Out: the
// value that counts of a setting, where it is written, and after edits the new
// bytes of every file that changed. It writes nothing; the change stage does.
//
// line.go cuts a file into assignments, path.go knows the order of directories
// and drop-ins, config.go answers questions, edit.go changes lines, env.go and
// envedit.go are about environment files.
package unit
