package web

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/tune"
)

// -shots DIR keeps screenshots of every view, to look at them:
// go test ./internal/web -run Browser -args -shots DIR
var shots = flag.String("shots", "", "folder for screenshots")

//go:embed testdata/axe.min.js.gz
var axePacked []byte

func axe(t *testing.T) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(axePacked))
	must(t, err)
	b, err := io.ReadAll(z)
	must(t, err)
	return string(b)
}

// tab is one page of a headless Chromium with all that its console said.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

func newTab(t *testing.T) *tab {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Chromium here: apt-get install chromium, or set CHROMIUM")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.Flag("headless", "new"),
		chromedp.NoSandbox, // root has none; only pages of this test are opened
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError || ev.Entry.Level == log.LevelWarning {
				b.note(fmt.Sprintf("%s %s (%s)", ev.Entry.Level, ev.Entry.Text, ev.Entry.URL))
			}
		case *runtime.EventExceptionThrown:
			b.note(ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				b.note(fmt.Sprint("console: ", ev.Type))
			}
		}
	})
	b.do(log.Enable(), emulation.SetFocusEmulationEnabled(true)) // a headless window has no focus of its own
	return b
}

func (b *tab) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, s)
}

// said returns what the console said since the last call.
func (b *tab) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := strings.Join(b.problems, "\n")
	b.problems = nil
	return s
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.said())
	}
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	var v T
	b.do(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// until an expression is true. Errors are tried again: the page may just leave.
func (b *tab) until(expression string) {
	b.t.Helper()
	var is bool
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && b.ctx.Err() == nil; time.Sleep(30 * time.Millisecond) {
		if err = chromedp.Run(b.ctx, chromedp.Evaluate("!!("+expression+")", &is)); err == nil && is {
			return
		}
	}
	b.t.Fatalf("not true: %s (%v)\n%s", expression, err, b.said())
}

// shot keeps a picture of the whole page.
func (b *tab) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	must(b.t, os.MkdirAll(*shots, 0o755))
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		png, err := cdpage.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644)
	}))
}

// look is one way in which people see the pages.
type look struct {
	name          string
	width, height int64
	dark          bool
}

var looks = []look{{"light", 1200, 900, false}, {"dark", 1200, 900, true}, {"phone", 390, 800, false}}

func (b *tab) as(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.do(emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// violations of axe's rules for WCAG 2.1 A and AA, and its best practices.
func (b *tab) violations(source string) []string {
	b.t.Helper()
	b.do(chromedp.Evaluate(source+";0", nil))
	out := eval[string](b, `axe.run(document).then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " | " + (n.any[0] || n.all[0] || n.none[0] || {}).message).join(" ;; "))))`)
	var v []string
	must(b.t, json.Unmarshal([]byte(out), &v))
	return v
}

// during is a moment in the middle of an experiment.
func during(session int64, n int) tune.Live {
	l := tune.Live{Session: session, Started: time.Now().Add(-10 * time.Minute), Deadline: time.Now().Add(20 * time.Minute), Doing: "judging step 7", Runs: n, Steps: 6,
		Trying: &tune.Trying{Seq: 7, Title: "Raise pm.max_children to 12", Why: "7.9 requests are under way on average and pool www has 4 processes, while CPU is 71 % busy.", Bound: 1.4, Side: experiment.Candidate, MostPairs: 40,
			Verdict: experiment.Verdict{Pairs: 4, Effect: 0.12, Low: 0.06, High: 0.19}},
		Load: &load.Progress{Phase: "measuring", Elapsed: time.Second, Length: 3 * time.Second, RequestsPerSecond: 2811, P50: 9 * time.Millisecond, P99: 41 * time.Millisecond},
		CPU:  map[string][]float64{"local": {0.2, 0.5, 0.9, 0.97, 0.95}, "db1": {0.1, 0.3, 0.2, 0.25, 0.22}}, Rates: []float64{0, 1800, 2500, 2780, 2811, 2790, 2805}}
	if n%2 == 1 {
		l.Said = &tune.Said{Level: "warning", Text: "a run was repeated: processes outside the stack used 23 % of the CPU", Hint: "stop other work on this machine"}
	}
	return l
}

// serveTab opens a session under way in a browser that has logged in.
func serveTab(t *testing.T) (*sample, *Server, *browser, *tab) {
	t.Helper()
	b := newTab(t)
	p := newSample(t)
	s := New(Options{Stack: "bookshop", Version: "test", Store: p.store, Dir: p.dir, Token: testToken, OpenReading: true, Undo: p.putBack})
	web := serveHandler(t, s)
	// The address with the token logs in, and the token is gone from it.
	b.do(chromedp.Navigate(web.url + "/#token=" + testToken))
	b.until(`document.body && document.body.textContent.includes("logged in")`)
	if at := eval[string](b, "location.href + document.cookie"); strings.Contains(at, "token") || strings.Contains(at, "kasoku") {
		t.Errorf("the token or the cookie shows: %s", at)
	}
	s.Publish(during(p.session, 1))
	return p, s, web, b
}

// TestBrowserViews: in a real browser every view loads without a word on the
// console, passes axe in light and dark, and fits a phone.
func TestBrowserViews(t *testing.T) {
	p, _, web, b := serveTab(t)
	source := axe(t)
	for _, v := range []struct{ name, path string }{
		{"session", "/"}, {"sessions", "/sessions"}, {"runs", "/runs"}, {"run", fmt.Sprintf("/runs/%d", p.after)},
		{"compare", fmt.Sprintf("/compare?run=%d&run=%d", p.before, p.after)}, {"journal", "/journal"}, {"entry", fmt.Sprintf("/journal/%d", p.kept)}, {"login", "/login"}, {"missing", "/nothing"},
	} {
		b.do(chromedp.Navigate(web.url + v.path))
		if v.name == "session" {
			b.until(`!document.getElementById("trying").hidden`)
		}
		for _, l := range looks {
			b.as(l)
			name := v.name + "-" + l.name
			b.shot(name)
			if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s: the page is %d pixels wider than the screen", name, over)
			}
			if l.name != "phone" {
				for _, x := range b.violations(source) {
					t.Errorf("%s: axe: %s", name, x)
				}
			}
		}
		if said := b.said(); said != "" && !(v.name == "missing" && strings.Count(said, "\n") == 0 && strings.Contains(said, "404")) {
			t.Errorf("%s: %s", v.name, said)
		}
	}
}

// TestBrowserLive: the session's page follows the session, works by keyboard,
// shows pprof's pages and puts a change back.
func TestBrowserLive(t *testing.T) {
	p, s, web, b := serveTab(t)
	b.follows(web, s, p)
	b.keys(web)
	b.pprof(web, p)
	b.puts(web, p)
}

// follows: events and new steps arrive without loading the page again.
func (b *tab) follows(web *browser, s *Server, p *sample) {
	b.t.Helper()
	b.as(looks[0])
	b.do(chromedp.Navigate(web.url + "/"))
	b.until(`!document.getElementById("trying").hidden`)
	b.do(chromedp.Evaluate("window.same = true", nil))
	l := during(p.session, 3)
	l.Doing = "and now this"
	s.Publish(l)
	b.until(`document.getElementById("doing").textContent === "and now this" && document.querySelector("#said li.bad")`)
	steps, err := p.store.Steps(p.session)
	must(b.t, err)
	more := steps[0]
	more.ID, more.Seq, more.Plan.Title = 0, 7, "A step that came meanwhile"
	must(b.t, p.store.SaveStep(&more))
	s.built = sessionCache{} // the same connection wrote, which its mark does not show
	l.Steps, l.Trying = 7, nil
	s.Publish(l)
	b.until(`document.getElementById("refresh").textContent.includes("A step that came meanwhile") && document.getElementById("trying").hidden`)
	if !eval[bool](b, "window.same === true") {
		b.t.Error("the page was loaded again")
	}
	if said := b.said(); said != "" {
		b.t.Errorf("live: %s", said)
	}
}

// keys: rows of the timeline tell why on focus and lead to the step; the theme
// switch works.
func (b *tab) keys(web *browser) {
	b.t.Helper()
	b.do(chromedp.Focus(`#timeline svg.wide a`, chromedp.ByQuery))
	b.until(`document.getElementById("why").textContent.includes("Index orders")`)
	// As a keyboard does it: what the key would type is dropped if the page
	// deals with the key itself. chromedp.KeyEvent types it all the same.
	b.do(input.DispatchKeyEvent(input.KeyDown).WithKey("Enter").WithCode("Enter").WithText("\r").WithWindowsVirtualKeyCode(13),
		input.DispatchKeyEvent(input.KeyUp).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13))
	b.until(`document.getElementById("step-1").open && document.activeElement.closest("details").id === "step-1"`)
	b.do(chromedp.Click("#theme"), chromedp.Click("#theme"))
	b.until(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(19, 20, 23)"`)
	b.do(chromedp.Navigate(web.url + "/runs"))
	b.until(`document.documentElement.dataset.theme === "dark"`)
	b.do(chromedp.Evaluate(`localStorage.clear(); document.querySelectorAll("input[name=run]")[0].click(); document.querySelectorAll("input[name=run]")[1].click()`, nil))
	b.until(`!document.querySelector("form[action='/compare'] button").disabled && document.querySelectorAll("input[name=run]")[2].disabled`)
}

// pprof's own flame graph draws under its policy.
func (b *tab) pprof(web *browser, p *sample) {
	b.t.Helper()
	b.do(chromedp.Navigate(fmt.Sprintf("%s/runs/%d/profiles/profile-php-excimer.pb.gz/flamegraph", web.url, p.after)))
	b.until(`document.querySelectorAll(".boxtext").length >= 3 && document.body.textContent.includes("Template::render")`)
	b.shot("pprof-light")
	// The sandbox is there against windows and forms only, which that says.
	if said := b.said(); said != "" && (strings.Contains(said, "\n") || !strings.Contains(said, "can escape its sandboxing")) {
		b.t.Errorf("pprof: %s", said)
	}
}

// puts a change back by its button.
func (b *tab) puts(web *browser, p *sample) {
	b.t.Helper()
	b.do(chromedp.Navigate(fmt.Sprintf("%s/journal/%d", web.url, p.kept)), chromedp.Click("button.danger"))
	b.until(`document.querySelector(".kicker")?.textContent.includes("undone")`)
	text, err := os.ReadFile(p.file)
	must(b.t, err)
	if strings.Contains(string(text), "4096") {
		b.t.Errorf("the file is not back: %s", text)
	}
}
