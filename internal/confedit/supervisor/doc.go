// Package supervisor reads and edits supervisord.conf and what its [include]
// names, without touching a byte that an edit is not about.
//
// In: the main file's path and functions that read files and expand globs.
// Out: what an option of a section is set to and where, and after edits the
// new bytes of every file that changed. It writes nothing; the change stage
// does.
//
// line.go cuts a file into options as Python's RawConfigParser does the way
// supervisor sets it up (supervisor/options.py, UnhosedConfigParser),
// config.go follows [include], edit.go changes lines.
package supervisor
