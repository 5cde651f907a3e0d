// Package memcached reads and edits Debian's /etc/memcached.conf and the
// arguments of a memcached that is started otherwise, without touching a byte
// that an edit is not about.
//
// In: the file's bytes. Out: the value of an option and, after an edit, the
// new bytes and the span that the edit replaced. It writes nothing.
//
// config.go reads the file as Debian's wrapper does; options.go lists
// memcached's options for package args.
package memcached
