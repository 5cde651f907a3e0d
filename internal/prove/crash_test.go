package prove

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/stack"
)

// database is a board's: killed it leaves requests waiting until it is started.
type database struct {
	mu      sync.Mutex
	up      chan struct{} // closed while it runs
	refuses error         // to be killed
	onKill  func()
	started int
	waiting atomic.Int64 // requests
	killed  time.Time
	dead    time.Duration // from the kill to the start
}

// Kill returns when some writer waits.
func (d *database) Kill(context.Context) error {
	if d.refuses != nil {
		return d.refuses
	}
	d.mu.Lock()
	d.up = make(chan struct{})
	d.mu.Unlock()
	if d.onKill != nil {
		d.onKill()
	}
	for range 1000 {
		if d.waiting.Load() > 0 {
			d.killed = time.Now()
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("nobody writes")
}

func (d *database) Start(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started++; d.refuses == nil {
		d.dead = time.Since(d.killed)
		close(d.up)
	}
	return nil
}

// wait until it runs.
func (d *database) wait(r *http.Request) {
	d.mu.Lock()
	up := d.up
	d.mu.Unlock()
	d.waiting.Add(1)
	defer d.waiting.Add(-1)
	select {
	case <-up:
	case <-r.Context().Done():
	}
}

// crashOf makes a board and a crash of its database.
func crashOf(t *testing.T) (*crash, *board, *database) {
	t.Helper()
	b, d := &board{}, &database{up: make(chan struct{})}
	close(d.up)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.wait(r)
		b.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	o := CrashOptions{Writers: 2, For: 20 * time.Millisecond, Again: 10 * time.Millisecond}.complete(&stack.Stack{})
	return &crash{server: d, name: "db", w: witnessOf(t, boardScenario+deleting, srv.URL), o: o, r: begin(Durability), within: time.Minute}, b, d
}

// The database is started before the writers have ended: they wait for it. All
// writes are taken back, the oldest, too.
func TestCrashStartsBeforeWritersEnd(t *testing.T) {
	c, b, d := crashOf(t)
	c.o.newest = 4 // most are too old to be asked for
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.r.Outcome != Held || c.r.Writes < 20 || c.r.Reads != 2*4 || c.r.BackAfter <= 0 {
		t.Errorf("%+v", c.r)
	}
	if len(b.notes) > 0 {
		t.Errorf("%d writes were not taken back: %q", len(b.notes), c.r.Notes)
	}
	if d.dead > 3*time.Second { // a request is given up after 5 s
		t.Errorf("it was started %s after the kill, when the writers had given up", d.dead)
	}
}

// What is lost is told, and what a page cache hides for a while is not lost.
func TestCrashLoses(t *testing.T) {
	for _, c := range []struct {
		about  string
		hidden time.Duration // how long after the kill readers do not see the last write
		again  time.Duration
		want   Outcome
	}{
		{"a write is lost", time.Hour, 50 * time.Millisecond, Failed},
		{"a page cache has the old state for as long as it may", 300 * time.Millisecond, time.Second, Held},
	} {
		t.Run(c.about, func(t *testing.T) {
			x, b, d := crashOf(t)
			x.o.Again = c.again
			var killed time.Time
			d.onKill = func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				killed = time.Now()
				old := (&board{notes: b.notes[:len(b.notes)-1]}).page()
				b.show = func(b *board, _ *http.Request) string {
					if time.Since(killed) < c.hidden {
						return old
					}
					return b.page()
				}
			}
			if err := x.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if x.r.Outcome != c.want || c.want == Failed && !strings.Contains(x.r.Problems[0].What, "before the end is lost") {
				t.Errorf("%+v", x.r)
			}
		})
	}
}

// A write is waited for as long as readers may be given the old state.
func TestCrashWaitsAsLongAsAllowed(t *testing.T) {
	st := &stack.Stack{Checks: stack.Checks{VisibleWithin: 30 * time.Second}}
	if o := (CrashOptions{}).complete(st); o.Again != 32*time.Second || seenWithin(st) != 40*time.Second {
		t.Errorf("a write is waited for %s after a crash, and %s without one", o.Again, seenWithin(st))
	}
}

// Settings that failed stay failed when the kill does not come off, and what it
// has done is undone.
func TestCrashKeepsWhatFailed(t *testing.T) {
	c, _, d := crashOf(t)
	d.refuses = errors.New("not permitted")
	c.r.fail("db", "the log is not synced")
	err := c.run(t.Context())
	if r := c.r.Ended(err); err == nil || r.Outcome != Failed || r.Text == "" || d.started != 1 || !strings.Contains(strings.Join(r.Notes, "\n"), "not permitted") {
		t.Errorf("%+v, %v, started %d times", r, err, d.started)
	}
}
