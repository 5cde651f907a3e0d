package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// What a request costs the generator, counted and not timed: system calls of
// the event loop, and allocations of the whole program. One more of either for
// each request fails here; what they cost in time is bench/load's matter.

// costServer answers every request with a JSON text and allocates nothing for
// it. It notes how much the program has allocated when costWarm requests are
// answered, and when there are enough.
type costServer struct {
	listener net.Listener
	requests atomic.Int64
	enough   int64
	done     context.CancelFunc // called after enough requests
	first    atomic.Uint64      // allocations when costWarm requests were answered
	last     atomic.Uint64      // and after enough
}

// costWarm requests come before allocations count: until then buffers grow.
const costWarm = 2000

const costBody = `{"ok":true,"name":"kasoku-cost-marker","items":[1,2,3]}`

func newCostServer(t testing.TB, enough int64, done context.CancelFunc) *costServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &costServer{listener: l, enough: enough, done: done}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	t.Cleanup(func() { l.Close() })
	return s
}

func (s *costServer) url() string { return "http://" + s.listener.Addr().String() }

func (s *costServer) serve(conn net.Conn) {
	defer conn.Close()
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(costBody), costBody)
	buf, end := make([]byte, 4096), []byte("\r\n\r\n")
	for {
		n, err := conn.Read(buf)
		if err != nil || !bytes.HasSuffix(buf[:n], end) {
			return // the generator sends a request with one call
		}
		switch s.requests.Add(1) {
		case costWarm:
			s.first.Store(mallocs())
		case s.enough:
			s.last.Store(mallocs())
			s.done()
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// cost drives a run until the server has answered enough requests.
func cost(t *testing.T, users int, arrivals *Arrivals, enough int64) (calls, *costServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := newCostServer(t, enough, cancel)
	sc := mustParse(t, steps(`- {request: GET /, expect: {status: 200, contains: kasoku-cost-marker, size: 55, type: application/json}}`))
	r, err := newRun(ctx, Options{Scenario: sc, URL: s.url(), Workload: users, Warmup: -1, Window: time.Hour, Loops: 1, Arrivals: arrivals})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	defer context.AfterFunc(ctx, r.interrupt)()
	if _, err := r.drive(); !errors.Is(err, context.Canceled) {
		t.Fatalf("after %d of %d requests: %v", s.requests.Load(), enough, err)
	}
	if wrong := r.samples.sorted(); len(wrong) > 0 {
		t.Fatalf("wrong answers: %+v", wrong[0])
	}
	return r.loops[0].kernel.calls, s
}

// Bounds are those of the present engine with a small margin: what time and the
// machine add (an empty wait every maxHold, Go's signals, progress four times a
// second) is divided by thousands of requests.
func TestCostOfRequest(t *testing.T) {
	await.SkipShort(t)
	const margin = 0.02
	for _, tt := range []struct {
		name   string
		users  int
		rate   float64 // 0: closed
		most   float64 // useful waits and rests for one request
		enough int64
	}{
		// Each answer is waited for by itself: send, wait, receive.
		{"closed, one user", 1, 0, 1, 20_000},
		// One wait and at most one rest bring several answers, at worst one.
		{"closed, 32 users", 32, 0, 2, 50_000},
		// Five requests begin with one wake-up; their answers are read with the
		// next: one rest and one wait for five requests, or for more on a busy
		// machine.
		{"5,000 requests/s", 32, 5000, 0.5, 10_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var arrivals *Arrivals
			if tt.rate > 0 {
				arrivals = ConstantRate(tt.rate)
			}
			c, s := cost(t, tt.users, arrivals, tt.enough)
			n := s.requests.Load()
			t.Logf("%d requests: %+v, %.3f system calls each", n, c, float64(c.sum())/float64(n))
			// At the end each user may have one under way.
			if c.sends < n || c.sends > n+int64(tt.users) {
				t.Errorf("%d sends for %d requests", c.sends, n)
			}
			if c.receives < n-int64(tt.users) || float64(c.receives) > float64(n)*(1+margin) {
				t.Errorf("%d receives for %d requests", c.receives, n)
			}
			if each := float64(c.waits-c.empty+c.rests) / float64(n); each > tt.most+margin {
				t.Errorf("%.3f waits with events and rests for a request, want %.1f at most", each, tt.most)
			}
			s.allocations(t)
		})
	}
}

// allocations of the whole program for one request: none.
func (s *costServer) allocations(t *testing.T) {
	t.Helper()
	// Progress and the machine's own figures allocate a little all the time.
	const most = 0.05
	if each := float64(s.last.Load()-s.first.Load()) / float64(s.enough-costWarm); each > most {
		t.Errorf("%.3f allocations for a request", each)
	}
}

// With one of Go's processors the loop waits as with two: it does not look for
// events before each wait.
func TestCostWithOneProcessor(t *testing.T) {
	runtime.GOMAXPROCS(1)
	defer runtime.SetDefaultGOMAXPROCS()
	c, s := cost(t, 1, nil, 20_000)
	n := s.requests.Load()
	t.Logf("%d requests: %+v, %.3f system calls each", n, c, float64(c.sum())/float64(n))
	if each := float64(c.sum()-c.empty) / float64(n); each > 3.02 {
		t.Errorf("%.3f system calls for a request, want send, wait and receive", each)
	}
	if c.empty > n/10 {
		t.Errorf("%d of %d waits brought nothing", c.empty, c.waits)
	}
	s.allocations(t)
	if spared.Load() || maxProcs() != runtime.GOMAXPROCS(0) {
		t.Error("the spare processor is still there")
	}
}

// A system call of the event loop is counted: the loop makes none by itself but
// where a connection or a run begins or ends.
func TestCallsAreCounted(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "loop.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rare := []string{"newLoop", "wake", "close", "work", "dial", "disconnect"}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || slices.Contains(rare, f.Name.Name) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "syscall" {
					t.Errorf("%s calls syscall.%s; let caller make the call and count it", f.Name.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// A ring keeps the order and its memory.
func TestRing(t *testing.T) {
	slots := make([]slot, 5)
	r := ring{slots: make([]*slot, len(slots))}
	next, out := 0, 0
	step := func() {
		for r.count < len(slots) {
			r.push(&slots[next%len(slots)])
			next++
		}
		for range 3 {
			if got := r.pop(); got != &slots[out%len(slots)] {
				t.Fatalf("number %d is not the longest in it", out)
			}
			out++
		}
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
