package evidence

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// One thread of this process works; it is the busiest of the service.
func TestBusiestThread(t *testing.T) {
	ctx := context.Background()
	roots := map[string][]int{"me": {os.Getpid()}}
	read := func() *reading {
		t.Helper()
		r, err := readSystem(ctx, host.NewLocal())
		if err != nil {
			t.Fatal(err)
		}
		r.threads, r.unread = readThreads(ctx, host.NewLocal(), r.table, roots)
		return r
	}
	var stop atomic.Bool
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(started)
		for !stop.Load() {
		}
	}()
	<-started
	begin := read()
	defer stop.Store(true)
	var me ServiceUse
	// Beside others' work it has a small share.
	await.ForOr(t, "a busy thread", func() string { return fmt.Sprintf("%+v", me) }, func() bool {
		end := read()
		sys := used(begin, end)
		me = split(&sys, begin, end, roots, 0)["me"]
		return me.Busiest >= 0.02 && me.User > 0 && me.Voluntary > 0
	})
	// The threads are read a moment after their process, and both tell ticks of 10 ms.
	if me.Threads < 2 || me.CPU+0.011 < me.Busiest || me.User > me.CPU || me.User+me.Sys > me.CPU+1e-9 {
		t.Errorf("%+v", me)
	}
	if len(me.Top) == 0 || me.Top[0].PID != os.Getpid() || me.Top[0].Service != "me" {
		t.Errorf("top: %+v", me.Top)
	}
}

func TestThreadUses(t *testing.T) {
	begin := &reading{at: time.Unix(0, 0), threads: map[int]thread{1: {Service: "a", Started: 5, Ticks: 100, Voluntary: 10, Involuntary: 1},
		2: {Service: "a", Started: 6, Ticks: 0}, 3: {Service: "a", Started: 7, Ticks: 900}}}
	end := &reading{at: time.Unix(2, 0), threads: map[int]thread{1: {Service: "a", Started: 5, Ticks: 150, Voluntary: 30, Involuntary: 5},
		2: {Service: "a", Started: 99, Ticks: 120, Voluntary: 4}, 4: {Service: "unknown", Ticks: 500}}}
	uses := map[string]ServiceUse{"a": {}}
	threadUses(begin, end, uses)
	if got := uses["a"]; got.Busiest != 1.2 || got.Voluntary != 12 || got.Involuntary != 2 || len(uses) != 1 {
		t.Errorf("%+v", got)
	}
	if v, i := parseSwitches([]byte("Name:\tvoluntary_ctxt_switches: 99\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t8\n")); v != 7 || i != 8 {
		t.Errorf("%d %d", v, i)
	}
	if v, i := parseSwitches(fixture(t, "pid_status")); v == 0 && i == 0 {
		t.Error("no switches were found in the capture")
	}
}

// What Kasoku started is not somebody else's.
func TestOthers(t *testing.T) {
	proc := func(pid, parent int, ticks int64) procPID {
		return procPID{PID: pid, Parent: parent, Ticks: ticks, Started: uint64(pid), Name: "p"}
	}
	begin := processTable{1: proc(1, 0, 0), 10: proc(10, 1, 0), 20: proc(20, 1, 0), 30: proc(30, 1, 50), 21: proc(21, 20, 0)}
	end := processTable{1: proc(1, 0, 0), 10: proc(10, 1, 10), 11: proc(11, 10, 30), 20: proc(20, 1, 900), 21: proc(21, 20, 90),
		22: proc(22, 20, 70), 30: proc(30, 1, 80), 31: proc(31, 30, 200), 40: proc(40, 1, 0)}
	got := others(begin, end, map[string][]int{"web": {10}, "db": {21}}, 20)
	if len(got) != 2 || got[0].PID != 31 || got[0].CPU != 2 || got[1].PID != 30 || got[1].CPU != 0.3 {
		t.Errorf("%+v", got)
	}
	if got := others(begin, end, nil, 0); len(got) != topProcesses || got[0].PID != 20 {
		t.Errorf("%+v", got)
	}
}

// What Kasoku starts beside the load (perf, readers of files) is its own, also when it
// has ended and was reaped; a service that it started is not.
func TestWhatKasokuStartsIsNotForeign(t *testing.T) {
	proc := func(pid, parent int, ticks, reaped int64) procPID {
		return procPID{PID: pid, Parent: parent, Ticks: ticks, Reaped: reaped, Started: uint64(pid)}
	}
	roots := map[string][]int{"db": {21}}
	begin := &reading{at: time.Unix(0, 0), table: processTable{1: proc(1, 0, 0, 0), 20: proc(20, 1, 100, 40), 21: proc(21, 20, 0, 0), 30: proc(30, 1, 0, 0)}}
	end := &reading{at: time.Unix(10, 0), stat: procStat{User: 9},
		table: processTable{1: proc(1, 0, 0, 0), 20: proc(20, 1, 200, 240), 21: proc(21, 20, 90, 0), 22: proc(22, 20, 70, 0), 23: proc(23, 22, 30, 0), 30: proc(30, 1, 200, 0)}}
	sys := used(begin, end)
	split(&sys, begin, end, roots, 20)
	// Itself 1 s, reaped 2, running 0.7 + 0.3; the database 0.9; somebody else 2; and 2.1 of
	// processes that came and went elsewhere.
	if math.Abs(sys.GeneratorCPU-4) > 1e-9 || math.Abs(sys.ForeignCPU-4.1) > 1e-9 || sys.ServicesCPU != 0.9 {
		t.Errorf("generator %g, want 4; foreign %g, want 4.1; services %g", sys.GeneratorCPU, sys.ForeignCPU, sys.ServicesCPU)
	}
	// Its benchmark is one of its children, or has left itself to init.
	for used, want := range map[time.Duration]float64{2 * time.Second: 4, 5 * time.Second: 6} {
		end.benchmark = used
		again := System{User: 9}
		split(&again, begin, end, roots, 20)
		if math.Abs(again.GeneratorCPU-want) > 1e-9 {
			t.Errorf("with a benchmark of %s: generator %g, want %g", used, again.GeneratorCPU, want)
		}
	}
}

func BenchmarkThreads(b *testing.B) {
	ctx := context.Background()
	table, err := readProcesses(ctx, host.NewLocal())
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		threads, _ := readThreads(ctx, host.NewLocal(), table, map[string][]int{"me": {os.Getpid()}})
		n = len(threads)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/thread")
}
