package hosttest

import (
	"os"
	"syscall"
	"testing"

	"kasoku/internal/await"
)

// HoldMachine keeps other tests, those of other packages too, from changing or
// comparing settings that a machine has once for all its network namespaces
// (vm.*, net.netfilter.*, /sys), until the returned function is called. It fails
// the test after two minutes.
func HoldMachine(t testing.TB) (release func()) {
	t.Helper()
	// In memory that tests with files of their own share with the machine.
	f, err := os.OpenFile("/dev/shm/kasoku-test-machine", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	await.NoError(t, "the machine's settings, which another test holds", func() error {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	return func() { f.Close() }
}
