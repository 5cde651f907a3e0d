package evidence

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// cacheSpeedTime is how long one look takes: some hundred answers of each
	// CPU. Ends of a window of 2 s tell as much of it as its middle does.
	cacheSpeedTime = 250 * time.Millisecond
	// cacheSpeedSteps of one answer: about half of a 2 MiB table's cache lines
	// are touched, which takes some 0.2 ms.
	cacheSpeedSteps = 20000
	// cacheSpeedKept of the answers, the fastest, count: an interrupt within one
	// answer is not the cache's speed.
	cacheSpeedKept = 0.9
	// leastCacheSpeed answers are needed for a mean.
	leastCacheSpeed = 10
	// mostProbedCPUs, spread over all: the load on a shared cache is common to
	// its CPUs.
	mostProbedCPUs = 16
	// defaultTable bytes where the kernel does not tell the second-level cache.
	defaultTable = 2 << 20
	mostTable    = 16 << 20
)

// CacheSpeed measures for a quarter of a second how fast this machine's memory
// hierarchy is, in steps of a fixed kind of work per second of CPU time; 0 if it
// cannot be told. Called before and after a run, while no load is on.
//
// What other tenants of the same physical machine do to its last cache slows
// every request, but shows in no counter of this one: no steal, no foreign
// process, and arithmetic is as fast as ever (docs/verdict.md has figures). On
// each CPU a thread first sweeps over as much memory as puts everything else out
// of that CPU's second-level cache, as the services do, and then steps through a
// table as large as that cache in a scattered order. So most new steps reach the
// cache behind it, and the CPU time that they take is what is told.
func CacheSpeed(ctx context.Context) float64 {
	var mu sync.Mutex
	var all []float64
	var asked sync.WaitGroup
	end := time.Now().Add(cacheSpeedTime)
	for _, cpu := range probedCPUs() {
		asked.Go(func() {
			answers := askCPU(ctx, cpu, end)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, answers...)
		})
	}
	asked.Wait()
	return speedOf(all)
}

// probedCPUs are those that this process may use, at most mostProbedCPUs.
func probedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	if len(all) <= mostProbedCPUs {
		return all
	}
	var some []int
	for i := range mostProbedCPUs {
		some = append(some, all[i*len(all)/mostProbedCPUs])
	}
	return some
}

// askCPU until the end; answers are seconds of CPU time. The goroutine's thread
// ends with it, because it stays bound to the CPU.
func askCPU(ctx context.Context, cpu int, end time.Time) (answers []float64) {
	runtime.LockOSThread()
	var only unix.CPUSet
	only.Set(cpu)
	if unix.SchedSetaffinity(0, &only) != nil {
		return nil // the CPU went away
	}
	size := tableSize(cpu) / 8
	table, others := make([]uint64, size), make([]uint64, 2*size)
	at := touch(table, 0) // the kernel maps its pages at the first use
	for ctx.Err() == nil && time.Now().Before(end) {
		sweep(others)
		began := threadTime()
		at = touch(table, at)
		answers = append(answers, (threadTime() - began).Seconds())
	}
	return answers
}

// sweep writes to every cache line (64 bytes on most processors).
func sweep(memory []uint64) {
	for i := 0; i < len(memory); i += 8 {
		memory[i]++
	}
}

// touch steps through the table, whose length is a power of two, as a linear
// congruential generator says (the constants of C's rand in POSIX.1).
func touch(table []uint64, at uint64) uint64 {
	mask := uint64(len(table) - 1)
	for range cacheSpeedSteps {
		at = (at*1103515245 + 12345) & mask
		table[at]++
	}
	return at
}

// threadTime is the CPU time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// tableSize of a CPU in bytes, a power of two: its second-level cache.
func tableSize(cpu int) int {
	dir := filepath.Join("/sys/devices/system/cpu", "cpu"+strconv.Itoa(cpu), "cache", "index2")
	text, err := os.ReadFile(filepath.Join(dir, "size"))
	if err != nil {
		return defaultTable
	}
	return powerOfTwo(string(text))
}

// powerOfTwo at or below a size as the kernel writes it: 2048K.
func powerOfTwo(text string) int {
	digits, ok := strings.CutSuffix(strings.TrimSpace(text), "K")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 64 || n > mostTable>>10 {
		return defaultTable
	}
	size := 64 << 10
	for size*2 <= n<<10 {
		size *= 2
	}
	return size
}

// speedOf answers in seconds of CPU time.
func speedOf(answers []float64) float64 {
	if len(answers) < leastCacheSpeed {
		return 0
	}
	slices.Sort(answers)
	sum := 0.0
	kept := answers[:int(cacheSpeedKept*float64(len(answers)))]
	for _, a := range kept {
		sum += a
	}
	if sum <= 0 {
		return 0
	}
	return cacheSpeedSteps * float64(len(kept)) / sum
}
