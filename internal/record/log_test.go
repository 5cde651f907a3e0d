package record

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

var begin = time.Date(2024, 5, 17, 10, 0, 0, 0, time.UTC)

// logLine is one of the combined format, at seconds after the begin.
func logLine(at int, client, request string, status int, referer string) string {
	if referer == "" {
		referer = "-"
	}
	return fmt.Sprintf("%s - - [%s] \"%s HTTP/1.1\" %d 100 \"%s\" \"test\"\n", client, begin.Add(time.Duration(at)*time.Second).Format("02/Jan/2006:15:04:05 -0700"), request, status, referer)
}

// written puts a draft into a folder and reads it with load.
func written(t *testing.T, d *Draft) (string, *load.Scenario) {
	t.Helper()
	dir := t.TempDir()
	files, err := d.Write(dir, false)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Scenario())
	}
	s, err := load.LoadScenario(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func draftOf(t *testing.T, log string, o LogOptions) *Draft {
	t.Helper()
	d, err := FromLog(strings.NewReader(log), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func want(t *testing.T, what string, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

func TestMixOfFewSequences(t *testing.T) {
	var log strings.Builder
	for i := range 30 {
		client := fmt.Sprintf("10.0.0.%d", i)
		at := i * 60
		log.WriteString(logLine(at, client, "GET /", 200, ""))
		log.WriteString(logLine(at, client, "GET /site.css?v=1", 200, "http://shop/"))
		log.WriteString(logLine(at+1, client, "GET /logo.png", 304, "http://shop/site.css?v=1"))
		for k := range 3 {
			log.WriteString(logLine(at+5+5*k, client, fmt.Sprintf("GET /items/%d?token=s3cret", (i+k)%7), 200, "http://shop/"))
		}
		if i%3 == 0 {
			log.WriteString(logLine(at+40, client, "GET /about", 304, ""))
			log.WriteString(logLine(at+41, client, "POST /cart", 302, ""))
		}
		log.WriteString(logLine(at+4000, client, "GET /", 500, "")) // a failure
	}
	log.WriteString("garbage\n")
	d := draftOf(t, log.String(), LogOptions{Think: true, Source: "access.log"})
	dir, _ := written(t, d)
	text := string(d.Scenario())
	want(t, "the scenario", text, "weight: 2", "- request: GET /\n", "- /site.css?v=1", "- /logo.png", "request: GET ${items-id.path}", "route: GET /items/:id",
		"repeat: 3", "think: 5s", "items-id: {file: pools/items-id.csv, order: random}", "- request: GET /about", "access.log")
	pool := string(d.Files[1].Data)
	want(t, "the pool", pool, "path\n", "/items/3?token=masked\n")
	if strings.Contains(text+pool, "s3cret") {
		t.Error("the secret is in a file")
	}
	all := strings.Join(append(append(d.Taken, d.LeftOut...), d.Notes...), "\n")
	want(t, "the report", all, "100.0 %", "10 requests: POST", "30 requests: the server failed", "1 lines could not be read", "masked", "cookies")
	if _, err := d.Write(dir, false); !errors.Is(err, ErrExists) {
		t.Errorf("overwriting: %v", err)
	}
	if _, err := d.Write(dir, true); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".draft*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSecretsKeptOnDemand(t *testing.T) {
	log := logLine(0, "a", "GET /a/1?token=x&b=1", 200, "") + logLine(1, "a", "GET /a/2?key=y", 200, "")
	d := draftOf(t, log, LogOptions{KeepSecrets: true})
	want(t, "the pool", string(d.Files[1].Data), "token=x", "key=y")
	want(t, "the notes", strings.Join(d.Notes, "\n"), "do not share")
}

func TestWritesOnDemand(t *testing.T) {
	d := draftOf(t, logLine(0, "a", "POST /cart", 302, ""), LogOptions{Writes: true})
	written(t, d)
	want(t, "the scenario", string(d.Scenario()), "# The body is not in the log", "request: POST /cart", "expect: {status: 302}")
}

// Sessions that are all different: the mix of requests must come out right.
func TestMixOfVariedSessions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pages := []string{"/", "/search?q=a", "/items/%d", "/items/%d/reviews", "/cart", "/help", "/blog/%d", "/login", "/account", "/news"}
	var log strings.Builder
	for i := range 3000 {
		page := 0
		for at := range 1 + rng.IntN(12) {
			path := pages[page]
			if strings.Contains(path, "%d") {
				path = fmt.Sprintf(path, rng.IntN(500))
			}
			log.WriteString(logLine(i*7+at*3, fmt.Sprintf("10.0.%d.%d", i/250, i%250), "GET "+path, 200, ""))
			if page = rng.IntN(len(pages)); rng.IntN(2) == 0 {
				page = 2
			}
		}
	}
	d := draftOf(t, log.String(), LogOptions{})
	written(t, d)
	if d.Coverage < wantedCoverage {
		t.Errorf("coverage %.2f", d.Coverage)
	}
	far := 0.0
	for _, s := range d.Routes {
		recorded := float64(s.Recorded) / float64(d.Requests)
		far = max(far, s.Drafted-recorded, recorded-s.Drafted)
	}
	if far > 0.05 {
		t.Errorf("a route's share is off by %.3f: %+v", far, d.Routes)
	}
	again := draftOf(t, log.String(), LogOptions{})
	if string(again.Scenario()) != string(d.Scenario()) {
		t.Error("the same log gives another scenario")
	}
}

func TestHostsAndProxies(t *testing.T) {
	log := "time:2024-05-17T10:00:00Z\tvhost:a\treq:GET /x HTTP/1.1\tstatus:200\tforwardedfor:1.1.1.1, 10.0.0.1\n" +
		"time:2024-05-17T10:00:01Z\tvhost:a\treq:GET /y HTTP/1.1\tstatus:200\tforwardedfor:2.2.2.2\n" +
		"time:2024-05-17T10:00:02Z\tvhost:b\treq:GET /z HTTP/1.1\tstatus:200\n"
	d := draftOf(t, log, LogOptions{})
	want(t, "left out", strings.Join(d.LeftOut, "\n"), `of the host "b"`)
	want(t, "taken", strings.Join(d.Taken, "\n"), "2 sessions were recorded")
	if d = draftOf(t, log, LogOptions{Host: "b"}); d.Requests != 1 {
		t.Errorf("%+v", d)
	}
	if _, err := FromLog(strings.NewReader(log), LogOptions{Host: "c"}); !errors.Is(err, ErrNothing) {
		t.Errorf("unknown host: %v", err)
	}
}

func TestNothingToTake(t *testing.T) {
	for _, log := range []string{"", logLine(0, "a", "GET /", 500, ""), logLine(0, "a", "POST /", 200, "")} {
		if _, err := FromLog(strings.NewReader(log), LogOptions{}); !errors.Is(err, ErrNothing) {
			t.Errorf("%q: %v", log, err)
		}
	}
}

func TestReplayFiles(t *testing.T) {
	log := logLine(0, "a", "GET /items/1", 200, "") + logLine(0, "b", "GET /a,b", 200, "") + logLine(2, "a", "GET /items/2", 404, "") + logLine(10, "a", "GET /items/2", 200, "")
	d := draftOf(t, log, LogOptions{Replay: true, Speed: 2})
	want(t, "the scenario", string(d.Scenario()), "arrivals: {recorded: replay.csv, speed: 2}", "duration: 5.52s", "warmup: 0s", "order: sequential", "status: [200, 404]", "whole seconds")
	files := map[string]string{}
	for _, f := range d.Files {
		files[f.Name] = string(f.Data)
	}
	if got := files["replay.csv"]; got != "at,session\n0,GET /items/:id\n0.5,\"GET /a,b\"\n2,GET /items/:id\n10,GET /items/:id\n" {
		t.Errorf("replay.csv: %q", got)
	}
	if got := files["pools/items-id.csv"]; got != "path\n/items/1\n/items/2\n/items/2\n" {
		t.Errorf("pool: %q", got)
	}
	if _, err := FromLog(strings.NewReader(log), LogOptions{Replay: true, Speed: -1}); err == nil {
		t.Error("a negative speed is taken")
	}
	if _, err := FromLog(strings.NewReader(log+logLine(100_000, "a", "GET /", 200, "")), LogOptions{Replay: true}); err == nil {
		t.Error("a replay of more than a day is taken")
	}
}

// The replay is a scenario that load takes.
func TestReplayParses(t *testing.T) {
	log := logLine(0, "a", "GET /items/1", 200, "") + logLine(1, "b", "GET /items/2", 200, "") + logLine(2, "b", "GET /a", 200, "")
	written(t, draftOf(t, log, LogOptions{Replay: true}))
}

// Times that may be microseconds or milliseconds are not guessed: each request
// begins when its line was written.
func TestLogOfDoubtfulTimes(t *testing.T) {
	var log strings.Builder
	for i := range 40 {
		fmt.Fprintf(&log, `{"time":%q,"method":"GET","uri":"/a","status":200,"latency":%d}`+"\n", begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), 500+400*(i%10))
	}
	d := draftOf(t, log.String(), LogOptions{Replay: true})
	want(t, "the notes", strings.Join(d.Notes, "\n"), `"latency"`, "name no unit")
	j, err := readLog(strings.NewReader(log.String()), &LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range j.hits {
		if h.took != 0 || h.at != begin.Add(time.Duration(i)*time.Second).UnixNano() {
			t.Fatalf("request %d begins at %v and takes %v", i, time.Unix(0, h.at).UTC(), time.Duration(h.took))
		}
	}
	clear := draftOf(t, strings.ReplaceAll(log.String(), "latency", "latency_ms"), LogOptions{Replay: true})
	if text := strings.Join(clear.Notes, "\n"); strings.Contains(text, "name no unit") {
		t.Errorf("the notes of times with a unit:\n%s", text)
	}
}
