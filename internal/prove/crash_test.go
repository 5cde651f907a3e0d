package prove

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
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
	waited  int64        // how many waited when it was started
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
	return await.Until(func() error {
		if d.waiting.Load() == 0 {
			return errors.New("nobody writes")
		}
		return nil
	})
}

func (d *database) Start(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started++; d.refuses == nil {
		d.waited = d.waiting.Load()
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
	if d.waited == 0 {
		t.Error("it was started when the writers had given up")
	}
}

// What is lost is told, and what a page cache hides for a while is not lost.
func TestCrashLoses(t *testing.T) {
	for _, c := range []struct {
		about  string
		hidden int // how many pages after the kill do not show the last write
		again  time.Duration
		want   Outcome
	}{
		{"a write is lost", math.MaxInt, 50 * time.Millisecond, Failed},
		{"a page cache has the old state for as long as it may", 10, await.Limit, Held},
	} {
		t.Run(c.about, func(t *testing.T) {
			x, b, d := crashOf(t)
			x.o.Again = c.again
			d.onKill = func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				old, shown := (&board{notes: b.notes[:len(b.notes)-1]}).page(), 0
				b.show = func(b *board, _ *http.Request) string {
					if shown++; shown <= c.hidden {
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
