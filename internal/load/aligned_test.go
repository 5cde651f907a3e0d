package load

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
)

// What is asked for in the window is the same in every run, however far the users came
// in the warm-up.
func TestWindowsAskForTheSame(t *testing.T) {
	const text = `version: 1
name: aligned
workload: 2
warmup: 1s
duration: 1s
pools:
  things: {generate: {from: 1, to: 100000}, order: random, fields: {id: "${n}"}}
sessions:
  - {name: dear, weight: 1, draw: {row: things}, steps: [{request: "GET /dear/${row.id}"}]}
  - {name: cheap, weight: 3, draw: {row: things}, steps: [{request: "GET /cheap/${row.id}"}]}
`
	// asked are the paths of the window by user; a request takes as long as it is told.
	// The call with PhaseMeasure comes before the window does: some of the first are of
	// the warm-up.
	asked := func(take time.Duration) [][]string {
		var mu sync.Mutex
		begun := false
		by := map[string][]string{}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if begun {
				by[r.RemoteAddr] = append(by[r.RemoteAddr], r.URL.Path)
			}
			mu.Unlock()
			time.Sleep(take)
		}))
		defer srv.Close()
		sc := walkParse(t, text)
		ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
		defer cancel()
		if _, err := Run(ctx, Options{Scenario: sc, URL: srv.URL, Warmup: 300 * time.Millisecond, Progress: func(p Progress) {
			mu.Lock()
			begun = begun || p.Phase == PhaseMeasure
			mu.Unlock()
		}}); err != nil {
			t.Fatal(err)
		}
		srv.Close() // a request that the end of the window cut off is still being noted
		mu.Lock()
		defer mu.Unlock()
		return slices.Collect(maps.Values(by))
	}
	slow, fast := asked(9*time.Millisecond), asked(2*time.Millisecond)
	found := 0
	for _, s := range slow {
		for _, f := range fast {
			// Some stretch of the slow one's requests is the begin of the fast one's.
			for at := range min(5, len(f)) {
				for from := range min(5, len(s)) {
					n := min(len(s)-from, len(f)-at) - 1
					if n >= 20 && slices.Equal(s[from:from+n], f[at:at+n]) {
						found++
						goto next
					}
				}
			}
		}
	next:
	}
	if found != 2 {
		t.Errorf("%d of 2 users asked for the same in both windows", found)
	}
}
