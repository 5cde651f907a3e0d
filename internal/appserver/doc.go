// Package appserver reads and sets what the programs that run applications have in
// common: how each is told by its command, how many workers it has, where it listens,
// and where that is written. The programs themselves are rows of internal/kind.
//
// In: a command's words, the environment, the configuration file's bytes. Out:
// the server, its number and the place of it. All is pure; it writes nothing.
//
// server.go has the types, find.go applies a row, socket.go is about addresses.
package appserver
