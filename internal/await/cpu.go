package await

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// rusageThread is RUSAGE_THREAD of getrusage(2): the calling thread alone.
const rusageThread = 1

// CPU is the processor time that work takes on its own thread, in steps of a
// scheduler's tick (some ms). Unlike the time on the clock it is the same while
// others have the processors. What work leaves to other goroutines is not in it.
func CPU(t testing.TB, work func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(rusageThread, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	work()
	return used() - before
}
