package wiki_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/diagnose"
	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
)

// frontVCL keeps what the application says it may, as Varnish does by itself.
const frontVCL = `vcl 4.1;

# the wiki's Apache
backend web {
    .host = "127.0.0.1";
    .port = "%PORT%";
}
`

const startFront = `#!/bin/sh
exec /usr/sbin/varnishd -n %DIR%/v -a %FRONT% -f %DIR%/front.vcl -s malloc,64m -P %DIR%/varnish.pid
`

const frontService = `
  - name: front
    kind: varnish
    binary: /usr/sbin/varnishd
    config: %DIR%/front.vcl
    listen: ["%FRONT%"]
    talks_to: [web]
    control: {method: process, pid_file: %DIR%/varnish.pid, start: [sh, %DIR%/start-varnish]}
load:
`

const frontSteps = `version: 1
name: behind Varnish
workload: 1
warmup: 100ms
duration: 2s
timeout: 20s
%MASK%
sessions:
  - name: reader
    steps:
      - {name: main page, request: GET /wiki/メインページ, expect: {contains: ["id=\"mw-content-text\"", '"wgUserName":null']}}
      - {name: history, request: "GET /index.php?title=日本の年表&action=history", expect: {contains: ["mw-contributions-list"]}}
      - {name: by its title, request: "GET /index.php?title=日本の年表", expect: {contains: ["id=\"mw-content-text\""]}}
`

// behind is the wiki behind a Varnish.
type behind struct {
	*bench
	front string // the Varnish's address
	bed   *bed.Bed
	// witness makes the writes of checks.yaml, each with another text.
	witness *load.Witness
}

// TestCdn: a Varnish in front of the wiki passes every page on; with the
// application's own settings it keeps them until an edit purges them, and gives
// nobody another's page. A PURGE that does not arrive is found out. Undo leaves
// no page behind that nobody would purge.
func TestCdn(t *testing.T) {
	if testing.Short() {
		t.Skip("a real wiki")
	}
	t.Setenv("KASOKU_WIKI_SIZE", "small")
	t.Setenv("KASOKU_WIKI_OPCACHE", "1") // what a page costs is not the subject
	x := startBehind(t)
	settings, vcl := filepath.Join(x.dir, "wiki", "LocalSettings.php"), filepath.Join(x.dir, "front.vcl")
	before := []string{x.file(t, settings), x.file(t, vcl)}
	made := x.made(t)
	x.get("/wiki/メインページ")
	x.get("/wiki/メインページ")
	if n := x.made(t) - made; n != 2 {
		t.Fatalf("as found, 2 requests for a page were made %d times", n)
	}

	reg := bed.Relaxed()
	reg.Staleness = 5 * time.Minute
	in := x.seen(t, reg)
	if !slices.ContainsFunc(in.Diagnosis.Findings, func(f diagnose.Finding) bool {
		return f.Rule == "app.page-cache" && strings.Contains(f.Text, "$wgUseCdn")
	}) {
		t.Error("no finding names $wgUseCdn")
	}
	x.refused(t, in)
	editor := x.login(t, 1)
	const kept = "東京の歴史"
	x.bed.ShowFrom(t, remedy.PlanAll(in), func(t *testing.T, p remedy.Plan) {
		x := x.in(t)
		x.hits(t)
		x.strangers(t, editor)
		x.compare(t, p)
		if r := x.stale(t, 2); r.Outcome != prove.Held {
			t.Errorf("after an edit: %s %s %+v", r.Outcome, r.Text, r.Problems)
		}
		x.sabotage(t, settings, "'"+x.front+"'", "'127.0.0.1:1'", func() {})
		x.sabotage(t, vcl, `"127.0.0.1";`+"\n}\n# kasoku:end", `"127.0.0.9";`+"\n}\n# kasoku:end", func() { x.loadVCL(t, vcl) })
		x.get("/wiki/" + kept)
		made := x.made(t)
		if x.get("/wiki/" + kept); x.made(t) != made {
			t.Error("the page is not kept before undo, which then proves nothing")
		}
	}, "mediawiki.cdn")

	if after := []string{x.file(t, settings), x.file(t, vcl)}; !slices.Equal(after, before) {
		t.Errorf("files are not as before:\n%s", strings.Join(after, "\n"))
	}
	editor.edit(t, kept, "Written after undo.")
	if !strings.Contains(x.get("/wiki/"+kept), "Written after undo.") {
		t.Error("a page of before undo is still given after an edit")
	}
	if r := x.stale(t, 1); r.Outcome != prove.Held {
		t.Errorf("after undo: %s %s %+v", r.Outcome, r.Text, r.Problems)
	}
}

// startBehind brings the wiki up behind a Varnish that kasoku.yaml names.
func startBehind(t *testing.T) *behind {
	t.Helper()
	x := &behind{front: "127.0.0.1:" + strconv.Itoa(bed.FreePort(t))}
	x.bench = up(t, "--address", x.front)
	web := x.stack.Service("web").Listen[0]
	fill := strings.NewReplacer("%PORT%", web[strings.LastIndex(web, ":")+1:], "%FRONT%", x.front, "%DIR%", x.dir)
	bed.Write(t, x.dir, "front.vcl", fill.Replace(frontVCL))
	bed.Write(t, x.dir, "start-varnish", fill.Replace(startFront))
	text := strings.Replace(x.file(t, filepath.Join(x.dir, "kasoku.yaml")), "\nload:\n", fill.Replace(frontService), 1)
	text = strings.Replace(text, x.dir+"/scenario.yaml", x.dir+"/front.yaml", 1) + "evidence: {profile: \"off\"}\n"
	bed.Write(t, x.dir, "kasoku.yaml", text)
	_, mask, _ := strings.Cut(x.file(t, filepath.Join(x.dir, "scenario.yaml")), "\nmask:")
	mask, _, _ = strings.Cut(mask, "\npools:")
	bed.Write(t, x.dir, "front.yaml", strings.ReplaceAll(frontSteps, "%MASK%", "mask:"+mask))
	bed.StopByPIDFile(t, filepath.Join(x.dir, "varnish.pid"))
	bed.Output(t, "sh", filepath.Join(x.dir, "start-varnish"))
	bed.Await(t, x.front)
	x.bed = bed.Open(t, x.dir)
	x.bed.Bench.Window = 2 * time.Second
	checks, err := load.LoadScenario(x.stack.Checks.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	if x.witness, err = load.NewWitness(load.Options{Scenario: checks, URL: x.stack.Load.URL}); err != nil {
		t.Fatal(err)
	}
	return x
}

// in is the same for a test within.
func (x *behind) in(t *testing.T) *behind {
	b := *x.bench
	b.t = t
	return &behind{bench: &b, front: x.front, bed: x.bed, witness: x.witness}
}

// seen looks until each page has had an answer: one may take a second and more
// on a busy machine, and what no run shows is not compared later.
func (x *behind) seen(t *testing.T, reg regulation.Regulation) remedy.Input {
	t.Helper()
	for {
		in := x.bed.Look(t, reg)
		pages := 0
		for _, p := range in.Evidence.Load.Pages {
			if p.Count > 0 {
				pages++
			}
		}
		if pages >= strings.Count(frontSteps, "{name: ") {
			return in
		}
		if x.bed.Bench.Window *= 2; x.bed.Bench.Window > 20*time.Second {
			t.Fatalf("only %d pages were answered: %+v", pages, in.Evidence.Load.Pages)
		}
	}
}

// refused: without the permission or the trade it is not planned.
func (x *behind) refused(t *testing.T, in remedy.Input) {
	t.Helper()
	for _, says := range []string{"application_settings", "staleness"} {
		strict := *in.Stack
		if says == "staleness" {
			strict.Regulation.Allow = nil
		} else {
			strict.Regulation.ApplicationSettings = false
		}
		forbidden := in
		forbidden.Stack = &strict
		if !slices.ContainsFunc(remedy.PlanAll(forbidden).Refusals, func(r remedy.Refusal) bool {
			return r.Plan.Remedy == "mediawiki.cdn" && strings.Contains(r.Why, says)
		}) {
			t.Errorf("it would be applied although the regulation does not permit it (%s)", says)
		}
	}
}

// hits: what is purged comes from Varnish, nothing else does.
func (x *behind) hits(t *testing.T) {
	t.Helper()
	page := "/wiki/" + url.PathEscape("日本の年表")
	for path, kept := range map[string]bool{
		page: true,
		"/index.php?title=" + url.QueryEscape("日本の年表") + "&action=history": true,
		"/index.php?title=" + url.QueryEscape("日本の年表"):                     false,
		strings.ToLower(page):    false, // another spelling, which no PURGE finds
		page + "?action=history": false,
		"/index.php?title=" + url.QueryEscape("日本の年表") + "&action=history&limit=10":           false,
		"/index.php/" + url.PathEscape("日本の年表"):                                               false,
		"/wiki/" + url.PathEscape("特別:最近の更新"):                                                 false,
		"/index.php?curid=" + x.sql("SELECT MAX(page_id) FROM page WHERE page_namespace = 0"): false,
	} {
		x.get(path)
		made := x.made(t)
		for range 3 {
			x.get(path)
		}
		if n := x.made(t) - made; kept && n != 0 || !kept && n != 3 {
			t.Errorf("%s: 3 requests were made %d times", path, n)
		}
	}
	made := x.made(t)
	for _, header := range []string{"Cookie: wikimwuser-sessionId=0; _ga=1.2", "Cookie: wiki_session=0", "Cookie: UseCDNCache=false", "Cookie: unheard=1", "Authorization: Kasoku x", "Host: kasoku.invalid"} {
		x.ask(t, http.DefaultClient, http.MethodGet, page, header)
	}
	if n := x.made(t) - made; n != 5 {
		t.Errorf("of 6 requests the 5 that tell something were made %d times", n)
	}
	_, head := x.ask(t, http.DefaultClient, http.MethodGet, page)
	if head.Get("Cache-Control") != "s-maxage=0, must-revalidate, max-age=0" {
		t.Errorf("caches behind Varnish are told %q", head.Get("Cache-Control"))
	}
}

// strangers: a user's page goes to nobody else, PURGE is the wiki's alone, and
// who edits without a login is told by his own address.
func (x *behind) strangers(t *testing.T, editor *user) {
	t.Helper()
	const page = "/wiki/メインページ"
	if code, _ := x.ask(t, http.DefaultClient, "PURGE", page); code != http.StatusOK {
		t.Errorf("the wiki's host sends PURGE: status %d", code)
	}
	for _, empty := range []bool{true, false} {
		if own := editor.get(t, page); !strings.Contains(own, `"wgUserName":"`+editor.name+`"`) {
			t.Errorf("a user's own page is not (empty cache %v)", empty)
		}
		if others := x.get(page); !strings.Contains(others, `"wgUserName":null`) {
			t.Errorf("a stranger got a user's page (empty cache %v)", empty)
		}
	}
	elsewhere := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}
	if code, _ := x.ask(t, elsewhere, "PURGE", page); code != http.StatusMethodNotAllowed {
		t.Errorf("another host sends PURGE: status %d", code)
	}
	made := x.made(t)
	if x.get(page); x.made(t) != made {
		t.Error("another host's PURGE took a page out")
	}
	stranger := &user{bench: x.bench, client: http.DefaultClient}
	if info := stranger.get(t, "/api.php?action=query&meta=userinfo&format=json", "X-Forwarded-For: 203.0.113.7"); !strings.Contains(info, "203.0.113.7") {
		t.Errorf("the wiki takes a stranger for %s", info)
	}
}

// compare: what the loop compares before such a plan is kept.
func (x *behind) compare(t *testing.T, p remedy.Plan) {
	t.Helper()
	if p.Fresh == nil || len(p.Fresh.URLs) != 2 {
		t.Fatalf("compared are %+v", p.Fresh)
	}
	report, err := load.CheckFresh(t.Context(), load.Options{Scenario: x.bed.Bench.Scenario, URL: x.stack.Load.URL}, load.FreshCheck{URLs: p.Fresh.URLs, MaxAge: p.Fresh.MaxAge, For: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
	if len(report.Wrong) > 0 || report.Compared < 6 || report.Unknown > 0 {
		t.Errorf("%+v", report)
	}
}

// stale makes writes through the wiki and asks all readers after each, who must
// see it at once.
func (x *behind) stale(t *testing.T, writes int) prove.Result {
	t.Helper()
	r, err := prove.Stale(t.Context(), x.witness, prove.StaleOptions{Writes: writes, Settle: 200 * time.Millisecond, Past: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s %+v", r.Outcome, r.Text, r.Problems)
	return r
}

// sabotage writes something else into a file in force, and expects that the
// check sees old pages. Then the file and the pages are as they were.
func (x *behind) sabotage(t *testing.T, file, right, wrong string, activate func()) {
	t.Helper()
	was := x.file(t, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	// An older time: PHP sees another file, MediaWiki none that makes its pages old.
	put := func(text string, modified time.Time) {
		if err := os.WriteFile(file, []byte(text), info.Mode()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, modified); err != nil {
			t.Fatal(err)
		}
		activate()
	}
	if strings.Count(was, right) != 1 {
		t.Fatalf("%s: %q is not there once:\n%s", file, right, was)
	}
	put(strings.Replace(was, right, wrong, 1), info.ModTime().Add(-time.Second))
	r := x.stale(t, 1)
	put(was, info.ModTime())
	bed.Output(t, "varnishadm", "-n", x.dir+"/v", "ban", "req.url", "~", ".")
	if r.Outcome != prove.Failed {
		t.Errorf("with %s in %s no old page is seen: %s %s", wrong, filepath.Base(file), r.Outcome, r.Text)
	}
}

// loadVCL lets Varnish run with the file as it is now.
func (x *behind) loadVCL(t *testing.T, file string) {
	t.Helper()
	name := fmt.Sprintf("v%d", time.Now().UnixNano())
	bed.Output(t, "varnishadm", "-n", x.dir+"/v", "vcl.load", name, file)
	bed.Output(t, "varnishadm", "-n", x.dir+"/v", "vcl.use", name)
}

// made is how many requests Varnish has handed on to Apache. It counts each before
// it sends it; Apache logs one after its end, nobody knows how long after.
func (x *behind) made(t *testing.T) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(bed.Output(t, "varnishstat", "-n", x.dir+"/v", "-1", "-f", "VBE.*.req")) {
		var name string
		var count int
		if _, err := fmt.Sscan(line, &name, &count); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		n += count
	}
	return n
}

// ask sends one request with headers "Name: value".
func (x *behind) ask(t *testing.T, client *http.Client, method, path string, headers ...string) (status int, head http.Header) {
	t.Helper()
	u := &user{bench: x.bench, client: client}
	res, _ := u.send(t, method, path, nil, headers...)
	return res.StatusCode, res.Header
}

// user is somebody who asks the wiki.
type user struct {
	*bench
	name   string
	client *http.Client
}

// login is an editor who has logged in.
func (x *behind) login(t *testing.T, n int) *user {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	u := &user{bench: x.bench, name: fmt.Sprintf("編集者%d", n), client: &http.Client{Jar: jar}}
	u.api(t, url.Values{"action": {"login"}, "lgname": {u.name}, "lgpassword": {fmt.Sprintf("henshuu-no-aikotoba-%d", n)}, "lgtoken": {u.token(t, "login")}}, `"result":"Success"`)
	return u
}

// edit puts a line at the end of a page.
func (u *user) edit(t *testing.T, title, line string) {
	t.Helper()
	u.api(t, url.Values{"action": {"edit"}, "title": {title}, "appendtext": {"\n\n" + line}, "token": {u.token(t, "csrf")}}, `"result":"Success"`)
}

func (u *user) token(t *testing.T, kind string) string {
	t.Helper()
	var got struct {
		Query struct{ Tokens map[string]string }
	}
	text := u.get(t, "/api.php?action=query&meta=tokens&format=json&type="+kind)
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Query.Tokens[kind+"token"] == "" {
		t.Fatalf("no token %s: %v, %s", kind, err, text)
	}
	return got.Query.Tokens[kind+"token"]
}

func (u *user) api(t *testing.T, form url.Values, want string) {
	t.Helper()
	form.Set("format", "json")
	if _, text := u.send(t, http.MethodPost, "/api.php", strings.NewReader(form.Encode()), "Content-Type: application/x-www-form-urlencoded"); !strings.Contains(text, want) {
		t.Fatalf("%s: %s", form.Get("action"), text)
	}
}

func (u *user) get(t *testing.T, path string, headers ...string) string {
	t.Helper()
	_, text := u.send(t, http.MethodGet, path, nil, headers...)
	return text
}

func (u *user) send(t *testing.T, method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, u.stack.Load.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := u.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}
