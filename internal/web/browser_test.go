package web

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui/webtest"
)

// during is a moment in the middle of an experiment.
func during(session int64, n int) tune.Live {
	l := tune.Live{Session: session, Started: time.Now().Add(-10 * time.Minute), Deadline: time.Now().Add(20 * time.Minute), Doing: "judging step 7", Counts: tune.Counts{Runs: n, Steps: 6, Judged: 6},
		Trying: &tune.Trying{Seq: 7, Title: "Raise pm.max_children to 12", Why: "7.9 requests are under way on average and pool www has 4 processes, while CPU is 71 % busy.", Bound: 1.4, Side: experiment.Candidate, MostPairs: 40,
			Verdict: experiment.Verdict{Pairs: 4, Effect: 0.12, Low: 0.06, High: 0.19}},
		Load:   &load.Progress{Phase: "measuring", Elapsed: time.Second, Length: 3 * time.Second, RequestsPerSecond: 2811, P50: 9 * time.Millisecond, P99: 41 * time.Millisecond},
		Curves: tune.Curves{CPU: map[string][]float64{"local": {0.2, 0.5, 0.9, 0.97, 0.95}, "db1": {0.1, 0.3, 0.2, 0.25, 0.22}}, Rates: []float64{0, 1800, 2500, 2780, 2811, 2790, 2805}}}
	if n%2 == 1 {
		l.Said = &tune.Said{Level: "warning", Text: "a run was repeated: processes outside the stack used 23 % of the CPU", Hint: "stop other work on this machine"}
	}
	return l
}

// serveTab opens a session under way in a browser that has logged in.
func serveTab(t *testing.T) (*sample, *Server, *browser, tab) {
	t.Helper()
	b := webtest.New(t)
	p := newSample(t)
	s := New(Options{Stack: "bookshop", Version: "test", Store: p.store, Dir: p.dir, Token: testToken, OpenReading: true, Undo: p.putBack})
	web := serveHandler(t, s)
	// The address with the token logs in, and the token is gone from it.
	b.Open(web.url + "/#token=" + testToken)
	b.Until(`document.body && document.body.textContent.includes("logged in")`)
	if at := webtest.Eval[string](b, "location.href + document.cookie"); strings.Contains(at, "token") || strings.Contains(at, "kasoku") {
		t.Errorf("the token or the cookie shows: %s", at)
	}
	s.Publish(during(p.session, 1))
	return p, s, web, tab{b, t}
}

// tab is a Tab with what this package's pages do.
type tab struct {
	*webtest.Tab
	t *testing.T
}

// TestBrowserViews: in a real browser every view loads without a word on the
// console, passes axe in light and dark, and fits a phone.
func TestBrowserViews(t *testing.T) {
	await.SkipShort(t)
	p, _, web, b := serveTab(t)
	for _, v := range []struct{ name, path string }{
		{"session", "/"}, {"sessions", "/sessions"}, {"runs", "/runs"}, {"chosen", fmt.Sprintf("/runs?with=%d", p.after)}, {"run", fmt.Sprintf("/runs/%d", p.after)},
		{"compare", fmt.Sprintf("/compare?run=%d&run=%d", p.before, p.after)}, {"journal", "/journal"}, {"entry", fmt.Sprintf("/journal/%d", p.kept)}, {"login", "/login"}, {"missing", "/nothing"},
	} {
		b.Open(web.url + v.path)
		if v.name == "session" {
			b.Until(`!document.getElementById("trying").hidden`)
		}
		b.Check(v.name)
		switch v.name {
		case "runs", "chosen", "sessions", "journal", "run", "compare":
			b.readable("main .scroll:not(.flame)")
		}
		if said := b.Said(); said != "" && !(v.name == "missing" && strings.Count(said, "\n") == 0 && strings.Contains(said, "404")) {
			t.Errorf("%s: %s", v.name, said)
		}
	}
}

// TestBrowserManySteps: a session of 200 steps can be read: what was put back is folded, the
// bottleneck comes within fifteen screens of a phone, and a link opens a folded step.
func TestBrowserManySteps(t *testing.T) {
	await.SkipShort(t)
	p, s, web, b := serveTab(t)
	const steps, keptEvery = 200, 12
	for i := 6; i < steps; i++ { // the sample has six
		x := &store.Step{Session: p.session, Seq: i + 1, Started: begun, Ended: begun.Add(time.Minute), Kept: i%keptEvery == 0,
			Plan:    remedy.Plan{ID: fmt.Sprint("p", i), Title: fmt.Sprintf("Set setting_%d of nginx to %d", i, 8*i), Why: "1,200 answers waited for it.", Bound: 1.2},
			Verdict: experiment.Verdict{Outcome: experiment.NoDifference, Reason: "an effect above +1.9 % is unlikely", Effect: 0.001, Low: -0.01, High: 0.012, Pairs: 3, Runs: 6, Took: 40 * time.Second, BaselineScore: 1700 + float64(i), CandidateScore: 1701 + float64(i)}}
		if x.Kept {
			x.Verdict.Outcome, x.Verdict.Effect, x.Verdict.Low, x.Verdict.High, x.Tx = experiment.Improved, 0.03, 0.02, 0.04, p.kept
		}
		must(t, p.store.SaveStep(x))
	}
	s.built.forget()
	b.Open(web.url + "/")
	b.Until(`!document.getElementById("trying").hidden`)
	b.Check("many")
	if screens := webtest.Eval[float64](b.Tab, `(document.getElementById("h-binds").getBoundingClientRect().top + scrollY) / innerHeight`); screens > 15 {
		t.Errorf("on a phone the bottleneck comes after %.1f screens", screens)
	}
	if n := webtest.Eval[int](b.Tab, `document.querySelectorAll("#put-back details.item").length`); n < 150 {
		t.Errorf("%d steps are folded", n)
	}
	b.Run(`location.hash = "#step-100"`)
	b.Until(`document.getElementById("step-100").getBoundingClientRect().height > 0 && document.getElementById("put-back").open`)
	if said := b.Said(); said != "" {
		t.Error(said)
	}
}

// readable: on the phone, which Check leaves the page in, the tables show all of
// their columns.
func (b tab) readable(tables string) {
	b.t.Helper()
	cut := webtest.Eval[[]string](b.Tab, fmt.Sprintf("[...document.querySelectorAll(%q)].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label') + ': ' + (e.scrollWidth - e.clientWidth))", tables))
	for _, table := range cut {
		b.t.Errorf("pixels wider than a phone: %s", table)
	}
}

// TestBrowserLive: the session's page follows the session, works by keyboard,
// shows pprof's pages and puts a change back.
func TestBrowserLive(t *testing.T) {
	await.SkipShort(t)
	p, s, web, b := serveTab(t)
	b.follows(web, s, p)
	b.keys(web)
	b.picks(web, p)
	b.pprof(web, p)
	b.explains(web, p)
	b.puts(web, p)
}

// follows: events and new steps arrive without loading the page again.
func (b tab) follows(web *browser, s *Server, p *sample) {
	b.t.Helper()
	b.As(webtest.Looks[0])
	b.Open(web.url + "/")
	b.Until(`!document.getElementById("trying").hidden`)
	b.Run("window.same = true")
	l := during(p.session, 3)
	l.Doing = "and now this"
	s.Publish(l)
	b.Until(`document.getElementById("doing").textContent === "and now this" && document.querySelector("#said li.bad")`)
	steps, err := p.store.Steps(p.session)
	must(b.t, err)
	more := steps[0]
	more.ID, more.Seq, more.Plan.Title = 0, 7, "A step that came meanwhile"
	verdict, ended := more.Verdict, more.Ended
	more.Verdict, more.Ended, more.Kept = experiment.Verdict{}, time.Time{}, false
	seventh := `document.getElementById("step-7")?.querySelector("summary").textContent`
	b.stores(s, p.store.SaveStep(&more))
	l.Steps, l.Trying = 7, nil
	s.Publish(l)
	b.Until(seventh + `.includes("A step that came meanwhile") && document.getElementById("trying").hidden`)
	if text := webtest.Eval[string](b.Tab, seventh); !strings.Contains(text, "under way") {
		b.t.Errorf("step 7: %s", text)
	}
	more.Verdict, more.Ended, more.Kept = verdict, ended, true
	b.stores(s, p.store.SaveStep(&more))
	l.Judged++
	s.Publish(l)
	b.Until(seventh + `.includes("kept") && document.getElementById("timeline").textContent.includes("A step that came meanwhile")`)
	l.Trying = &tune.Trying{Seq: 8, Title: "One that another process tries"} // of which the store holds no run
	s.Publish(l)
	b.Until(`document.getElementById("try-title").textContent.startsWith("8.")`)
	if text := webtest.Eval[string](b.Tab, `document.getElementById("trying").innerText`); strings.Contains(text, "pair") || strings.Contains(text, "effect") {
		b.t.Errorf("it tells of a step what it cannot know: %s", text)
	}
	l.Trying, l.Last = nil, &tune.LastRun{ID: 77, RequestsPerSecond: 1234, P50: time.Millisecond, P99: time.Second, CPU: map[string]float64{"db1": 0.625}}
	l.Load = nil
	s.Publish(l)
	b.Until(`document.getElementById("rate").textContent.includes("1.23") && document.getElementById("rate-more").textContent.includes("run 77") && document.getElementById("cpu-db1").textContent.includes("62")`)
	session, err := p.store.Session(p.session)
	must(b.t, err)
	session.State, session.Final, session.FinalWorkload = "done", 3456, 8
	b.stores(s, p.store.SaveSession(session))
	l.Ended = true
	s.Publish(l)
	b.Until(`document.querySelector("dl.facts").textContent.includes("3,456") && document.getElementById("doing").textContent === "The session has ended"`)
	if !webtest.Eval[bool](b.Tab, "window.same === true") {
		b.t.Error("the page was loaded again")
	}
	if said := b.Said(); said != "" {
		b.t.Errorf("live: %s", said)
	}
}

// stores what err tells of; the same connection wrote, which its mark does not show.
func (b tab) stores(s *Server, err error) {
	b.t.Helper()
	must(b.t, err)
	s.built.forget()
}

// keys: everything is reached and used without a pointer: rows of the timeline
// tell why on focus and lead to the step; the theme switch works; the first
// stop of a page leads past its head.
func (b tab) keys(web *browser) {
	b.t.Helper()
	b.Point(`#timeline svg.wide a + a .label`)
	b.Until(`document.getElementById("why").textContent.includes("worker_connections")`)
	b.Do(chromedp.Focus(`#timeline svg.wide a`, chromedp.ByQuery))
	b.Until(`document.getElementById("why").textContent.includes("Index orders")`)
	b.Enter()
	b.Until(`document.getElementById("step-1").open && document.activeElement.closest("details").id === "step-1"`)
	b.Do(chromedp.Click("#theme"), chromedp.Click("#theme"))
	b.Until(`document.documentElement.dataset.theme === "dark" && getComputedStyle(document.body).backgroundColor === "rgb(19, 20, 23)"`)
	b.Open(web.url + "/runs")
	b.Until(`document.documentElement.dataset.theme === "dark"`)
	b.Run(`localStorage.clear()`)
	b.Next()
	b.Until(`document.activeElement.classList.contains("skip") && document.activeElement.getBoundingClientRect().left >= 0`)
	b.Enter()
	b.Next() // the first of the kinds
	b.Until(`document.activeElement.closest("main")`)
	b.chooses()
}

// chooses two runs by the keyboard alone and compares them.
func (b tab) chooses() {
	b.t.Helper()
	chosen := `document.querySelectorAll("input[name=run]:checked").length`
	for stop, boxes := 0, 0; boxes < 2; stop++ {
		if stop > 40 {
			b.t.Fatal("the boxes are not reached by the Tab key")
		}
		b.Next()
		if webtest.Eval[bool](b.Tab, `document.activeElement.name === "run"`) {
			b.Key(" ", "Space", " ", 32)
			boxes++
			b.Until(fmt.Sprintf("%s === %d", chosen, boxes))
		}
	}
	b.Until(`!document.querySelector("form[action='/compare'] button").disabled && document.querySelectorAll("input[name=run]")[2].disabled`)
	b.Run(`document.querySelectorAll("input[name=run]:checked").forEach((e) => e.click()); const all = [...document.querySelectorAll("input[name=run]")]; all.at(-1).click(); all.at(-2).click(); document.querySelector("form[action='/compare'] button").focus()`)
	b.Enter()
	b.Until(`location.pathname === "/compare" && document.querySelector("h1").textContent.startsWith("Run ") && document.body.textContent.includes("GET /orders")`)
	b.Run("history.back()")
	b.Until(`location.pathname === "/runs"`)
	b.Run(`document.querySelectorAll("input[name=run]:checked").forEach((e) => e.click()); document.querySelector("input[name=run]").click()`)
	b.Until(`document.querySelector(".pages a").href.includes("with=" + document.querySelector("input[name=run]").value)`)
	if said := b.Said(); said != "" {
		b.t.Errorf("by keyboard: %s", said)
	}
}

// picks the run before by the keyboard on a run's page.
func (b tab) picks(web *browser, p *sample) {
	b.t.Helper()
	b.Open(fmt.Sprintf("%s/runs/%d", web.url, p.after))
	b.Do(chromedp.Focus("#with"))
	b.Enter()
	b.Until(fmt.Sprintf(`location.pathname === "/compare" && document.querySelector("h1").textContent === "Run %d and run %d"`, p.before, p.after))
	b.Open(fmt.Sprintf("%s/runs?kind=diagnostic&with=%d", web.url, p.after))
	b.Until(`document.querySelector("form .do button").disabled`)
	b.Run(`document.querySelector("input[type=checkbox]").click()`)
	b.Do(chromedp.Click("form .do button"))
	b.Until(`location.pathname === "/compare" && document.querySelector("h1").textContent.startsWith("Run ")`)
}

// explains: a statement leads to how the database runs it.
func (b tab) explains(web *browser, p *sample) {
	b.t.Helper()
	b.Open(fmt.Sprintf("%s/runs/%d", web.url, p.after))
	b.Do(chromedp.Focus(`#statements ~ .scroll a[href^="#plan-"]`, chromedp.ByQuery))
	b.Enter()
	b.Until(`document.querySelector("details[id^=plan-]").open && document.querySelector("details[id^=plan-]").textContent.includes("access_type")`)
}

// pprof's own flame graph draws under its policy.
func (b tab) pprof(web *browser, p *sample) {
	b.t.Helper()
	b.Open(fmt.Sprintf("%s/runs/%d/profiles/profile-php-excimer.pb.gz/flamegraph", web.url, p.after))
	b.Until(`document.querySelectorAll(".boxtext").length >= 3 && document.body.textContent.includes("Template::render")`)
	b.Shot("pprof-light")
	// The sandbox is there against windows and forms only, which that says.
	if said := b.Said(); said != "" && (strings.Contains(said, "\n") || !strings.Contains(said, "can escape its sandboxing")) {
		b.t.Errorf("pprof: %s", said)
	}
}

// puts a change back by its button.
func (b tab) puts(web *browser, p *sample) {
	b.t.Helper()
	b.Open(fmt.Sprintf("%s/journal/%d", web.url, p.kept))
	b.Do(chromedp.Click("button.danger"))
	b.Until(`document.querySelector(".kicker")?.textContent.includes("undone")`)
	text, err := os.ReadFile(p.file)
	must(b.t, err)
	if strings.Contains(string(text), "4096") {
		b.t.Errorf("the file is not back: %s", text)
	}
}

// forget what was built.
func (c *sessionCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view = nil
}
