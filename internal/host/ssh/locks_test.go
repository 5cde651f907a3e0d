package ssh_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
)

func TestLockOutlivesCut(t *testing.T) {
	await.SkipShort(t)
	s := sshtest.Start(t)
	h := open(t, s)
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := h.Lock(t.Context(), file)
	must(t, err)
	for range 3 {
		s.Cut()
		wantRuns(t, waitLost(t, h))
		if _, err := host.NewLocal().Lock(t.Context(), file); !errors.Is(err, host.ErrLocked) {
			t.Fatalf("the lock after a cut: %v", err)
		}
	}
	must(t, unlock())
	free, err := host.NewLocal().Lock(t.Context(), file)
	must(t, err)
	must(t, free())
}

// waitLost lets the host notice, so that what comes next has not begun yet.
func waitLost(t *testing.T, h *ssh.Host) *ssh.Host {
	t.Helper()
	old, lost := h.Ssh(), h.Lost()
	await.For(t, "ssh to end", func() bool { return !alive(old) })
	await.Ends(t, "the connection", func() { <-lost })
	return h
}

// TestLockLost: somebody else had the lock meanwhile, so what was read before is
// not to be relied on; nothing is written until the user knows.
func TestLockLost(t *testing.T) {
	await.SkipShort(t)
	for _, still := range []bool{true, false} {
		t.Run(fmt.Sprintf("held=%v", still), func(t *testing.T) {
			s := sshtest.Start(t)
			h := open(t, s)
			dir := t.TempDir()
			lock, file := filepath.Join(dir, "lock"), filepath.Join(dir, "file")
			unlock, err := h.Lock(t.Context(), lock)
			must(t, err)
			s.Down()
			var other func() error
			await.For(t, "the lock to be free", func() bool { other, err = host.NewLocal().Lock(t.Context(), lock); return err == nil })
			if !still {
				must(t, other())
			} else {
				defer other()
			}
			s.Up()
			err = h.ReplaceFile(t.Context(), file, nil, host.Replace{Mode: 0o600, UID: -1, GID: -1})
			if !errors.Is(err, ssh.ErrLost) || !errors.Is(err, host.ErrLocked) {
				t.Fatalf("writing without the lock: %v", err)
			}
			if _, err := h.Run(t.Context(), host.Command{Argv: []string{"true"}}); !errors.Is(err, ssh.ErrLost) {
				t.Fatalf("running without the lock: %v", err)
			}
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Fatalf("it was written: %v", err)
			}
			if _, err := h.Stat(t.Context(), dir); err != nil {
				t.Fatalf("reading: %v", err)
			}
			if err := unlock(); !errors.Is(err, ssh.ErrLost) {
				t.Fatalf("unlock: %v", err)
			}
			wantRuns(t, h)
		})
	}
}
