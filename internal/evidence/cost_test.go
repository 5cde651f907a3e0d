package evidence

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// spent is the CPU time of this process and of the commands that it ran.
func spent(b *testing.B) time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// BenchmarkWindow is the CPU time that evidence costs Kasoku in a window of
// five seconds of nginx, PHP-FPM and MariaDB: the start, what goes on
// meanwhile, and the end, which is after the load. Not in it is what the
// services use to answer.
//
//	go test -run NONE -bench Window -benchtime 5x ./internal/evidence/
func BenchmarkWindow(b *testing.B) {
	l := startLive(b)
	ctx := context.Background()
	var start, during, end time.Duration
	const window = 5 * time.Second
	idle := spent(b)
	time.Sleep(window)
	idle = spent(b) - idle // of the test itself
	for b.Loop() {
		c, err := NewCollector(ctx, l.st, l.hosts, CollectorOptions{})
		if err != nil {
			b.Fatal(err)
		}
		t0 := spent(b)
		if err := c.Start(ctx); err != nil {
			b.Fatal(err)
		}
		t1 := spent(b)
		time.Sleep(window) // the load's time
		t2 := spent(b)
		if err := c.End(ctx); err != nil {
			b.Fatal(err)
		}
		t3 := spent(b)
		c.Close()
		start, during, end = start+t1-t0, during+t2-t1, end+t3-t2
	}
	n := time.Duration(b.N)
	b.ReportMetric(float64((start/n).Microseconds())/1000, "start-ms")
	b.ReportMetric(float64((during/n).Microseconds())/1000, "during-ms")
	b.ReportMetric(float64(idle.Microseconds())/1000, "idle-ms")
	b.ReportMetric(float64((end/n).Microseconds())/1000, "end-ms")
	b.ReportMetric(100*float64((start+during)/n)/float64(window), "%-of-a-CPU")
}
