package load

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// runAgainst runs a scenario's steps once against a handler.
func runAgainst(t *testing.T, h http.HandlerFunc, src string, change ...func(*Options)) *Result {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	o := Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 2}
	for _, c := range change {
		c(&o)
	}
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wantRight(t *testing.T, res *Result) {
	t.Helper()
	if res.Succeeded == 0 || res.Mismatches+res.Errors+res.Timeouts > 0 {
		t.Errorf("%d right, %d wrong, %d errors, %d time-outs: %+v", res.Succeeded, res.Mismatches, res.Errors, res.Timeouts, res.Samples)
	}
}

// bestOfThree is for figures that a stall of the machine spoils, too: a fault
// spoils all three.
func bestOfThree(t *testing.T, try func() error) {
	t.Helper()
	var why []error
	for range 3 {
		err := try()
		if err == nil {
			return
		}
		why = append(why, err)
	}
	t.Error(errors.Join(why...))
}

// A shop with everything that scenarios can do: cookies, redirects, forms,
// JSON, extraction, assets, setup and teardown.
func TestRunWholeScenario(t *testing.T) {
	var mu sync.Mutex
	bought := map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"keys": ["k&1"], "number": 4712}`) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", Path: "/"})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<a href="/item?id=7#top">now %s</a>`, time.Now().UTC().Format("15:04:05 on 2006-01-02"))
	})
	mux.HandleFunc("GET /item", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "id=7" {
			http.Error(w, "query "+r.URL.RawQuery, 400)
		}
	})
	mux.HandleFunc("GET /app.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		io.WriteString(w, "a{}")
	})
	mux.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("sid"); err != nil || c.Value != "s1" || r.FormValue("key") != "k&1" || r.FormValue("note") != "a b" {
			http.Error(w, fmt.Sprint("refused ", r.Cookies(), r.Form), http.StatusForbidden)
			return
		}
		mu.Lock()
		bought[r.FormValue("who")] = true
		mu.Unlock()
		http.Redirect(w, r, "done?who="+r.FormValue("who"), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /done", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "thanks ", r.FormValue("who")) })
	mux.HandleFunc("PUT /json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"echo": %s}`, body)
	})
	mux.HandleFunc("GET /zip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
		z := gzip.NewWriter(w)
		io.WriteString(z, "inside")
		z.Close()
	})
	mux.HandleFunc("GET /report", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var names []string
		for n := range bought {
			names = append(names, fmt.Sprintf("%q", n))
		}
		fmt.Fprintf(w, `{"bought": [%s], "stolen": []}`, strings.Join(names, ","))
	})
	src := strings.Replace(steps(`
- name: home
  request: GET /
  assets: [/app.css]
  expect:
    type: TEXT/html
    contains: "<a "
    not_contains: [error]
    regexp: ['now \d']
    time: {regexp: 'now (.*)<', layout: "15:04:05 on 2006-01-02", zone: UTC, near: home, within: 2s}
  extract: {link: {regexp: 'href="([^"]+)"'}, kind: {header: content-type, regexp: '^\w+'}}
- name: item
  request: GET ${link}
  headers: {X-Kind: "${kind}"}
- name: buy
  request: POST /buy
  form: {who: "${user.login}", key: "${key}", note: a b}
  follow: true
  then: {contains: "thanks ${user.login}"}
  record: {buyers: "${user.login}"}
- name: json
  request: PUT /json
  json: {name: "${user.login}", list: [1, null, true, {x: 1.5}], id: "${number:number}", as: "${number}", text: "${user.login:number}"}
  expect: {json: {"$.echo.list[3].x": 1.5, $.echo.id: 4712, $.echo.as: "4712", $.echo: {list: [1, null, true, {x: 1.50}], name: "${user.login}", id: 4712, as: "4712", text: "${user.login}"}}}
- name: zip
  request: GET /zip
  headers: {Accept-Encoding: gzip}
  expect: {contains: inside, size: 6, sha256: 14cfea07f6d54aa5c09af0f52b2b7c5b6aaf3c9cf06ad1d5e87d1ac3ff10c17f}
`), "version: 1", "version: 1\nsetup:\n- request: GET /token\n  extract: {key: {json: '$.keys[0]'}, number: {json: '$.number'}}\nteardown:\n- request: GET /report\n  expect: {json_has_all: {$.bought: \"@buyers\"}, json_has_none: {$.stolen: \"@buyers\"}}", 1)
	src = strings.Replace(src, "14cfea07f6d54aa5c09af0f52b2b7c5b6aaf3c9cf06ad1d5e87d1ac3ff10c17f", digest("inside"), 1)
	res := runAgainst(t, mux.ServeHTTP, src)
	wantRight(t, res)
	if len(bought) == 0 {
		t.Error("nothing was bought")
	}
	if len(res.Assets) != 1 || res.Assets[0].Path != "/app.css" || res.Assets[0].SHA256 != digest("a{}") || res.Assets[0].Varied || res.Assets[0].Count == 0 {
		t.Errorf("assets %+v", res.Assets)
	}
	routes := map[string]bool{}
	for _, r := range res.Routes {
		routes[r.Route] = true
	}
	for _, want := range []string{"GET /", "GET /app.css", "GET ${link}", "POST /buy", "POST /buy (followed)", "PUT /json"} {
		if !routes[want] {
			t.Errorf("no route %q in %v", want, routes)
		}
	}
}

// Each wrong answer is a mismatch whose sample says what and why.
func TestRunMismatches(t *testing.T) {
	var n atomic.Int64
	h := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			w.Header().Set("Location", "http://example.com/")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/vary.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, n.Add(1))
		case "/zip":
			w.Header().Set("Content-Encoding", r.Header.Get("X-As"))
			io.WriteString(w, "not compressed")
		default:
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "hello at 12:00:00 {\"a\":1}")
		}
	}
	tests := []struct{ name, step, expected, got string }{
		{"status", "request: GET /\nexpect: {status: [302, 303]}", "status 302 or 303", "status 200"},
		{"type", "request: GET /\nexpect: {type: text/html}", "Content-Type text/html", `"text/plain"`},
		{"header", "request: GET /\nexpect: {header: {X-A: b}}", "X-A: b", "no header X-A"},
		{"contains", "request: GET /\nexpect: {contains: \"${user.login}!\"}", "contains \"user", "without it: \"hello at 12:00:00"},
		{"lacks", "request: GET /\nexpect: {not_contains: hello}", "does not contain", "with it"},
		{"regexp", "request: GET /\nexpect: {regexp: '^x'}", "matches ^x", "without a match"},
		{"size", "request: GET /\nexpect: {size: 3}", "3 bytes", "25 bytes"},
		{"sha256", "request: GET /\nexpect: {sha256: " + digest("x") + "}", digest("x"), "SHA-256"},
		{"time", "name: me\nrequest: GET /\nexpect: {time: {regexp: 'at (\\S+)', layout: '15:04:05', near: me}}", `"me", which was done at`, "12:00:00"},
		{"not JSON", "request: GET /\nexpect: {json: {$.a: 1}}", "a JSON body", "another body"},
		{"extract", "request: GET /\nextract: {x: {regexp: 'id=(.)'}}", "a value for ${x}", "without one"},
		{"redirect away", "request: GET /away\nfollow: true", "a redirect within the target", "example.com"},
		{"redirect loop", "request: GET /loop\nfollow: true", "at most 10 redirects", "one more"},
		{"no redirect", "request: GET /\nfollow: true", "status 301, 302, 303, 307 or 308", "status 200"},
		{"asset", "request: GET /\nassets: [/vary.css]", "the same bytes", "other bytes"},
		{"gzip", "request: GET /zip\nheaders: {X-As: gzip}\nexpect: {contains: x}", "a readable body", "not gzip"},
		{"brotli", "request: GET /zip\nheaders: {X-As: br}\nexpect: {contains: x}", "a readable body", "a broken br body"},
		{"unknown coding", "request: GET /zip\nheaders: {X-As: lzma}\nexpect: {contains: x}", "a readable body", "cannot be read here"},
		{"masked", "request: POST /\nform: {login: \"${user.login}\", password: \"${user.password}\"}\nexpect: {status: 500}", "status 500", "status 200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := strings.Replace(steps("- think: 1ms\n"+indent(tt.step, "  ")), "300ms", "60ms", 1)
			res := runAgainst(t, h, src)
			if res.Mismatches == 0 || res.Errors+res.Timeouts > 0 || len(res.Samples) == 0 {
				t.Fatalf("%+v", res)
			}
			s := res.Samples[len(res.Samples)-1]
			if s.Kind != "mismatch" || !strings.Contains(s.Expected, tt.expected) || !strings.Contains(s.Got, tt.got) || s.Session != "s" {
				t.Errorf("sample %+v\nwant expected %q, got %q", s, tt.expected, tt.got)
			}
			if strings.Contains(s.Request, "pass") && !strings.HasSuffix(s.Request, "password=***") {
				t.Errorf("secret in %q", s.Request)
			}
			if len(res.Samples) > MaxSamples || len(s.Body) > maxSampleBody+3 {
				t.Errorf("%d samples, body %d", len(res.Samples), len(s.Body))
			}
		})
	}
}

// A teardown that fails counts even if everything before was right.
func TestRunTeardownFails(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"all": ["user0"]}`) }
	for name, expect := range map[string]string{"lacks": "json_has_all", "no array": "json: {$.all: 1}, json_has_all"} {
		t.Run(name, func(t *testing.T) {
			src := steps("- request: GET /\n  record: {seen: \"${user.login}\"}") + "teardown:\n- name: report\n  request: GET /\n  expect: {" + expect + ": {$.all: \"@seen\"}}\n"
			res := runAgainst(t, h, src)
			if res.Mismatches != 1 || res.Unmeasured != 1 || len(res.Samples) != 1 || res.Samples[0].Session != "teardown" || res.Samples[0].Step != "report" {
				t.Errorf("%+v", res)
			}
			if want := (float64(res.Succeeded) - 50) / res.Window.Seconds(); res.Score != want {
				t.Errorf("score %v, want %v", res.Score, want)
			}
		})
	}
}

// A failed setup sends no load and says why.
func TestRunSetupFails(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	_, err := Run(t.Context(), Options{URL: srv.URL, Scenario: mustParse(t, steps("- request: GET /")+"setup:\n- name: prepare\n  request: GET /x\n")})
	if err == nil || !strings.Contains(err.Error(), `setup step "prepare" failed: GET /x: expected status 200, got status 404`) {
		t.Errorf("got %v", err)
	}
}

// Same seed, same requests: byte for byte, for every user.
func TestRunIsDeterministic(t *testing.T) {
	await.SkipShort(t)
	record := func(seed uint64) [][]byte {
		streams := &recorder{}
		srv := &http.Server{Handler: streams, ConnContext: streams.connContext}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { srv.Serve(l); close(done) }()
		src := steps("- request: POST /${r.ip}\n  draw: {r: homes}\n  repeat: 2\n  form: {u: \"${user.login}\"}") +
			"- weight: 3\n  name: other\n  draw: {user: users}\n  steps: [{request: \"GET /x?u=${user.login}\", expect: {contains: ok}}]\n"
		src = strings.Replace(src, "sessions:", "  homes: {generate: {to: 50}, fields: {ip: \"10.0.0.${n}\"}, order: random}\nsessions:", 1)
		// The same host and port each time would be luck: a fixed Host instead.
		src = strings.ReplaceAll(src, "request: POST", "headers: {Host: h}\n    request: POST")
		src = strings.ReplaceAll(src, "expect: {contains", "headers: {Host: h}, expect: {contains")
		if _, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: "http://" + l.Addr().String(), Workload: 4, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		srv.Close()
		<-done
		return streams.sorted()
	}
	a, b, c := record(7), record(7), record(8)
	if len(a) != 4 || len(b) != 4 {
		t.Fatalf("%d and %d users", len(a), len(b))
	}
	for i := range a {
		n := min(len(a[i]), len(b[i]))
		if n < 500 || !bytes.Equal(a[i][:n], b[i][:n]) {
			t.Errorf("user %d differs within %d bytes", i, n)
		}
	}
	if slices.EqualFunc(a, c, func(x, y []byte) bool { n := min(len(x), len(y)); return bytes.Equal(x[:n], y[:n]) }) {
		t.Error("another seed gives the same requests")
	}
}

// recorder keeps what came in on each connection.
type recorder struct {
	mu      sync.Mutex
	streams []*bytes.Buffer
}

type streamKey struct{}

func (r *recorder) connContext(ctx context.Context, _ net.Conn) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &bytes.Buffer{}
	r.streams = append(r.streams, b)
	return context.WithValue(ctx, streamKey{}, b)
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b := req.Context().Value(streamKey{}).(*bytes.Buffer)
	body, _ := io.ReadAll(req.Body)
	fmt.Fprintf(b, "%s %s %v %s\n", req.Method, req.RequestURI, req.Header, body)
	io.WriteString(w, "ok")
}

func (r *recorder) sorted() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out [][]byte
	for _, b := range r.streams {
		out = append(out, b.Bytes())
	}
	slices.SortFunc(out, bytes.Compare)
	return out
}

// Load goes only to this machine or to what is allowed; nothing is sent else.
func TestGuard(t *testing.T) {
	tests := []struct {
		url   string
		allow []string
		want  string // of the error; "" if allowed
	}{
		{"http://127.0.0.1:80", nil, ""},
		{"http://127.9.9.9", nil, ""},
		{"https://localhost:8443/", nil, ""},
		{"http://[::1]:80", nil, ""},
		{"http+unix:///run/app.sock", nil, ""},
		{"http://192.0.2.1", nil, "is not this machine (192.0.2.1)"},
		{"http://0.0.0.0", nil, "is not this machine"},
		{"http://192.0.2.1", []string{"192.0.2.0/24"}, ""},
		{"http://192.0.2.1", []string{"192.0.2.1"}, ""},
		{"http://192.0.2.1", []string{"192.0.3.0/24"}, "load.allow"},
		{"http://[2001:db8::1]", []string{"2001:db8::/32"}, ""},
		{"http://127.0.0.1", []string{"example"}, "neither an address nor a network"},
		{"http://127.0.0.1/app", nil, "has the path /app"},
		{"http://user@127.0.0.1", nil, "only scheme, host and port"},
		{"http://127.0.0.1?x", nil, "only scheme, host and port"},
		{"ftp://127.0.0.1", nil, "write http://"},
		{"127.0.0.1:80", nil, "127.0.0.1:80"},
		{"http://", nil, "names no host"},
		{"http+unix://run/app.sock", nil, "absolute path"},
	}
	for _, tt := range tests {
		got, err := newTarget(t.Context(), tt.url, tt.allow, false)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %q", tt.url, tt.allow, err, tt.want)
		}
		if err == nil && got.onMachine == (tt.allow != nil) {
			t.Errorf("%s: on machine %v", tt.url, got.onMachine)
		}
	}
	if _, err := Run(t.Context(), Options{Scenario: mustParse(t, steps("- request: GET /")), URL: "http://192.0.2.1"}); err == nil {
		t.Error("Run sends to another machine")
	}
}

// TLS and unix sockets carry the same load.
func TestRunTransports(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok "+r.Host) })
	secure := httptest.NewTLSServer(h)
	defer secure.Close()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	plain := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	plain.Start()
	defer plain.Close()
	for url, host := range map[string]string{secure.URL: "127.0.0.1", "http+unix://" + path: "localhost"} {
		res, err := Run(t.Context(), Options{Scenario: mustParse(t, steps("- {request: GET /, expect: {contains: ok "+host+"}}")), URL: url})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
	}
}

// A cancelled run ends quickly with ctx's error, wherever it hangs.
func TestRunCancel(t *testing.T) {
	hang := make(chan struct{})
	var cancel atomic.Pointer[context.CancelFunc] // when what hangs is asked for
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			(*cancel.Load())()
		}
		if r.URL.Path == "/hang" {
			<-hang
		}
	}))
	defer srv.Close()
	defer close(hang)
	for name, src := range map[string]string{
		"request":  steps("- request: GET /hang"),
		"think":    steps("- request: GET /think\n  think: 10m"),
		"setup":    steps("- request: GET /") + "setup: [{request: GET /hang}]\n",
		"teardown": steps("- request: GET /") + "teardown: [{request: GET /hang}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			src = strings.Replace(src, "timeout: 10s", "timeout: 10m", 1)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			cancel.Store(&stop)
			o := Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 3, Window: time.Hour}
			if name == "teardown" {
				o.Window = 50 * time.Millisecond
			}
			await.Ends(t, "a cancelled run", func() {
				if res, err := Run(ctx, o); !errors.Is(err, context.Canceled) || res != nil {
					t.Errorf("%v, %v", res, err)
				}
			})
		})
	}
}

// Phases come in order; the measured window begins after its call returned.
func TestRunProgress(t *testing.T) {
	var phases []Phase
	var last Progress
	var back time.Time
	res := runAgainst(t, func(w http.ResponseWriter, r *http.Request) {}, steps("- request: GET /"), func(o *Options) {
		o.Warmup, o.Window = 50*time.Millisecond, 600*time.Millisecond
		o.Progress = func(p Progress) {
			if p.Phase != last.Phase {
				phases = append(phases, p.Phase)
				if p.Phase == PhaseMeasure {
					runtime.Gosched()
					back = time.Now()
				}
			}
			last = p
		}
	})
	if !slices.Equal(phases, []Phase{PhaseSetup, PhaseWarmup, PhaseMeasure, PhaseTeardown}) {
		t.Errorf("phases %v", phases)
	}
	if last.Succeeded != res.Succeeded || last.P50 == 0 || last.Window != 600*time.Millisecond || last.RequestsPerSecond == 0 {
		t.Errorf("last %+v of %+v", last, res)
	}
	if res.Started.Before(back) {
		t.Errorf("window began %s before the call returned", back.Sub(res.Started))
	}
	if res.Series[0].Second >= 0 || res.GeneratorCPU <= 0 {
		t.Errorf("series %v, CPU %s", res.Series, res.GeneratorCPU)
	}
}

func TestFindWorkload(t *testing.T) {
	await.SkipShort(t)
	// Each answer takes 5 ms; at most two at a time: more than two users
	// bring nothing.
	slots := make(chan struct{}, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slots <- struct{}{}
		defer func() { <-slots }()
		time.Sleep(5 * time.Millisecond)
	}))
	defer srv.Close()
	resets := 0
	o := Options{Scenario: mustParse(t, steps("- request: GET /${user.login}")), URL: srv.URL,
		Reset: func(context.Context) error { resets++; return nil }}
	points, best, err := FindWorkload(t.Context(), o, []int{16, 1, 4, 2, 2, 8}, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if resets != len(points) {
		t.Errorf("%d resets, %+v", resets, points)
	}
	// Upwards, each once, until one brings nothing; which that is is a matter of the
	// machine's speed, what follows from it is not (TestWorkloadChoice).
	for i, p := range points {
		if want := []int{1, 2, 4, 8, 16}[i]; p.Workload != want || p.RequestsPerSecond <= 0 || p.Mismatches > 0 {
			t.Errorf("point %d: %+v, want %d users", i, p, want)
		}
		if rising := stillRising(points[:i+1]); rising != (i < len(points)-1 || p.Workload == 16 && rising) {
			t.Errorf("it went on after point %d, or ended there: %+v", i, points)
		}
	}
	if best != smallestGood(points) {
		t.Errorf("best %d, %+v", best, points)
	}
	if _, _, err := FindWorkload(t.Context(), o, nil, time.Second); err == nil {
		t.Error("no values are no error")
	}
}

// Without a reset, the next probe takes rows that the one before left over.
func TestFindWorkloadFreshRows(t *testing.T) {
	await.SkipShort(t)
	var mu sync.Mutex
	seen := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path]++
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
	}))
	defer srv.Close()
	o := Options{Scenario: mustParse(t, strings.Replace(steps("- request: GET /${user.login}"), "to: 1000", "to: 100000", 1)), URL: srv.URL, Rows: Rows{}}
	if _, _, err := FindWorkload(t.Context(), o, []int{1, 2, 3}, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// So do all that are told of the rows: later runs, a walk, planned sessions.
	o.Window, o.Warmup = 100*time.Millisecond, -1
	for range 2 {
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if _, err := Walk(t.Context(), o, WalkOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	o.Arrivals, o.Workload = &Arrivals{Stages: []Stage{{From: 200, To: 200, For: time.Second}}}, 8
	for range 2 {
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for path, n := range seen {
		if n > 1 {
			t.Fatalf("%s came %d times", path, n)
		}
	}
}
