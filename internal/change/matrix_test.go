package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/host"
)

// matrix is a job that ends before each of its steps. It does so in two ways:
//   - everywhere: before each step the job stops in this process, for good, and
//     loses what the kernel takes from a process that is killed (stop);
//   - sample: before some steps drawn by KASOKU_SEED, with LONG=1 before all of
//     them, it is a process of its own that gets SIGKILL. It must have come as
//     far as the other: the same step, the same lines in the journal, and the
//     same history after recovery.
//
// Either way a new Kasoku recovers, and what seen tells must be as before.
type matrix struct {
	lab
	job string
	// options of each Kasoku but the killed process, which finds its own.
	options func(dir string) Options
	seen    func() string
	first   func(t *testing.T, o Options) // what is done before the job, in its folder; may be nil
	between func()                        // what happens between its end and recovery; may be nil
	// kept says whether what was killed before that step ("": not at all) may be
	// found kept; nil: before each.
	kept func(name string) bool
	// from and every make it end before some of its steps only: from is the number
	// of the first of them (0: 1), every the distance (0: 1).
	from, every int
}

// end is what is left of a job that ended before a step.
type end struct {
	step    int
	name    string // of the step; "" if it ran through
	journal string
	history string // after recovery
}

func (m *matrix) everywhere(t *testing.T) []end {
	t.Helper()
	var all []end
	before := m.seen()
	for step := max(1, m.from); ; step += max(1, m.every) {
		e := m.ends(t, before, step, m.stop)
		if all = append(all, e); e.name == "" {
			t.Logf("%s: %d steps of about %d", m.job, len(all)-1, step-1)
			return all
		}
	}
}

// thinned lets the job end before each nth step only, beginning with one that
// KASOKU_SEED draws, unless LONG=1.
func (m *matrix) thinned(n int) *matrix {
	if !everyStep() {
		m.from, m.every = 1+int(seed()%uint64(n)), n
	}
	return m
}

// sample kills real processes, n of them, where everywhere told all.
func (m *matrix) sample(t *testing.T, all []end, n int) {
	t.Helper()
	steps := rand.New(rand.NewPCG(seed(), sum(m.job))).Perm(len(all) - 1)
	if !everyStep() {
		steps = steps[:min(n, len(steps))]
	}
	slices.Sort(steps)
	before := m.seen()
	for _, i := range steps {
		e := m.ends(t, before, all[i].step, func(t *testing.T, dir string, step int) string { return m.kill(t, dir, m.job, step) })
		wantEqual(t, fmt.Sprintf("%s, KASOKU_SEED=%d: what a process left that was killed, and one that stopped", m.job, seed()), fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", all[i]))
	}
}

func (m *matrix) ends(t *testing.T, before string, step int, dies func(t *testing.T, dir string, step int) string) end {
	t.Helper()
	dir := m.project(t)
	if m.first != nil {
		m.first(t, m.options(dir))
	}
	e := end{step: step, name: dies(t, dir, step)}
	e.journal = pastOf(t, dir)
	if m.between != nil {
		m.between()
	}
	x, err := Open(t.Context(), m.options(dir))
	must(t, err)
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatalf("%s ended before step %d (%s): recover: %v", m.job, step, e.name, err)
	}
	if p := x.Pending(); len(p) > 0 {
		t.Fatalf("%s ended before step %d (%s): pending after recovery: %v", m.job, step, e.name, states(p))
	}
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Fatalf("%s ended before step %d (%s): drift %v, %v", m.job, step, e.name, drift, err)
	}
	history := x.History()
	e.history = states(history)
	kept := len(history) > 0 && history[0].State == StateKept
	if now := m.seen(); (now == before) == kept {
		t.Fatalf("%s ended before step %d (%s), then recovered (%s):\n%s\nbefore:\n%s", m.job, step, e.name, e.history, now, before)
	}
	if kept && m.kept != nil && !m.kept(e.name) {
		t.Fatalf("%s: kept though it ended before %s", m.job, e.name)
	}
	if len(x.Kept()) > 0 {
		must(t, x.UndoAll(t.Context()))
		wantEqual(t, "undone", m.seen(), before)
	}
	must(t, x.Close())
	return e
}

// stop does the job in this process until the step, and leaves it there as
// SIGKILL leaves a process: nothing after it happens, neither deferred work nor a
// line in the journal, and its locks and connections are gone.
func (m *matrix) stop(t *testing.T, dir string, at int) string {
	t.Helper()
	var links connections
	ctx := context.WithValue(t.Context(), connectionsOf{}, &links)
	o := m.options(dir)
	local := &mortal{}
	o.Hosts = withHost(o.Hosts, "local", local)
	n := 0
	done := make(chan string)
	k := kasoku{lab: m.lab, options: o, step: func(step string) {
		if n++; n == at {
			done <- step
			select {}
		}
	}, fail: func(err error) {
		if err != nil {
			done <- fmt.Sprint("failed: ", err)
			select {}
		}
	}}
	go func() { k.do(ctx, m.job); close(done) }()
	name := <-done
	if strings.HasPrefix(name, "failed: ") {
		t.Fatalf("%s, step %d: %s", m.job, at, name)
	}
	if name != "" {
		links.cut()
		for service := range k.x.pools {
			k.x.forget(service)
		}
		must(t, k.x.journal.out.Close())
		local.drop()
	}
	return name
}

func withHost(hosts map[string]host.Host, name string, h host.Host) map[string]host.Host {
	out := map[string]host.Host{}
	for n, h := range hosts {
		out[n] = h
	}
	out[name] = h
	return out
}

// mortal is this machine for one whose locks drop when he dies.
type mortal struct {
	host.Local
	held []*host.Held
}

func (m *mortal) Lock(ctx context.Context, path string) (func() error, error) {
	h, err := m.Hold(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	m.held = append(m.held, h)
	return h.Unlock, nil
}

func (m *mortal) drop() {
	for _, h := range m.held {
		h.Drop()
	}
}

// connections are those to databases of one who may die.
type connections struct {
	mu  sync.Mutex
	all []net.Conn
}

// connectionsOf is their key in a context.
type connectionsOf struct{}

// dialer of a database connection, which is remembered if ctx is of one who may die.
func dialer(ctx context.Context) func(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	links, ok := ctx.Value(connectionsOf{}).(*connections)
	if !ok {
		return d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, address)
		if err == nil {
			links.mu.Lock()
			defer links.mu.Unlock()
			links.all = append(links.all, c)
		}
		return c, err
	}
}

func (l *connections) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.all {
		c.Close()
	}
}

// pastOf tells the lines of a journal, without what differs from one run to
// another.
func pastOf(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(JournalDir(dir), journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	must(t, err)
	var out []string
	for line := range strings.Lines(string(b)) {
		var r record
		must(t, json.Unmarshal([]byte(line), &r))
		s := fmt.Sprint(r.Tx, " ", r.Op, " ", r.Service, r.How)
		if r.Change != nil {
			s += fmt.Sprint(" ", *r.Change)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

var seed = sync.OnceValue(func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("KASOKU_SEED"), 10, 64); err == nil {
		return n
	}
	return uint64(time.Now().UnixNano())
})

func sum(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// matrix of a job with the options that its process has, too.
func (l lab) matrix(job string, seen func() string) *matrix {
	return &matrix{lab: l, job: job, options: func(dir string) Options { return l.optionsOf(job, dir) }, seen: seen}
}

// killedEverywhere ends a job before every step, recovers, and compares what
// seen tells. It returns how many steps there are.
func killedEverywhere(t *testing.T, l lab, job string, seen func() string) int {
	t.Helper()
	return l.matrix(job, seen).killed(t)
}

// killed ends the job before its steps in both ways. It returns at how many.
func (m *matrix) killed(t *testing.T) int {
	t.Helper()
	all := m.everywhere(t)
	m.sample(t, all, 1)
	return len(all) - 1
}
