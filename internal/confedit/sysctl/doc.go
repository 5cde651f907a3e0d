// Package sysctl reads and edits the files that set kernel parameters at boot,
// without touching a byte that an edit is not about.
//
// In: functions that read files and expand globs. Out: which file's line sets
// a parameter, and after edits the new bytes of every file that changed. It
// writes nothing, and it does not know what the kernel's values are now.
//
// line.go reads one file, config.go knows the order of the directories, edit.go
// changes lines.
package sysctl
