package prove

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// board keeps notes and shows them. show, if set, decides what a request gets
// instead of the present state.
type board struct {
	mu    sync.Mutex
	notes []string
	down  func(r *http.Request) bool // no answer: 503
	show  func(b *board, r *http.Request) string
}

func (b *board) page() string { return "notes: " + strings.Join(b.notes, ", ") + "." }

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.down != nil && b.down(r):
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == "DELETE":
		b.notes = slices.DeleteFunc(b.notes, func(n string) bool { return n == r.FormValue("text") })
	case r.Method == "POST":
		b.notes = append(b.notes, r.FormValue("text"))
	case b.show != nil:
		fmt.Fprint(w, b.show(b, r))
	default:
		fmt.Fprint(w, b.page())
	}
}

const boardScenario = `version: 1
name: board
pools:
  texts: {generate: {from: 1000, to: 5999}, fields: {text: "note-${n}"}}
setup:
  - {request: POST /notes, draw: {note: texts}, form: {text: "${note.text}"}}
sessions:
  - name: stranger
    steps: [{request: GET /, expect: {contains: " ${note.text}"}}]
  - name: member
    steps: [{request: GET /, headers: {Cookie: user=ann}, expect: {contains: " ${note.text}"}}]
`

// deleting is what takes a board's notes back.
const deleting = "teardown:\n  - {request: \"DELETE /notes?text=${note.text}\"}\n"

func witnessOf(t *testing.T, scenario, url string) *load.Witness {
	t.Helper()
	w, err := load.NewWitness(optionsOf(t, scenario, url))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func optionsOf(t *testing.T, scenario, url string) load.Options {
	t.Helper()
	sc, err := load.Parse("checks.yaml", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	return load.Options{Scenario: sc, URL: url}
}

// quick makes Stale short: times only bound how long it goes on.
func quick(limit time.Duration) StaleOptions {
	return StaleOptions{Limit: limit, Writes: 3, Pause: time.Millisecond, Settle: 5 * time.Millisecond, Past: 20 * time.Millisecond}
}

// cachedFor keeps what was shown first after n requests for as many more.
func cachedFor(n int) func(*board, *http.Request) string {
	kept, left := "", 0
	return func(b *board, _ *http.Request) string {
		if left == 0 {
			kept, left = b.page(), n
		}
		left--
		return kept
	}
}

func TestStale(t *testing.T) {
	await.SkipShort(t)
	strangers := map[string]string{} // what a cache keeps, by who asks
	for _, c := range []struct {
		about string
		show  func(*board, *http.Request) string
		limit time.Duration
		want  Outcome
		text  string // in the result or its first problem
		worst bool   // an old state was seen
	}{
		{"no cache", nil, 0, Held, "3 writes, polled by 2 readers", false},
		{"a cache that forgets in time", cachedFor(9), time.Hour, Held, "the old state was still given", true},
		{"the same where nothing older is allowed", cachedFor(9), 0, Failed, `reader "stranger" did not see it`, true},
		{"a cache that is never purged", func(b *board, r *http.Request) string {
			who := r.Header.Get("Cookie")
			if strangers[who] == "" {
				strangers[who] = b.page()
			}
			return strangers[who]
		}, 30 * time.Millisecond, Failed, "did not see it", true},
		{"of two caches one has the old state for members only", func(b *board, r *http.Request) string {
			if r.Header.Get("Cookie") != "" && len(b.notes) > 0 {
				return (&board{notes: b.notes[:len(b.notes)-1]}).page()
			}
			return b.page()
		}, 30 * time.Millisecond, Failed, `reader "member" did not see it`, true},
		{"only the last write stays", func(b *board, _ *http.Request) string {
			return (&board{notes: b.notes[max(0, len(b.notes)-1):]}).page()
		}, time.Second, Failed, "saw it, and does not any more", false},
		{"a reader who is always right", func(b *board, _ *http.Request) string {
			var all []string
			for n := range 5000 {
				all = append(all, fmt.Sprintf("note-%d", 1000+n))
			}
			return (&board{notes: all}).page()
		}, 0, NotJudged, "sees the write before it is made", false},
	} {
		t.Run(c.about, func(t *testing.T) {
			srv := httptest.NewServer(&board{show: c.show})
			defer srv.Close()
			r, err := Stale(t.Context(), witnessOf(t, boardScenario, srv.URL), quick(c.limit))
			if err != nil {
				t.Fatal(err)
			}
			text := r.Text
			if len(r.Problems) > 0 {
				text = r.Problems[0].What
			}
			if r.Outcome != c.want || !strings.Contains(text, c.text) || (r.Worst > 0) != c.worst {
				t.Errorf("%s, worst %s: %s", r.Outcome, r.Worst, text)
			}
			if r.Outcome == Held && (r.Writes != 3 || r.Reads < 6 || r.Failures != 0) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// No answer is not an old one: it is waited for, for a while.
func TestStaleWithoutAnswers(t *testing.T) {
	for _, c := range []struct {
		about string
		down  func(reads, notes int) bool // reads since the last write
		wait  time.Duration               // for an answer: long where one comes, however busy the machine is
		want  Outcome
		text  string
	}{
		{"a restart right after a write", func(reads, notes int) bool { return notes == 2 && reads < 9 }, await.Limit, Held, "3 writes, polled by 2 readers"},
		{"a restart before the look at the end", func(reads, notes int) bool { return notes == 3 && reads >= 2 && reads < 9 }, await.Limit, Held, "3 writes, polled by 2 readers"},
		{"nothing is answered after the second write", func(_, notes int) bool { return notes == 2 }, 50 * time.Millisecond, NotJudged, "write 2: reader \"member\" got no answer"},
	} {
		t.Run(c.about, func(t *testing.T) {
			b, reads, last := &board{}, 0, 0
			b.down = func(r *http.Request) bool {
				if r.Method == "POST" {
					return false
				}
				if reads++; last != len(b.notes) {
					last, reads = len(b.notes), 0
				}
				return c.down(reads, len(b.notes))
			}
			srv := httptest.NewServer(b)
			defer srv.Close()
			o := quick(0)
			o.Settle, o.Silent = time.Nanosecond, c.wait // each reader is asked once if it sees the write
			r, err := Stale(t.Context(), witnessOf(t, boardScenario, srv.URL), o)
			if err != nil || r.Outcome != c.want || !strings.Contains(r.Text, c.text) || r.Worst != 0 {
				t.Errorf("%s, worst %s: %s %+v, %v", r.Outcome, r.Worst, r.Text, r.Problems, err)
			}
		})
	}
}

// A write that was seen and is missing in one answer is not gone.
func TestStaleLooksAgain(t *testing.T) {
	reads := 0 // of three notes
	srv := httptest.NewServer(&board{show: func(b *board, _ *http.Request) string {
		if len(b.notes) == 3 {
			reads++
		}
		if reads == 3 {
			return (&board{notes: b.notes[1:]}).page()
		}
		return b.page()
	}})
	defer srv.Close()
	o := quick(0)
	o.Settle = time.Nanosecond // both readers are asked once after the third write, then for the first one
	if r, err := Stale(t.Context(), witnessOf(t, boardScenario, srv.URL), o); err != nil || r.Outcome != Held || reads < 4 {
		t.Errorf("%s: %s %+v, %v, asked %d times", r.Outcome, r.Text, r.Problems, err, reads)
	}
}

// However the check ends, what it wrote is taken back.
func TestStaleTakesBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		about string
		ctx   context.Context
		show  func(*board, *http.Request) string
	}{
		{"held", t.Context(), nil},
		{"failed", t.Context(), func(*board, *http.Request) string { return "" }},
		{"cut off", ctx, func(b *board, _ *http.Request) string {
			if len(b.notes) == 2 {
				cancel()
			}
			return b.page()
		}},
	} {
		t.Run(c.about, func(t *testing.T) {
			b := &board{show: c.show}
			srv := httptest.NewServer(b)
			defer srv.Close()
			r, err := Stale(c.ctx, witnessOf(t, boardScenario+deleting, srv.URL), quick(0))
			if len(b.notes) > 0 || r.Writes == 0 || (err != nil) != (c.ctx == ctx) {
				t.Errorf("%q were left of %d writes, %v: %q", b.notes, r.Writes, err, r.Notes)
			}
		})
	}
}

// A write that is not acknowledged ends the check with an error: nothing was
// shown.
func TestStaleWithoutAWrite(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			w.WriteHeader(500)
		}
	}))
	defer srv.Close()
	if r, err := Stale(t.Context(), witnessOf(t, boardScenario, srv.URL), quick(0)); err == nil || !strings.Contains(err.Error(), "not acknowledged") {
		t.Errorf("%+v, %v", r, err)
	}
	srv.Close()
	if r, err := Stale(t.Context(), witnessOf(t, boardScenario, srv.URL), quick(0)); err != nil || r.Outcome != NotJudged || !strings.Contains(r.Text, "got no answer before the write") {
		t.Errorf("nobody answers: %+v, %v", r, err)
	}
}

// A stale answer is attributed to the cache that gave it, not to what is behind.
func TestStaleBlamesTheCache(t *testing.T) {
	app := httptest.NewServer(&board{})
	defer app.Close()
	kept := map[string]string{}
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Cookie") + r.URL.String()
		if text, ok := kept[key]; ok && r.Method == "GET" {
			w.Header().Set("X-Cache", "HIT")
			fmt.Fprint(w, text)
			return
		}
		text := forward(t, app.URL, r)
		if r.Method == "GET" {
			kept[key] = text
		}
		fmt.Fprint(w, text)
	}))
	defer front.Close()
	o := quick(time.Millisecond)
	o.Blamer = &Blamer{Stack: twoServers(app.URL), Opts: optionsOf(t, boardScenario, front.URL)}
	r, err := Stale(t.Context(), witnessOf(t, boardScenario, front.URL), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != Failed || r.Problems[0].By != "web (X-Cache: HIT): asked directly, app gives the right answer" {
		t.Errorf("%s %+v", r.Outcome, r.Problems)
	}
}

// forward hands a request on, and returns the answer's body.
func forward(t *testing.T, to string, r *http.Request) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		return ""
	}
	req.Header, req.ContentLength = r.Header, r.ContentLength
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}

// twoServers are a front door and the application behind it.
func twoServers(app string) *stack.Stack {
	return &stack.Stack{Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Host: stack.LocalHost, TalksTo: []string{"app"}},
		{Name: "app", Kind: stack.App, Host: stack.LocalHost, Listen: []string{strings.TrimPrefix(app, "http://")}, TalksTo: []string{"db"}},
		{Name: "db", Kind: stack.MariaDB, Host: stack.LocalHost, Listen: []string{"127.0.0.1:1"}},
	}}
}
