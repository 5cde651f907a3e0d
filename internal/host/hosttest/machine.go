package hosttest

import (
	"os"
	"syscall"
	"testing"
	"time"
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
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }
		}
		if time.Now().After(end) {
			t.Fatalf("another test holds the machine's settings: %v", err)
		}
	}
}
