package evidence

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"kasoku/internal/host"
)

// What is told of this machine is so.
func TestReadBoot(t *testing.T) {
	b, err := ReadBoot(t.Context(), host.NewLocal())
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat("/run/systemd/system")
	if b.Systemd == errors.Is(err, fs.ErrNotExist) || b.Root != (os.Getuid() == 0) {
		t.Errorf("%+v", b)
	}
	want := ""
	for _, client := range []string{"wget", "curl"} {
		if _, err := exec.LookPath(client); err == nil {
			want = client
		}
	}
	if b.Client != want {
		t.Errorf("%+v, want %q", b, want)
	}
	if _, err := os.Lstat(WarmUpScript); errors.Is(err, fs.ErrNotExist) && b.WarmUp {
		if _, err := os.Lstat(WarmUpFile); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: there is neither script nor unit", b)
		}
	}
}
