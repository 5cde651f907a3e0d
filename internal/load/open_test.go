package load

import (
	"crypto/tls"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// everyEngine runs a test on all engines that speak plain HTTP/1.1.
func everyEngine(t *testing.T, test func(t *testing.T, e Engine)) {
	for _, e := range []Engine{EngineEpoll, EngineNet} {
		t.Run(string(e), func(t *testing.T) { test(t, e) })
	}
}

// stalling answers at once, but within the first 300 ms of each second it
// waits until they are over.
func stalling() *httptest.Server {
	begin := time.Now()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if at := time.Since(begin) % time.Second; at < 300*time.Millisecond {
			time.Sleep(300*time.Millisecond - at)
		}
	}))
}

// A service that stalls makes every request wait that was planned meanwhile,
// although the users that are stuck cannot send it: 30 % of the plan waits up
// to 300 ms, evenly, so the 90th percentile is 200 ms. Counted from when the
// requests were sent, the stall all but disappears.
func TestOpenModelSeesStalls(t *testing.T) {
	await.SkipShort(t)
	everyEngine(t, func(t *testing.T, e Engine) {
		srv := stalling()
		defer srv.Close()
		bestOfThree(t, func() error { return seesStalls(t, srv.URL, e) })
	})
}

func seesStalls(t *testing.T, url string, e Engine) error {
	res, err := Run(t.Context(), Options{Scenario: mustParse(t, steps("- request: GET /")), URL: url, Workload: 4, Window: 3 * time.Second,
		Warmup: -1, Arrivals: ConstantRate(400), Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	wantRight(t, res)
	o, l := res.Open, res.Latency
	switch {
	case o == nil || o.Planned < 1195 || o.Planned > 1201 || o.Dropped > 40: // without a queue the stall alone drops 120
		return fmt.Errorf("%+v", o)
	case l.P90 < 185*time.Millisecond || l.P90 > 280*time.Millisecond: // a machine that stalls as well adds to it
		return fmt.Errorf("90th percentile %s, want 200 ms", l.P90)
	case o.Uncorrected.P90 > 100*time.Millisecond:
		return fmt.Errorf("uncorrected 90th percentile %s: four stuck users cannot see the stall", o.Uncorrected.P90)
	case l.Max < 280*time.Millisecond || l.Max > 900*time.Millisecond:
		return fmt.Errorf("max %s, want 300 ms, and no second stall", l.Max)
	case o.Lateness.P50 > 20*time.Millisecond:
		return fmt.Errorf("sessions began late: %+v", o.Lateness)
	}
	return nil
}

// What waits longer than the time-out for a user is dropped, not forgotten.
func TestOpenModelDrops(t *testing.T) {
	await.SkipShort(t)
	everyEngine(t, func(t *testing.T, e Engine) {
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) }))
		defer srv.Close()
		src := strings.Replace(steps("- request: GET /"), "timeout: 10s", "timeout: 100ms", 1)
		res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 2, Window: time.Second, Warmup: -1,
			Arrivals: ConstantRate(200), Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		// Two users finish 40 sessions in the second; 200 are planned.
		if o := res.Open; o.Planned < 195 || o.Dropped < 130 || o.Begun+o.Dropped != o.Planned || res.Latency.P50 < 100*time.Millisecond {
			t.Errorf("%+v, p50 %s", o, res.Latency.P50)
		}
	})
}

// The same plan and seed give the same requests, whatever user each falls to.
func TestOpenModelIsDeterministic(t *testing.T) {
	await.SkipShort(t)
	everyEngine(t, func(t *testing.T, e Engine) {
		paths := func(t *testing.T, seed uint64) map[string]int {
			var mu sync.Mutex
			seen := map[string]int{}
			srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				seen[r.URL.Path]++
			}))
			defer srv.Close()
			src := `
version: 1
name: t
pools:
  users: {generate: {from: 1, to: 1000}, fields: {n: "${n}"}}
  words: {generate: {from: 1, to: 1000}, fields: {w: "${n}"}, order: random}
sessions:
- {name: a, weight: 2, draw: {u: users, w: words}, steps: [{request: "GET /a/${u.n}/${w.w}"}]}
- {name: b, draw: {u: users}, steps: [{request: "GET /b/${u.n}"}]}
`
			plan := &Arrivals{Recorded: make([]Recorded, 100)}
			for i := range plan.Recorded {
				plan.Recorded[i] = Recorded{At: time.Duration(i) * time.Millisecond, Session: -1}
			}
			res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 3, Window: 3 * time.Second, Warmup: -1,
				Arrivals: plan, Seed: seed, Engine: e})
			if err != nil {
				t.Fatal(err)
			}
			wantRight(t, res)
			mu.Lock()
			defer mu.Unlock()
			return seen
		}
		seen := make([]map[string]int, 3)
		var all sync.WaitGroup // they mostly wait
		for i, seed := range []uint64{5, 5, 6} {
			all.Go(func() { t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { seen[i] = paths(t, seed) }) })
		}
		all.Wait()
		one, two, other := seen[0], seen[1], seen[2]
		if len(one) < 95 || fmt.Sprint(one) != fmt.Sprint(two) {
			t.Errorf("%d and %d requests differ", len(one), len(two))
		}
		if fmt.Sprint(one) == fmt.Sprint(other) {
			t.Error("another seed gives the same requests")
		}
	})
}

// Sequential pools are read in the order of the file, over all users.
func TestSequentialPool(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.URL.Path)
	}))
	defer srv.Close()
	src := `
version: 1
name: t
pools:
  rows: {generate: {from: 1, to: 50}, fields: {n: "${n}"}, order: sequential}
sessions:
- {draw: {r: rows}, steps: [{request: "GET /${r.n}"}]}
`
	if _, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 1, Window: 200 * time.Millisecond, Warmup: -1}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for i, p := range seen {
		if p != fmt.Sprintf("/%d", i%50+1) {
			t.Fatalf("request %d is %s", i, p)
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d requests", len(seen))
	}
}

// HTTP/2 gives the same answers to the same checks, with and without TLS.
func TestHTTP2(t *testing.T) {
	await.SkipShort(t)
	var proto atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto.Store(int64(r.ProtoMajor))
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: r.FormValue("login"), Path: "/"})
			http.Redirect(w, r, "/me", http.StatusFound)
		case "/me":
			c, _ := r.Cookie("sid")
			fmt.Fprintf(w, "hello %s", c.Value)
		default:
			http.NotFound(w, r)
		}
	})
	src := steps(`
- {request: POST /login, form: {login: "${user.login}"}, expect: {status: 302}, follow: true, then: {contains: "hello ${user.login}"}}
- {request: GET /gone, expect: {status: 404}}
- {request: HEAD /gone, expect: {status: 404}}
`)
	clear := httptest.NewUnstartedServer(h)
	clear.Config.Protocols = new(http.Protocols)
	clear.Config.Protocols.SetUnencryptedHTTP2(true)
	clear.Start()
	defer clear.Close()
	secure := httptest.NewUnstartedServer(h)
	secure.EnableHTTP2 = true
	secure.TLS = &tls.Config{NextProtos: []string{"h2"}}
	secure.StartTLS()
	defer secure.Close()
	for _, url := range []string{clear.URL, secure.URL} {
		proto.Store(0)
		res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: url, Workload: 2, Engine: EngineHTTP2})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
		if proto.Load() != 2 || res.Engine != "http2" {
			t.Errorf("%s: HTTP/%d by %s", url, proto.Load(), res.Engine)
		}
	}
	old := httptest.NewTLSServer(h)
	defer old.Close()
	res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: old.URL, Workload: 1, Engine: EngineHTTP2})
	if err != nil {
		t.Fatal(err)
	}
	if res.Succeeded > 0 || len(res.Samples) == 0 {
		t.Errorf("a server without HTTP/2: %+v", res)
	}
}

func TestEngineChoice(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	sc := mustParse(t, steps("- {request: GET /, expect: {status: 404}}"))
	if _, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Engine: EngineEpoll}); err == nil {
		t.Error("epoll with TLS is accepted")
	}
	if _, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Engine: "curl"}); err == nil {
		t.Error("an unknown engine is accepted")
	}
	if _, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Loops: -1}); err == nil {
		t.Error("negative loops are accepted")
	}
	res, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Workload: 2})
	if err != nil || res.Engine != "net" {
		t.Errorf("%+v %v", res, err)
	}
	wantRight(t, res)
}

// Several loops share the users and the plan.
func TestSeveralLoops(t *testing.T) {
	await.SkipShort(t)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	sc := mustParse(t, steps("- request: GET /"))
	for _, a := range []*Arrivals{nil, ConstantRate(500)} {
		res, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Workload: 7, Loops: 3, Arrivals: a, Window: 400 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
		// A machine that stalls for as long as seven arrivals take drops some.
		if o := res.Open; a != nil && (math.Abs(float64(o.Planned)-200) > 5 || o.Begun < o.Planned/2) {
			t.Errorf("%+v", res.Open)
		}
		if a == nil && res.Connects > 7 {
			t.Errorf("%d connections", res.Connects)
		}
	}
}

// Many users begin in turn, so that a server's backlog does not overflow.
// The window still holds what a SYN that is sent again after 1 s brings.
func TestManyUsers(t *testing.T) {
	await.SkipShort(t)
	url, _ := startNginx(t, "location = /t { return 200 ok; }")
	src := steps("- {request: GET /t, think: 100ms, expect: {contains: ok}}")
	bestOfThree(t, func() error {
		res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: url, Workload: 400, Window: 1500 * time.Millisecond, Warmup: 300 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
		if res.Latency.Max > 900*time.Millisecond {
			return fmt.Errorf("max %s: a connection had to be repeated", res.Latency.Max)
		}
		return nil
	})
}
