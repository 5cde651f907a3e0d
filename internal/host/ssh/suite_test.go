package ssh_test

import (
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

// open connects to s and closes the host when the test ends.
func open(t *testing.T, s *sshtest.Server, more ...func(*ssh.Options)) *ssh.Host {
	t.Helper()
	h, err := ssh.Open(t.Context(), options(t, s, more...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

func options(t *testing.T, s *sshtest.Server, more ...func(*ssh.Options)) ssh.Options {
	o := ssh.Options{Name: "web1", Destination: s.Destination, ConfigFile: s.ConfigFile, Programs: sshtest.Helper(t), Folder: s.Dir + "/programs"}
	for _, f := range more {
		f(&o)
	}
	return o
}

// TestContract is that of the whole program; all other tests send its helper.
func TestContract(t *testing.T) {
	await.SkipShort(t)
	h := open(t, sshtest.Start(t), func(o *ssh.Options) { o.Programs = sshtest.Programs(t) })
	hosttest.Suite(t, func(*testing.T) host.Host { return h })
}

func TestContractBehindJumpHost(t *testing.T) {
	await.SkipShort(t)
	jump := sshtest.Start(t)
	h := open(t, sshtest.Start(t, sshtest.Via(jump)))
	hosttest.Suite(t, func(*testing.T) host.Host { return h })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
