package tune

import (
	"testing"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Where somebody else's benchmark tells points alone, requests are those of the
// access log, so that "per request" is of requests; what it counted itself stays.
func TestRequestsOfTheLog(t *testing.T) {
	for _, c := range []struct {
		uncounted     bool
		want, succeed int64
	}{{true, 1000, 990}, {false, 40, 40}} {
		b := &Bench{Stack: &stack.Stack{}}
		b.Stack.Load.Command = &foreign.Command{Argv: []string{"bench"}}
		ev := &evidence.Evidence{Load: &load.Result{Uncounted: c.uncounted, Requests: 40, Succeeded: 40, Score: 40, Window: 10 * time.Second}}
		r := digest.Route{Service: "web", Count: 1000}
		r.Status[5] = 10
		ev.Routes = []digest.Route{r, {Service: "app", Count: 300}}
		b.known(ev)
		if ev.Load.Requests != c.want || ev.Load.Succeeded != c.succeed || c.uncounted && ev.Load.RequestsPerSecond != 100 {
			t.Errorf("uncounted %v: %+v", c.uncounted, ev.Load)
		}
	}
}
