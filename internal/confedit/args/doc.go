// Package args reads and edits argument lists as they stand in ExecStart=,
// DAEMON_OPTS= and the start commands of services, without touching a byte
// that an edit is not about.
//
// In: the list's text, who splits it into words (a shell, systemd, or white
// space alone) and the options that the program knows. Out: the value of an
// option in any of its spellings (-t 5, -t5, --threads=5, --threads 5) and the
// span of bytes that an edit replaces. It writes nothing.
//
// word.go cuts text into words and writes values back, option.go walks over
// the words as getopt does, edit.go changes them.
package args
