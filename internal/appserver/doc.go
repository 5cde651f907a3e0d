// Package appserver knows the programs that run applications: how each is
// told by its command, how many workers it has, where it listens, and where
// that is written. It also reads what the Go linker left in a program.
//
// In: a command's words, the environment, the configuration file's bytes. Out:
// the server, its number and the place of it. All is pure; it writes nothing.
//
// table.go is the table of servers, find.go applies it, socket.go is
// about addresses, gobuild.go reads Go's build information.
package appserver
