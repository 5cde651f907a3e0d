package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/host"
)

// TestNotByPID: whoever starts a server may write its pid file where the server's own
// user may make nothing.
func TestNotByPID(t *testing.T) {
	dir := t.TempDir()
	own, other := ProcessUser{UID: os.Getuid() + 5, GID: os.Getgid() + 5}, filepath.Join(dir, "gone", "a.pid")
	for _, c := range []struct {
		why  string
		mode os.FileMode
		file string
		user ProcessUser
		want bool
	}{
		{"no pid file", 0o755, "", own, false},
		{"a folder of somebody else", 0o755, filepath.Join(dir, "a.pid"), own, true},
		{"a folder of its group, to be read", 0o750, filepath.Join(dir, "a.pid"), ProcessUser{UID: own.UID, GID: own.GID, Groups: []int{os.Getgid()}}, true},
		{"a folder of its group, to be written", 0o770, filepath.Join(dir, "a.pid"), ProcessUser{UID: own.UID, GID: own.GID, Groups: []int{os.Getgid()}}, false},
		{"written, but not entered", 0o772, filepath.Join(dir, "a.pid"), own, true},
		{"its own folder", 0o700, filepath.Join(dir, "a.pid"), ProcessUser{UID: os.Getuid(), GID: os.Getgid()}, false},
		{"a folder that is not there", 0o755, other, own, false},
	} {
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		if got := c.user.notByPID(t.Context(), host.NewLocal(), c.file); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}
