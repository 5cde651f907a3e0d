package main

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/ui"
	"kasoku/internal/ui/webtest"
)

// watched is a kasoku that shows what it does in a browser.
type watched struct {
	c     *theCase
	cmd   *exec.Cmd
	at    string // address, ends with "/"
	login string // address with the token, if it was told
	said  *strings.Builder
	ended <-chan struct{} // nothing more is said
}

// watch starts kasoku and returns when it says where to look.
func (c *theCase) watch(args ...string) *watched { return c.watchEnv(nil, args...) }

func (c *theCase) watchEnv(env []string, args ...string) *watched {
	c.t.Helper()
	cmd := exec.Command(c.kasoku, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), env...)
	r, w, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	w.Close()
	ended := make(chan struct{})
	x := &watched{c: c, cmd: cmd, said: &strings.Builder{}, ended: ended}
	c.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
		r.Close()
	})
	lines := bufio.NewScanner(r)
	var said []string
	for x.at == "" && lines.Scan() {
		said = append(said, lines.Text())
		x.at, _ = strings.CutPrefix(lines.Text(), "dashboard: ")
		if x.at == lines.Text() {
			x.at = ""
		}
	}
	if x.at == "" {
		c.t.Fatalf("kasoku %v did not say where to look:\n%s", args, strings.Join(said, "\n"))
	}
	if args[0] == "serve" && lines.Scan() {
		_, x.login, _ = strings.Cut(lines.Text(), ": ")
	}
	x.said.WriteString(strings.Join(said, "\n"))
	go func() {
		defer close(ended)
		for lines.Scan() {
			x.said.WriteString(lines.Text() + "\n")
		}
	}()
	return x
}

// interrupt ends it as Ctrl-C does and returns its exit code; then said is all that
// it said.
func (x *watched) interrupt() int {
	x.c.t.Helper()
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		x.c.t.Fatal(err)
	}
	x.cmd.Wait()
	<-x.ended
	return x.cmd.ProcessState.ExitCode()
}

// reLink is a link to another page of the dashboard.
var reLink = regexp.MustCompile(`href="(/[^"#]*)`)

// browse loads every page that the dashboard's links lead to, and returns
// where and what each is, in turn.
func (c *theCase) browse() (said []string) {
	c.t.Helper()
	x := c.watch("serve", "--listen", "127.0.0.1:0")
	seen := map[string]bool{}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		path := html.UnescapeString(queue[0])
		if seen[path] {
			continue
		}
		seen[path] = true
		res, err := http.Get(strings.TrimSuffix(x.at, "/") + path)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode >= 500 {
			c.t.Errorf("%s: %s %v", path, res.Status, err)
		}
		said = append(said, "page "+path, string(gunzipped(text)))
		for _, m := range reLink.FindAllStringSubmatch(string(text), -1) {
			queue = append(queue, m[1])
		}
	}
	if len(seen) < 20 {
		c.t.Errorf("only %d pages were found", len(seen))
	}
	x.interrupt()
	return said
}

// looksOn looks at a session of TestWholeStory in a real browser while it tunes: what
// is tried, throughput, effect and steps that end move without the page being loaded
// again, and so does the session's end; every view is reached by its links; no page
// has a word on the console or an obstacle for anybody. Ctrl-C ends it, and there is
// its report. Without a browser it is skipped, and false.
func (c *theCase) looksOn(s *spy) (seen bool) {
	c.t.Run("in a browser", func(t *testing.T) {
		own := *c
		own.t = t
		b := webtest.New(t)
		x := own.watchEnv(s.env(), "tune", "--budget", "8m", "-d", "1s", "--quiet", "--web=127.0.0.1:0")
		l := &liveTab{b, &own, x.at}
		l.moves()
		l.views()
		// Ctrl-C puts back what is tried just then; the session can be taken up again.
		if code := x.interrupt(); code != ui.Interrupted {
			t.Errorf("it ended with %d", code)
		}
		s.heard("the session that is watched", "", x.said.String())
		b.Until(`document.querySelector("#head .kicker").textContent.includes("interrupted") && !document.getElementById("lost").hidden`)
		b.Said() // a connection was lost
		l.report()
		own.want(ui.OK, "verify")
		if out, _ := own.want(ui.OK, "history", "--json"); !strings.Contains(out, `"interrupted"`) {
			t.Errorf("history does not tell that it was interrupted:\n%s", out)
		}
		seen = true
	})
	return seen
}

// putsBack puts back what was kept by the dashboard's button, in a browser.
func (c *theCase) putsBack() {
	c.t.Run("put back in a browser", func(t *testing.T) {
		own := *c
		own.t = t
		l := &liveTab{webtest.New(t), &own, ""}
		l.putsBack()
	})
}

type liveTab struct {
	*webtest.Tab
	c  *theCase
	at string
}

// settled: nothing was said on the console.
func (l *liveTab) settled(view string) {
	l.c.t.Helper()
	if said := l.Said(); said != "" {
		l.c.t.Errorf("%s: %s", view, said)
	}
}

// moves: the page follows the session by itself.
func (l *liveTab) moves() {
	l.c.t.Helper()
	const long = 5 * time.Minute // where others have the CPU; a few seconds otherwise
	l.As(webtest.Looks[0])
	l.Open(l.at)
	l.UntilWithin(long, `document.getElementById("refresh").dataset.session !== "0" && !document.getElementById("live").hidden`)
	l.Run(`window.same = true; window.rates = new Set(); new MutationObserver(() => window.rates.add(document.getElementById("rate-now").textContent)).observe(document.getElementById("rate-now"), {childList: true, characterData: true, subtree: true})`)
	l.UntilWithin(long, `window.rates.size >= 3 && document.querySelector("#rate polyline").getAttribute("points").split(" ").length >= 3 && document.querySelector("#gauges figure:nth-child(2) strong").textContent.includes("%")`)
	l.UntilWithin(long, `!document.getElementById("trying").hidden && document.getElementById("try-pairs").textContent.includes("of at most 3 pairs")`)
	l.UntilWithin(long, `document.getElementById("try-effect").textContent.match(/[%×]/) && document.querySelector("#try-interval circle")`)
	l.UntilWithin(long, `[...document.querySelectorAll("#refresh summary .tag")].some((e) => e.textContent === "kept") && document.querySelector("#timeline svg.wide a")`)
	// What single requests do is looked at after that; then work says where it is. That of a
	// driver's setting comes before, and names no place.
	l.UntilWithin(long, `document.getElementById("h-work") && [...document.querySelectorAll("details.work")].some((e) => e.textContent.includes("Where"))`)
	for part, selector := range map[string]string{"timeline, as found and a step": "#timeline svg.wide > a, #timeline svg.wide > g", "parts of the bars of where time goes": ".stack svg.bar rect",
		"resources": "table.resources tbody tr", "charts of a host": ".gauge .plot polyline[points]"} {
		if n := webtest.Eval[int](l.Tab, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); n < 2 {
			l.c.t.Errorf("%d of %s", n, part)
		}
	}
	if !webtest.Eval[bool](l.Tab, "window.same === true") {
		l.c.t.Error("the page was loaded again while the session went on")
	}
	l.Check("live-session")
	l.settled("session")
}

// views opens every other view by its link. internal/web looks at each in all looks, with what a
// test stored: here each has the next look, with what a session stored.
func (l *liveTab) views() {
	l.c.t.Helper()
	n := 0
	check := func(name string) {
		l.c.t.Helper()
		l.CheckAs(webtest.Looks[n%len(webtest.Looks)], "live-"+name)
		l.settled(name)
		n++
	}
	link := func(name, from, selector string) {
		l.c.t.Helper()
		l.As(webtest.Looks[0])
		if from != "" {
			l.Open(l.at + from)
		}
		href := webtest.Eval[string](l.Tab, fmt.Sprintf(`document.querySelector(%q)?.href || ""`, selector))
		if href == "" {
			l.c.t.Errorf("%s: no link %s on /%s", name, selector, from)
			return
		}
		l.Open(href)
		check(name)
	}
	link("sessions", "", `nav a[href="/sessions"]`)
	link("runs", "", `nav a[href="/runs"]`)
	link("run", "runs?kind=diagnostic", `td a[href^="/runs/"]`)
	for _, part := range []string{"binds", "statements", "routes", "plans", "explains", "health"} {
		if !webtest.Eval[bool](l.Tab, fmt.Sprintf(`document.getElementById(%q) !== null`, part)) {
			l.c.t.Errorf("a diagnostic run has no part %q", part)
		}
	}
	if !strings.Contains(webtest.Eval[string](l.Tab, `document.querySelector("#explains ~ details pre:last-of-type")?.textContent || ""`), "query_block") {
		l.c.t.Error("no EXPLAIN stands beside the statements")
	}
	link("scored-run", "runs?kind=scored", `td a[href^="/runs/"]`)
	l.Open(l.at + "runs?kind=scored")
	l.Run(`[...document.querySelectorAll("input[name=run]")].slice(0, 2).forEach((e) => e.click())`)
	l.Run(`document.querySelector("form[action='/compare'] button").click()`)
	l.Until(`location.pathname === "/compare" && document.readyState === "complete"`)
	check("compare")
	link("journal", "", `nav a[href="/journal"]`)
	link("entry", "journal", `td a[href^="/journal/"]`)
	l.Open(l.at)
	l.Until(`!document.getElementById("live").hidden`) // who does not follow yet is not waited for
}

// report of the session that was cut short, as a file without a network.
func (l *liveTab) report() {
	l.c.t.Helper()
	l.c.want(ui.OK, "report", "-o", "live.html")
	l.c.want(ui.OK, "report", "-o", "live.json")
	path := filepath.Join(l.c.dir, "live.html")
	m := sameAsStore(l.c.t, filepath.Join(l.c.dir, ".kasoku"), filepath.Join(l.c.dir, "live.json"), path)
	l.Report("live-report", path, map[string]string{"as-found": ui.Count(m.Session.AsFound) + " points/s", "runs": fmt.Sprint(m.Runs.Total), "max-pairs": fmt.Sprint(m.Rule.MaxPairs)})
}

// putsBack what was kept by the dashboard's button, after a login.
func (l *liveTab) putsBack() {
	l.c.t.Helper()
	x := l.c.watch("serve", "--listen", "127.0.0.1:0")
	if x.login == "" {
		l.c.t.Fatal("serve told no address with a token")
	}
	l.As(webtest.Looks[0])
	l.Open(x.login)
	l.Until(`document.body && document.body.textContent.includes("logged in")`)
	l.Open(x.at + "journal")
	entry := webtest.Eval[string](l.Tab, `document.querySelector("a.button")?.href || ""`)
	if entry == "" {
		l.c.t.Fatal("nothing can be put back, although a step was kept")
	}
	l.Open(entry)
	l.Check("live-undo")
	l.Run(`document.querySelector("button.danger").click()`)
	l.UntilWithin(time.Minute, `document.querySelector(".kicker")?.textContent.includes("undone")`)
	l.settled("undo")
	if code := x.interrupt(); code != ui.OK && code != ui.Interrupted {
		l.c.t.Errorf("serve ended with %d", code)
	}
}

// triesWatched: a try tells its experiment in the same way.
func (c *theCase) triesWatched(s *spy) {
	c.t.Helper()
	x := c.watchEnv(s.env(), "try", "--set", "web.keepalive_timeout=31s", "-d", "500ms", "--quiet", "--web=127.0.0.1:0")
	ctx, stop := context.WithTimeout(c.t.Context(), time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.at+"events", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "keepalive_timeout") && strings.Contains(lines.Text(), `"trying"`) {
			if code := x.interrupt(); code != ui.Interrupted {
				c.t.Errorf("the try ended with %d", code)
			}
			return
		}
	}
	c.t.Errorf("no event told what is tried: %v", lines.Err())
}
