package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
)

// misdeed is one way in which a server misbehaves, and what must be counted.
type misdeed struct {
	name string
	play func(*peer) // one connection, until the server closes it
	step string      // what is requested; default: okStep
	want string      // kinds that occur, at least one of them: right, mismatch, error, timeout
	also string      // kinds that may occur beside
	got  string      // in Got of a sample that is not right
	// connects per request: 1 each, 0 only one for each user; -1: not checked.
	connects int
	// onceEach: no request may be sent a second time; else at most one may.
	onceEach bool
	secure   bool          // TLS
	window   time.Duration // 0: 200 ms, so that a user who pauses is seen again
	timeout  time.Duration // 0: 5 s, or 150 ms if time-outs are wanted
	users    []int         // default 1 and 8
}

const (
	okHead    = "HTTP/1.1 200 OK\r\n"
	okAnswer  = okHead + "Content-Length: 2\r\n\r\nok"
	okStep    = "{request: \"GET /${id.n}\", expect: {contains: ok}, think: 1ms}"
	resting   = "{request: \"GET /${id.n}\", expect: {contains: ok}, think: 10ms}" // for long windows
	chunkHead = okHead + "Transfer-Encoding: chunked\r\n\r\n"
)

// answers gives the same answer to every request on a connection.
func answers(text string) func(*peer) {
	return func(p *peer) {
		for p.ask() && p.say(text) {
		}
	}
}

// answersOnce answers the first request, then closes.
func answersOnce(text string) func(*peer) {
	return func(p *peer) { _ = p.ask() && p.say(text) }
}

// answersReset answers the first request, then resets.
func answersReset(text string) func(*peer) {
	return func(p *peer) {
		if p.ask() && p.say(text) {
			p.reset()
		}
	}
}

// answersSilent answers the first request, then leaves the connection open.
func answersSilent(text string) func(*peer) {
	return func(p *peer) {
		if p.ask() && p.say(text) {
			p.wait()
		}
	}
}

func drips(text, piece string) func(*peer) {
	return func(p *peer) {
		if p.ask() {
			p.drip(text, piece, 5*time.Millisecond)
		}
	}
}

// floods sends text, then the piece as fast as it is taken.
func floods(text, piece string) func(*peer) {
	piece = strings.Repeat(piece, 1+8192/len(piece))
	return func(p *peer) {
		if p.ask() && p.say(text) {
			for p.say(piece) {
			}
		}
	}
}

// misdeeds runs a table on every engine with one and with eight users.
func misdeeds(t *testing.T, table []misdeed) {
	seen := map[string]bool{}
	t.Run("group", func(t *testing.T) {
		for _, d := range table {
			if seen[d.name] {
				t.Fatalf("two rows %q", d.name)
			}
			seen[d.name] = true
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				var all sync.WaitGroup // they mostly wait
				for _, e := range engines(d.secure) {
					for _, users := range d.workloads() {
						all.Go(func() { t.Run(fmt.Sprintf("%s/%d", e, users), func(t *testing.T) { d.run(t, e, users) }) })
					}
				}
				all.Wait()
			})
		}
	})
	noUsersLeft(t)
}

func (d *misdeed) workloads() []int {
	if d.users != nil {
		return d.users
	}
	return []int{1, 8}
}

func (d *misdeed) wants(kind string) bool { return slices.Contains(strings.Fields(d.want), kind) }

func (d *misdeed) run(t *testing.T, e Engine, users int) {
	scheme, window, timeout := "http", cmp.Or(d.window, 2*refusedPause), 5*time.Second
	if d.secure {
		scheme = "https"
	}
	if d.timeout != 0 {
		timeout = d.timeout
	} else if d.wants("timeout") {
		timeout = 150 * time.Millisecond
	}
	s := startPeers(t, scheme, d.play)
	o := Options{Scenario: hostileScenario(t, cmp.Or(d.step, okStep), timeout), URL: s.url, Workload: users, Engine: e, Warmup: -1, Window: window}
	res := d.until(t, &o, func() {
		s = startPeers(t, scheme, d.play)
		o.URL = s.url
	})
	d.check(t, res, s)
	if d.want == "timeout" {
		d.cancel(t, o)
	}
}

// until runs until something that is wanted was counted: a machine that is busy with
// something else comes to nothing in a short window, which says nothing about the engine.
// again comes before another run.
func (d *misdeed) until(t *testing.T, o *Options, again func()) *Result {
	t.Helper()
	res := mustRun(t, *o)
	for tries := 0; tries < 3 && d.nothing(res); tries++ {
		o.Window *= 4
		again()
		res = mustRun(t, *o)
	}
	return res
}

// nothing that is wanted was counted.
func (d *misdeed) nothing(res *Result) bool {
	for kind, n := range countsOf(res) {
		if n > 0 && d.wants(kind) {
			return false
		}
	}
	return true
}

// mustRun runs, and fails if it does not end by itself.
func mustRun(t *testing.T, o Options) *Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	res, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// cancel ends a run that waits for an answer.
func (d *misdeed) cancel(t *testing.T, o Options) {
	o.Scenario = hostileScenario(t, cmp.Or(d.step, okStep), 10*time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	o.Window = time.Hour
	await.Ends(t, "a cancelled run", func() {
		if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func (d *misdeed) check(t *testing.T, res *Result, s *peers) {
	t.Helper()
	wanted := int64(0)
	for kind, n := range countsOf(res) {
		if d.wants(kind) {
			wanted += n
		} else if n > 0 && !slices.Contains(strings.Fields(d.also), kind) {
			t.Errorf("%d times %s", n, kind)
		}
	}
	if wanted == 0 {
		t.Errorf("no %s", d.want)
	}
	if d.got != "" && !slices.ContainsFunc(res.Samples, func(m Mismatch) bool { return d.wants(m.Kind) && strings.Contains(m.Got, d.got) }) {
		t.Errorf("no sample of kind %s with %q", d.want, d.got)
	}
	d.checkConnections(t, res, s)
	if t.Failed() {
		t.Logf("counts %v, %d connects, %d requests at the server", countsOf(res), res.Connects, s.asked.Load())
		for i, m := range res.Samples {
			if i < 3 {
				t.Logf("sample %s: expected %q, got %q, body %.80q", m.Kind, m.Expected, m.Got, m.Body)
			}
		}
	}
}

// checkConnections: some requests and connections lie across the window's
// borders, so the counts agree only roughly.
func (d *misdeed) checkConnections(t *testing.T, res *Result, s *peers) {
	t.Helper()
	all, users := res.Requests+res.Errors+res.Timeouts, int64(res.Workload)
	slack := 2*users + all/5
	switch {
	case d.connects == 1 && (res.Connects < all-slack || res.Connects > all+slack):
		t.Errorf("%d connections for %d requests, want one each", res.Connects, all)
	// http.Transport dials one more where a connection comes back in the very
	// moment in which it is asked for; not kept, there would be hundreds.
	case d.connects == 0 && res.Connects > users+max(1, users/4):
		t.Errorf("%d connections for %d users, want them kept", res.Connects, users)
	}
	if d.step != "" {
		return // the paths need not differ
	}
	if n := s.mostOften(); n > 2 || n > 1 && d.onceEach {
		t.Errorf("the server got one request %d times", n)
	}
}

func countsOf(res *Result) map[string]int64 {
	return map[string]int64{"right": res.Succeeded, "mismatch": res.Mismatches, "error": res.Errors, "timeout": res.Timeouts}
}

// hostileScenario has the one step; ${big.kb} is 1 KB of text, ${id.n} another
// number for each session.
func hostileScenario(t testing.TB, step string, timeout time.Duration) *Scenario {
	t.Helper()
	return mustParse(t, fmt.Sprintf("version: 1\nname: t\ntimeout: %s\npools:\n  big: {generate: {to: 9}, fields: {kb: %q}, order: random}\n  ids: {generate: {to: 100000000}, fields: {n: \"${n}\"}}\n"+
		"sessions:\n- name: s\n  draw: {big: big, id: ids}\n  steps:\n  - %s\n", timeout, strings.Repeat("0123456789abcdef", 64), step))
}

// noUsersLeft: Run leaves nothing behind that still works.
func noUsersLeft(t *testing.T) {
	t.Helper()
	stacks, text := make([]byte, 4<<20), ""
	await.ForOr(t, "what is left of a run", func() string { return text }, func() bool {
		text = string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(text, "load.(*loop).") && !strings.Contains(text, "load.(*blocking).")
	})
}
