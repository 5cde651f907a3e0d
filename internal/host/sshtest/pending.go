// Package sshtest starts an ssh server for tests.
package sshtest

import "testing"

// Server is a running ssh server.
type Server struct {
	Destination string // as ssh(1) takes it
	ConfigFile  string // ssh -F
}

// Start starts one for the length of a test.
func Start(t testing.TB) Server {
	t.Helper()
	t.Skip("hosts over ssh are not part of this build")
	return Server{}
}
