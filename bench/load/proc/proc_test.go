package proc

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
)

func TestParseMachine(t *testing.T) {
	m, err := ParseMachine(strings.NewReader("cpu  721465 36597 298482 1563832 27064 3 54343 873 0 0\ncpu0 1 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{Processes: (721465 + 36597 + 298482) * tick, Interrupts: 54346 * tick, Stolen: 873 * tick}
	if m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "cpu 1 2 3 4 5 6 x 8\n", "intr 1 2 3 4 5 6 7 8 9\n"} {
		if m, err := ParseMachine(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, m)
		}
	}
}

func TestParseStat(t *testing.T) {
	// A name may look like the fields after it.
	const line = "812 (a) S 1 (b) S 811 812 812 0 -1 4194304 100 0 0 0 30 20 5 1 20 0 1 0 5 0 0"
	s, err := ParseStat([]byte(line))
	if err != nil || s.Parent != 811 || s.CPU != 56*tick {
		t.Errorf("%+v (%v), want parent 811 and 56 ticks", s, err)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 2 3", "1 (x) S p 812 812 0 -1 4194304 100 0 0 0 30 20 5 1"} {
		if s, err := ParseStat([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, s)
		}
	}
}

func TestParsePeak(t *testing.T) {
	n, err := ParsePeak(strings.NewReader("Name:\tkasoku\nVmPeak:\t  1234 kB\nVmHWM:\t   20480 kB\nVmRSS:\t 1 kB\n"))
	if err != nil || n != 20<<20 {
		t.Errorf("%d (%v), want 20 MiB", n, err)
	}
	if n, err := ParsePeak(strings.NewReader("Name:\tgone\n")); n != 0 || err != nil {
		t.Errorf("a process without memory: %d, %v", n, err)
	}
	if _, err := ParsePeak(strings.NewReader("VmHWM: much kB\n")); err == nil {
		t.Error("no number is read as one")
	}
}

func TestForeign(t *testing.T) {
	at := func(processes, interrupts, stolen, known time.Duration) snapshot {
		return snapshot{Machine{processes, interrupts, stolen}, known}
	}
	for _, tt := range []struct {
		why   string
		b     snapshot
		tools time.Duration
		apart bool
		want  Foreign
	}{
		{"all of it is ours", at(3*time.Second, 0, 0, time.Second), 2 * time.Second, false, Foreign{}},
		{"one second of four is not", at(4*time.Second, 0, 0, time.Second), 2 * time.Second, false, Foreign{Used: 0.25}},
		{"interrupts count in their process", at(3*time.Second, time.Second, 0, time.Second), 3 * time.Second, false, Foreign{}},
		{"interrupts have their own account", at(3*time.Second, time.Second, 0, time.Second), 2 * time.Second, true, Foreign{}},
		{"rounding to ticks gives nothing negative", at(3*time.Second, 0, 0, time.Second), 2*time.Second + tick, false, Foreign{}},
		{"time that is stolen is in nobody's account", at(3*time.Second, 0, 2*time.Second, time.Second), 2 * time.Second, false, Foreign{Stolen: 0.5}},
	} {
		if got := foreign(snapshot{}, tt.b, tt.tools, tt.apart, 4*time.Second); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestPinned: a child may use the processors it is given, and the thread that
// started it gets its own back.
func TestPinned(t *testing.T) {
	all, err := Processors()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v (%v)", all, err)
	}
	last := all[len(all)-1]
	r, err := Run(t.Context(), Command{Args: []string{"grep", "Cpus_allowed_list", "/proc/self/status"}, Processors: []int{last}})
	if want := strconv.Itoa(last); err != nil || strings.Fields(string(r.Stdout))[1] != want {
		t.Errorf("the child reads %q, want processor %s (%v)", r.Stdout, want, err)
	}
	if after, err := Processors(); err != nil || !slices.Equal(after, all) {
		t.Errorf("afterwards %v are left of %v (%v)", after, all, err)
	}
	if _, err := Run(t.Context(), Command{Args: []string{"true"}, Processors: []int{1 << 20}}); err == nil {
		t.Error("a processor that does not exist is taken")
	}
}

func TestRun(t *testing.T) {
	r, err := Run(t.Context(), Command{Args: []string{"sh", "-c", "cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"}, Stdin: "in"})
	if err != nil || string(r.Stdout) != "in" || r.CPU() <= 0 || r.Wall <= 0 {
		t.Errorf("%q, CPU %s, %v", r.Stdout, r.CPU(), err)
	}
	_, err = Run(t.Context(), Command{Args: []string{"sh", "-c", "echo out; echo no such host >&2; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "exit status 3: no such host") {
		t.Errorf("a failure reads %v", err)
	}
	_, err = Run(t.Context(), Command{Args: []string{"false"}})
	if err == nil || !strings.Contains(err.Error(), "it printed nothing") {
		t.Errorf("a silent failure reads %v", err)
	}
}

// TestRunStopped checks that a child and its own children end with the context
// and with the limit, and that the watcher is waited for.
func TestRunStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var pid int
	watched := false
	_, err := Run(ctx, Command{Args: []string{"sh", "-c", "sleep 60 & wait"}, Watch: func(ctx context.Context, p int) {
		pid = p
		cancel()
		<-ctx.Done()
		watched = true
	}})
	if !errors.Is(err, context.Canceled) || !watched {
		t.Errorf("ends with %v; watched: %v", err, watched)
	}
	await.For(t, "the end of the group", func() bool { return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) })
	if _, err := Run(t.Context(), Command{Args: []string{"sleep", "60"}, Limit: 50 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "still running after 50ms") {
		t.Errorf("the limit gives %v", err)
	}
}

func TestTree(t *testing.T) {
	// This process and its direct children; at least what it used itself.
	for range 50_000_000 { // some 10 ms: more than a tick
	}
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Tree(os.Getpid())
	if err != nil || got+2*tick < self {
		t.Errorf("tree %s, self %s (%v)", got, self, err)
	}
	if m, err := ReadMachine(); err != nil || m.Processes == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestWatchPeak(t *testing.T) {
	watch, peak := WatchPeak()
	_, err := Run(t.Context(), Command{Args: []string{"sleep", strconv.FormatFloat(4*peakEvery.Seconds(), 'f', 3, 64)}, Watch: watch})
	if err != nil || *peak < 100<<10 || *peak > 100<<20 {
		t.Errorf("sleep's peak is %d bytes (%v)", *peak, err)
	}
}
