// Package ini reads and edits the option files of MariaDB and MySQL, php.ini,
// and PHP-FPM's files, without touching a byte that an edit is not about.
//
// In: the main file's path, the dialect, and functions that read files and
// expand globs. Out: what value of a key wins, where it is written, and after
// edits the new bytes of every file that changed. It writes nothing; the
// change stage does.
//
// dialect.go says how the three dialects differ, line.go cuts a file into
// lines, value.go reads and writes values, config.go follows includes and
// answers questions, edit.go changes lines.
package ini
