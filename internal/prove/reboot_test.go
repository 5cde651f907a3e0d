package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// machine is a host that can be rebooted: what it tells of its boot changes.
type machine struct {
	host.Host
	boots atomic.Int64
	// slow is how long a first look takes after the reboot; one that is cut off
	// has to begin anew.
	slow time.Duration
}

func (m *machine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if path == bootID {
		if until, ok := ctx.Deadline(); ok && m.boots.Load() > 0 && time.Until(until) < m.slow {
			return nil, fmt.Errorf("log in: %w", context.DeadlineExceeded)
		}
		return fmt.Appendf(nil, "boot-%d\n", m.boots.Load()), nil
	}
	return m.Host.ReadFile(ctx, path)
}

// rebooted is a service on one machine.
type rebooted struct {
	*board
	m        *machine
	down     atomic.Bool
	srv      *httptest.Server
	stack    *stack.Stack
	ordered  int
	refuses  error // to reboot
	onReboot func(*rebooted)
	more     map[string]host.Host
	ctx      context.Context
}

func (s *rebooted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.down.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.board.ServeHTTP(w, r)
}

func newRebooted(t *testing.T, onReboot func(*rebooted)) *rebooted {
	t.Helper()
	s := &rebooted{board: &board{}, m: &machine{Host: host.NewLocal()}, onReboot: onReboot}
	s.srv = httptest.NewServer(s)
	t.Cleanup(s.srv.Close)
	start := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.down.Store(false) }))
	t.Cleanup(start.Close)
	s.stack = &stack.Stack{Dir: t.TempDir(), Hosts: map[string]stack.HostConfig{"h1": {SSH: "h1"}}, Checks: stack.Checks{Reboot: []string{"h1"}},
		Services: []stack.Service{{Name: "web", Kind: stack.App, Host: "h1",
			Control: stack.Control{Method: stack.MethodCommand, Start: []string{"curl", "-sf", start.URL}, Stop: []string{"true"}},
			Health:  stack.Health{URL: s.srv.URL, Timeout: 2 * time.Second}}}}
	return s
}

func (s *rebooted) reboot(t *testing.T, o RebootOptions) Result {
	t.Helper()
	o.Opts = optionsOf(t, boardScenario, s.srv.URL)
	o.Witness = witnessOf(t, boardScenario, s.srv.URL)
	if o.Back == 0 {
		o.Back = 30 * time.Second
	}
	o.order = func(_ context.Context, h host.Host) error {
		s.mu.Lock()
		s.ordered++
		s.mu.Unlock()
		if s.onReboot != nil && h == s.m {
			s.onReboot(s)
		}
		return s.refuses
	}
	hosts := map[string]host.Host{"h1": s.m}
	maps.Copy(hosts, s.more)
	ctx := cmp.Or(s.ctx, t.Context())
	r, err := Reboot(ctx, s.stack, hosts, o)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return r
}

func boots(s *rebooted) { s.m.boots.Add(1) }

func TestRebootHolds(t *testing.T) {
	s := newRebooted(t, boots)
	r := s.reboot(t, RebootOptions{Before: 100, Score: func(context.Context) (float64, error) { return 96, nil }})
	if r.Outcome != Held || r.Writes != 10 || r.Reads != 20 || math.Abs(r.After-96) > 1e-9 || s.ordered != 1 || !strings.Contains(r.Text, "h1") {
		t.Errorf("%+v", r)
	}
}

// A score that falls short by little is measured after further reboots, and
// their mean counts. Each reboot has writes of its own: the runs of a score begin
// with a reset, which takes earlier ones back.
func TestRebootNearMiss(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		scores  []float64
		ordered int
		outcome Outcome
		after   float64
	}{
		{[]float64{94, 97}, 2, Held, math.Sqrt(94 * 97)},
		{[]float64{92, 94, 99.9}, 3, Held, math.Cbrt(92 * 94 * 99.9)},
		{[]float64{94, 94, 94}, 3, Failed, 94},
		{[]float64{94, 60}, 2, Failed, math.Sqrt(94 * 60)},
		{[]float64{79}, 1, Failed, 79},
	} {
		s := newRebooted(t, boots)
		made := 0
		r := s.reboot(t, RebootOptions{Before: 100, Score: func(context.Context) (float64, error) {
			s.mu.Lock()
			s.notes = nil
			s.mu.Unlock()
			made++
			return c.scores[made-1], nil
		}})
		if r.Outcome != c.outcome || r.Writes != made*rebootWrites || s.ordered != c.ordered || made != c.ordered || math.Abs(r.After-c.after) > 1e-9 || r.Short() != (c.outcome == Failed) {
			t.Errorf("%v: %d reboots, %+v", c.scores, s.ordered, r)
		}
	}
}

// A host that is slow to log in to after it has booted is given the time.
func TestRebootWaitsForALogin(t *testing.T) {
	s := newRebooted(t, boots)
	s.m.slow = 2 * askTime
	if r := s.reboot(t, RebootOptions{}); r.Outcome != Held {
		t.Errorf("%+v", r)
	}
}

func TestRebootFails(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		about    string
		onReboot func(*rebooted)
		o        RebootOptions
		want     string // the first problem
	}{
		{"a write is lost", func(s *rebooted) {
			boots(s)
			s.mu.Lock()
			s.notes = s.notes[:len(s.notes)-1]
			s.mu.Unlock()
		}, RebootOptions{}, "is lost: reader"},
		{"the host does not reboot", nil, RebootOptions{Back: 10 * time.Millisecond}, "host h1 did not reboot within"},
		{"the service is not enabled", func(s *rebooted) { boots(s); s.down.Store(true) }, RebootOptions{Back: 300 * time.Millisecond}, "the service did not come back within"},
		{"the score is less", boots, RebootOptions{Before: 100, Score: func(context.Context) (float64, error) { return 70, nil }}, "less than 95 % of it"},
		{"nothing can be measured", boots, RebootOptions{Before: 100, Score: func(context.Context) (float64, error) { return 0, errors.New("no answer") }}, "could not be measured after the reboot: no answer"},
	} {
		t.Run(c.about, func(t *testing.T) {
			s := newRebooted(t, c.onReboot)
			r := s.reboot(t, c.o)
			if r.Outcome != Failed || !strings.Contains(r.Problems[0].What, c.want) {
				t.Errorf("%s: %+v", r.Outcome, r)
			}
			if short := c.about == "the score is less"; r.Short() != short {
				t.Errorf("failed by the score alone: %v, want %v", r.Short(), short)
			}
		})
	}
}

// A service that did not come back by itself is named, and started afterwards.
func TestRebootStartsWhatDidNotComeBack(t *testing.T) {
	await.SkipShort(t)
	s := newRebooted(t, func(s *rebooted) { boots(s); s.down.Store(true) })
	r := s.reboot(t, RebootOptions{Back: 300 * time.Millisecond})
	named, started := false, false
	for _, p := range r.Problems {
		named = named || p.By == "web on h1" && strings.Contains(p.What, "systemctl enable")
	}
	for _, n := range r.Notes {
		started = started || strings.Contains(n, "web was started by Kasoku afterwards")
	}
	if !named || !started || s.down.Load() {
		t.Errorf("named %v, started %v, down %v: %+v", named, started, s.down.Load(), r)
	}
}

// Services of a host that is back are started, although another one is not, and
// although nobody waits for the check any more.
func TestRebootStartsServicesWithoutTheOtherHost(t *testing.T) {
	await.SkipShort(t)
	t.Run("a host stays away", func(t *testing.T) {
		other := &machine{Host: host.NewLocal()}
		s := newRebooted(t, func(s *rebooted) { boots(s); s.down.Store(true) })
		s.stack.Hosts["h2"], s.stack.Checks.Reboot = stack.HostConfig{SSH: "h2"}, []string{"h1", "h2"}
		s.stack.Services = append(s.stack.Services, stack.Service{Name: "other", Kind: stack.App, Host: "h2"})
		s.more = map[string]host.Host{"h2": other}
		r := s.reboot(t, RebootOptions{Back: 300 * time.Millisecond})
		if r.Outcome != Failed || !strings.Contains(r.Problems[0].What, "host h2 did not reboot") || s.down.Load() {
			t.Errorf("down %v: %+v", s.down.Load(), r)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newRebooted(t, func(s *rebooted) { boots(s); s.down.Store(true); cancel() })
		s.ctx = ctx
		if r := s.reboot(t, RebootOptions{}); s.down.Load() {
			t.Errorf("the service stayed down: %+v", r)
		}
	})
}

// Where no host takes the order, nothing is judged.
func TestRebootThatNobodyTakes(t *testing.T) {
	s := newRebooted(t, nil)
	s.refuses = errors.New("permission denied")
	if r := s.reboot(t, RebootOptions{}); r.Outcome != NotJudged || !strings.Contains(r.Text, "could not be told to reboot: permission denied") || r.Failures != 0 {
		t.Errorf("%+v", r)
	}
}

// A front door that takes a request and is slow is given longer each time.
func TestRebootWaitsForASlowFront(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = pause(r.Context(), 300*time.Millisecond)
	}))
	defer srv.Close()
	b := &reboot{o: RebootOptions{Opts: optionsOf(t, boardScenario, srv.URL)}, patience: 100 * time.Millisecond, request: []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")}
	asked := 1
	for b.front(t.Context()) != nil && asked < 9 {
		asked++
	}
	if asked < 2 || asked == 9 || b.patience <= 300*time.Millisecond {
		t.Errorf("asked %d times, at last for %s", asked, b.patience)
	}
}

// A spare service that did no work before need not come back.
func TestRebootOfIdleSpare(t *testing.T) {
	s := newRebooted(t, boots)
	s.stack.Services = append(s.stack.Services, stack.Service{Name: "other", Kind: stack.App, Host: "h1", SpareFor: "web",
		Control: stack.Control{Method: stack.MethodCommand, Start: []string{"true"}, Stop: []string{"true"}, PIDFile: t.TempDir() + "/none.pid"}})
	if r := s.reboot(t, RebootOptions{}); r.Outcome != Held {
		t.Errorf("%s: %+v", r.Outcome, r)
	}
}

// Only what checks.reboot names is rebooted, and never this machine.
func TestRebootNeedsPermission(t *testing.T) {
	s := newRebooted(t, boots)
	s.stack.Checks.Reboot = nil
	if r := s.reboot(t, RebootOptions{}); r.Outcome != NotJudged || s.ordered != 0 || len(s.notes) != 0 {
		t.Errorf("%d orders, %d writes: %+v", s.ordered, len(s.notes), r)
	}
	s.stack.Services[0].Host = stack.LocalHost
	s.stack.Checks.Reboot = []string{stack.LocalHost}
	if r := s.reboot(t, RebootOptions{}); r.Outcome != NotJudged || s.ordered != 0 {
		t.Errorf("%d orders: %+v", s.ordered, r)
	}
}
