// Package await lets tests wait for what other processes do: a server is ready,
// a process has ended, a file has a line. In: what is asked again and again. Out:
// the moment at which it holds, or a failed test after Limit.
//
// A test waits for an event, never for a time: on a machine that is busy the
// event comes later, and the verdict stays. It is the one place where tests
// sleep; internal/lint holds the others to a list, each with its reason.
package await

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// Limit is how long an event may take to come. It only tells a test that hangs
	// from one that does not: the latest event in this repository, the first change
	// of a session, takes half a minute on a busy machine.
	Limit = 2 * time.Minute
	// longest is the longest pause between two looks: short beside what starts and
	// ends here late (seconds), long beside the CPU time that a look takes.
	longest = 50 * time.Millisecond
)

// pauses are what is slept between looks: 2 ms, and half as much more each time,
// so that what comes soon is seen soon, and what comes late takes few looks.
type pauses time.Duration

func (p *pauses) sleep() {
	*p = min(max(*p+*p/2, pauses(2*time.Millisecond)), pauses(longest))
	time.Sleep(time.Duration(*p))
}

// Until asks ready until it has no error, at most Limit, and returns the last
// error: for where there is no test, as in TestMain.
func Until(ready func() error) error {
	var p pauses
	for end := time.Now().Add(Limit); ; p.sleep() {
		if err := ready(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// NoError is Until in a test, which it ends if the error stays.
func NoError(t testing.TB, what string, ready func() error) {
	t.Helper()
	if err := Until(ready); err != nil {
		t.Fatalf("waited %s in vain for %s: %v", Limit, what, err)
	}
}

// For waits until done, or ends the test.
func For(t testing.TB, what string, done func() bool) {
	t.Helper()
	ForOr(t, what, nil, done)
}

// ForOr is For; said tells what is known if it is in vain, as a server's log.
func ForOr(t testing.TB, what string, said func() string, done func() bool) {
	t.Helper()
	var p pauses
	for end := time.Now().Add(Limit); !done(); p.sleep() {
		if time.Now().Before(end) {
			continue
		}
		more := ""
		if said != nil {
			more = "\n" + said()
		}
		t.Fatalf("waited %s in vain for %s%s", Limit, what, more)
	}
}

// Ends runs what must end by itself, or ends the test.
func Ends(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(Limit):
		t.Fatalf("waited %s in vain for %s to end", Limit, what)
	}
}

// Accepts waits until something accepts at address: "host:port", or a socket's path.
func Accepts(t testing.TB, address string) {
	t.Helper()
	NoError(t, "a server at "+address, func() error { return Dial(address) })
}

// Dial says whether something accepts at address, as in Accepts.
func Dial(address string) error {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	c, err := net.DialTimeout(network, address, Limit)
	if err != nil {
		return err
	}
	return c.Close()
}

// Gone waits until a process has ended.
func Gone(t testing.TB, pid int) {
	t.Helper()
	For(t, "a process to end", func() bool { return Ended(pid) })
}

// Ended says whether a process has ended, also if nobody has asked for its exit
// status: a container's first process may never do so.
func Ended(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	state := bytes.TrimSpace(text[bytes.LastIndexByte(text, ')')+1:])
	return err != nil || bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X"))
}

// SkipShort skips the test under -short, because it starts servers, builds
// programs or computes for a second and more. "make check" leaves such tests out,
// so that it answers in two minutes; "make test" runs them all.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes a second and more; make test runs it")
	}
}
