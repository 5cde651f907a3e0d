package load

import (
	"errors"
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
	// asked are the paths of the window by user, so many of each and more; a request takes as
	// long as it is told. The first call with PhaseMeasure comes before the window does: what
	// is asked from then on has no answer until the next call, when the window has begun. So
	// the first of each user may be of the warm-up, and no other.
	const many = 40
	asked := func(take time.Duration) [][]string {
		var mu sync.Mutex
		near, begun, enough := false, make(chan struct{}), make(chan struct{})
		begin, end := sync.OnceFunc(func() { close(begun) }), sync.OnceFunc(func() { close(enough) })
		by := map[string][]string{}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			wait := near
			if near {
				by[r.RemoteAddr] = append(by[r.RemoteAddr], r.URL.Path)
				if all := slices.Collect(maps.Values(by)); len(all) == 2 && min(len(all[0]), len(all[1])) > many {
					end()
				}
			}
			mu.Unlock()
			if wait {
				<-begun
			}
			time.Sleep(take)
		}))
		defer srv.Close()
		defer begin()
		_, err := Run(t.Context(), Options{Scenario: walkParse(t, text), URL: srv.URL, Warmup: 300 * time.Millisecond, Window: await.Limit, Enough: enough, Progress: func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Phase == PhaseMeasure && near {
				begin()
			}
			near = near || p.Phase == PhaseMeasure
		}})
		if !errors.Is(err, ErrEnough) {
			t.Fatal(err)
		}
		srv.Close() // a request that the end cut off is still being noted
		return slices.Collect(maps.Values(by))
	}
	slow, fast := asked(9*time.Millisecond), asked(2*time.Millisecond)
	found := 0
	for _, s := range slow {
		for _, f := range fast {
			if slices.ContainsFunc([]int{0, 1}, func(at int) bool {
				return slices.ContainsFunc([]int{0, 1}, func(from int) bool { return slices.Equal(s[from:from+many-1], f[at:at+many-1]) })
			}) {
				found++
				break
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 users asked for the same in both windows", found)
	}
}
