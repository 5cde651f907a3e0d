package load

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// A run tells goodput and Apdex of each route and how its score came about.
func TestRunScore(t *testing.T) {
	const slow = 60 * time.Millisecond
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			timer := time.NewTimer(slow)
			defer timer.Stop()
			<-timer.C
		case "/wrong":
			w.WriteHeader(http.StatusTeapot)
		}
	}
	const src = `
version: 1
name: speeds
warmup: 10ms
duration: %s
sessions:
  - steps: [{request: GET /fast}, {request: GET /slow}, {request: GET /wrong}]
score: {objective: 10s, objectives: {GET /slow: 30ms}, apdex: {t: 10s, routes: {GET /slow: 50ms}}}
`
	var res *Result
	var routes map[string]RouteResult
	var good int64
	for _, window := range []string{"500ms", "3s", "20s"} { // until each route was answered within it
		res, routes, good = runAgainst(t, handler, fmt.Sprintf(src, window)), map[string]RouteResult{}, 0
		for _, r := range res.Routes {
			routes[r.Route] = r
			good += r.Good
		}
		if len(routes) == 3 && routes["GET /slow"].Succeeded > 0 {
			break
		}
	}
	for _, route := range []string{"GET /fast", "GET /slow", "GET /wrong"} {
		if routes[route].Apdex == nil {
			t.Fatalf("%s has no Apdex: %+v", route, res.Routes)
		}
	}
	fast, late, wrong := routes["GET /fast"], routes["GET /slow"], routes["GET /wrong"]
	if fast.Good != fast.Succeeded || *fast.Apdex != 1 || fast.Objective != 10*time.Second {
		t.Errorf("fast: %+v, Apdex %v", fast, *fast.Apdex)
	}
	// A slow machine may make answers later than 4 T.
	if late.Good != 0 || late.Succeeded == 0 || *late.Apdex > 0.5 || late.Objective != 30*time.Millisecond || late.ApdexT != 50*time.Millisecond {
		t.Errorf("slow: %+v, Apdex %v", late, *late.Apdex)
	}
	if wrong.Good != 0 || *wrong.Apdex != 0 {
		t.Errorf("wrong: %+v, Apdex %v", wrong, *wrong.Apdex)
	}
	if want := float64(good) / res.Window.Seconds(); !near(res.Goodput, want) || res.Goodput > res.RequestsPerSecond {
		t.Errorf("goodput %v, want %v, at most %v", res.Goodput, want, res.RequestsPerSecond)
	}
	if want := res.Goodput - 50*float64(res.Mismatches)/res.Window.Seconds(); !near(res.Score, want) {
		t.Errorf("score %v, want %v", res.Score, want)
	}
	if res.Apdex == nil || *res.Apdex <= 0 || *res.Apdex >= 1 || !strings.Contains(res.ScoreText, "within 30.0 ms to 10.0 s (by route)") {
		t.Errorf("Apdex %v, text %q", res.Apdex, res.ScoreText)
	}
}

// In the open model dropped sessions cost points.
func TestRunScoreOfDropped(t *testing.T) {
	await.SkipShort(t)
	handler := func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(200 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
	}
	const src = `
version: 1
name: overload
workload: 1
warmup: 10ms
duration: 1s
timeout: 300ms
sessions: [{steps: [{request: GET /}]}]
score: {expression: "dropped - planned/2"}
`
	res := runAgainst(t, handler, src, func(o *Options) { o.Workload, o.Arrivals = 1, ConstantRate(100) })
	if res.Open == nil || res.Open.Dropped == 0 {
		t.Fatalf("nothing was dropped: %+v", res.Open)
	}
	if want := float64(res.Open.Dropped) - float64(res.Open.Planned)/2; !near(res.Score, want) {
		t.Errorf("score %v, want %v", res.Score, want)
	}
}
