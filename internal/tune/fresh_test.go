package tune

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// A plan that keeps pages is compared with the application before it is kept;
// one whose pages are too old may not stay.
func TestStalePagesMayNotStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte("version: 1\nname: fresh\nworkload: 1\nsessions:\n  - name: s\n    steps:\n      - {request: POST /, think: 5ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc, err := load.LoadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keep time.Duration // how long the cache keeps a page
		want string
	}{
		"within the limit": {500 * time.Millisecond, ""},
		"too old":          {time.Minute, "the limit is 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kept atomic.Pointer[string]
			var at atomic.Int64
			app := func(r *http.Request) string { // a new page every 300 ms
				return fmt.Sprint(time.Now().UnixMilli()/300, r.Host, r.Header.Get("X-Forwarded-Host"))
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				plain := r.Method == http.MethodGet && r.Header.Get("Authorization") == "" && r.Host != "kasoku.invalid" && r.Header.Get("X-Forwarded-Host") == ""
				if !plain {
					fmt.Fprint(w, app(r))
					return
				}
				if p := kept.Load(); p == nil || time.Since(time.UnixMilli(at.Load())) > c.keep {
					text := app(r)
					kept.Store(&text)
					at.Store(time.Now().UnixMilli())
				}
				fmt.Fprint(w, *kept.Load())
			}))
			defer srv.Close()
			tuner := &Tuner{Bench: &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{URL: srv.URL}}, Scenario: sc}, UI: quietly{}, course: course{workload: 1}}
			step := &store.Step{Plan: remedy.Plan{Fresh: &planning.Fresh{URLs: []string{"/"}, MaxAge: time.Second}}}
			why, err := tuner.stale(t.Context(), step, &switcher{})
			if err != nil {
				t.Fatal(err)
			}
			if (c.want == "") != (why == "") || !strings.Contains(why, c.want) {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

// One page that changes does not cost the others their cache: it is left out, and so it
// cannot be planned again. Where all are too old, or where somebody was to get what is
// another's, the cache ends; and it is not made narrower for ever.
func TestCacheOfPagesIsNarrowed(t *testing.T) {
	asked := []string{"/a", "/b", "/c"}
	old := func(urls ...string) map[string]string {
		out := map[string]string{}
		for _, u := range urls {
			out[u] = "a stranger got what the application last answered 3 s before, the limit is 1s"
		}
		return out
	}
	for _, c := range []struct {
		about  string
		report load.FreshReport
		before int // times it was narrowed
		want   bool
	}{
		{"one is too old", load.FreshReport{Old: old("/b")}, 0, true},
		{"all are", load.FreshReport{Old: old(asked...)}, 0, false},
		{"one is somebody else's", load.FreshReport{Old: old("/b"), Others: 1}, 0, false},
		{"nothing is wrong", load.FreshReport{}, 0, false},
		{"for the fourth time", load.FreshReport{Old: old("/b")}, mostNarrowed, false},
	} {
		tu := &Tuner{Bench: &Bench{}, course: course{narrowed: c.before}}
		said := tu.narrows(asked, c.report)
		if (said != "") != c.want || tu.course.lookAgain != c.want || c.want && !strings.Contains(said, "/b: a stranger got what the application last answered 3 s before") {
			t.Errorf("%s: %q", c.about, said)
		}
		l := &load.Result{Pages: []load.PageSample{{URL: "/a"}, {URL: "/b"}}, Assets: []load.StaticSample{{Path: "/b"}, {Path: "/c"}}}
		if tu.Bench.leaveOutPages(l); l.Pages[0].Private != "" || l.Assets[1].Private != "" || (l.Pages[1].Private != "") != c.want || (l.Assets[0].Private != "") != c.want {
			t.Errorf("%s: %+v %+v", c.about, l.Pages, l.Assets)
		}
	}
}

type quietly struct{}

func (quietly) Step(string)         {}
func (quietly) Info(string)         {}
func (quietly) Warn(string, string) {}
