package proc

import (
	"fmt"
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"
)

// cpuSet is the kernel's set of processors (sched_setaffinity(2)): 1,024 bits.
type cpuSet [1024 / bits.UintSize]uint

// Processors are the numbers of those that this process may use, ascending.
func Processors() ([]int, error) {
	var set cpuSet
	if err := affinity(syscall.SYS_SCHED_GETAFFINITY, &set); err != nil {
		return nil, fmt.Errorf("read which processors may be used: %w", err)
	}
	var out []int
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			out = append(out, i*bits.UintSize+bits.TrailingZeros(word))
		}
	}
	return out, nil
}

// affinity gets or sets the calling thread's set.
func affinity(trap uintptr, set *cpuSet) error {
	if _, _, errno := syscall.RawSyscall(trap, 0, unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set))); errno != 0 {
		return errno
	}
	return nil
}

// Pinned calls start on a thread that may use only these processors, so that a
// child which it starts inherits them; nil: wherever the scheduler likes.
func Pinned(processors []int, start func() error) error {
	if len(processors) == 0 {
		return start()
	}
	var before, set cpuSet
	for _, p := range processors {
		if p < 0 || p >= len(set)*bits.UintSize {
			return fmt.Errorf("there is no processor %d", p)
		}
		set[p/bits.UintSize] |= 1 << (p % bits.UintSize)
	}
	runtime.LockOSThread() // a child has the set of the thread that makes it
	defer runtime.UnlockOSThread()
	if err := affinity(syscall.SYS_SCHED_GETAFFINITY, &before); err != nil {
		return fmt.Errorf("read which processors may be used: %w", err)
	}
	if err := affinity(syscall.SYS_SCHED_SETAFFINITY, &set); err != nil {
		return fmt.Errorf("keep to processors %v: %w", processors, err)
	}
	err := start()
	if back := affinity(syscall.SYS_SCHED_SETAFFINITY, &before); back != nil && err == nil {
		err = fmt.Errorf("give the processors back: %w", back)
	}
	return err
}
