package load

import (
	"fmt"
	"math"
	"time"
)

const (
	// evenEnough is the unevenness up to which windows need not hold whole sessions.
	evenEnough = 0.25
	// cutOff is the part of a score that a session which the window cuts off may
	// shift it by.
	cutOff = 0.15
	// mostVisits of each user are asked for in a window.
	mostVisits = 6
)

// visits are the sessions of one user in the closed model: how long they took, and
// when in them what scores came. A window that holds a part of a session scores what
// that part is worth: a page with two hundred files is two hundred points in a moment,
// and the slow requests after it are few.
type visits struct {
	entered, stepped time.Duration // when the session and the step under way began
	whole            bool          // its last step is done
	count            int64
	total            time.Duration   // of those that ended whole
	points           []float64       // by serial number of the step
	times            []time.Duration // likewise, with pauses
}

func newVisits(r *run) *visits {
	n := 0
	r.opts.Scenario.eachStep(func(*step) { n++ })
	return &visits{points: make([]float64, n), times: make([]time.Duration, n)}
}

// begin is called when a session begins, after another or as the first.
func (v *visits) begin(now time.Duration) {
	if v == nil {
		return
	}
	if v.whole {
		v.count, v.total, v.whole = v.count+1, v.total+now-v.entered, false
	}
	v.entered, v.stepped = now, now
}

// done is called when a step is, with its repetitions and files.
func (v *visits) done(st *step, last bool, now time.Duration) {
	if v == nil {
		return
	}
	v.times[st.serial] += now - v.stepped
	v.stepped, v.whole = now, last
}

// scored is called for each right answer.
func (v *visits) scored(st *step, points float64) {
	if v != nil {
		v.points[st.serial] += points
	}
}

// visited fills in how long sessions took, and how unevenly points came in them.
func (r *run) visited(res *Result, end time.Duration) {
	var count int64
	var total, longest time.Duration
	var points, times []float64
	for _, u := range r.users {
		v := u.visits
		if v == nil { // one that only does setup or teardown
			continue
		}
		if points == nil {
			points, times = make([]float64, len(v.points)), make([]float64, len(v.times))
		}
		count, total = count+v.count, total+v.total
		longest = max(longest, end-v.entered)
		for i := range v.points {
			points[i] += v.points[i]
			times[i] += v.times[i].Seconds()
		}
	}
	if points == nil { // planned sessions, or those of one request
		return
	}
	res.SessionTime = longest
	if count > 0 {
		res.SessionTime = total / time.Duration(count)
	} else {
		res.Unreached, res.Steps = r.opts.Scenario.unreached(times)
	}
	res.Uneven = apart(points, times)
}

// unreached are steps of sessions in which nobody has spent time (by serial number), and
// how many steps there are.
func (sc *Scenario) unreached(times []float64) (none, all int) {
	for i := range sc.sessions {
		for j := range sc.sessions[i].steps {
			if all++; times[sc.sessions[i].steps[j].serial] == 0 {
				none++
			}
		}
	}
	return none, all
}

// apart is how far two lists of shares differ: 0 if they are the same, 1 if they
// have nothing in common (total variation).
func apart(a, b []float64) float64 {
	sumA, sumB, d := 0.0, 0.0, 0.0
	for i := range a {
		sumA, sumB = sumA+a[i], sumB+b[i]
	}
	if sumA <= 0 || sumB <= 0 {
		return 0
	}
	for i := range a {
		d += math.Abs(a[i]/sumA-b[i]/sumB) / 2
	}
	return d
}

// LeastWindow is how long a window must be for the sessions that it cuts off to be a
// small part of its score; 0 if any will do: what scores comes evenly, or the users
// of the open model begin at planned times. Where no session ended, and nobody came to
// some of its steps, it is one session, as long as its steps so far let expect: else what
// stands at the end of a visit, such as its writes, would never be measured.
func (r *Result) LeastWindow() time.Duration {
	if reached := r.Steps - r.Unreached; r.Unreached > 0 && reached > 0 {
		return max(r.SessionTime*time.Duration(r.Steps)/time.Duration(reached), 2*r.Window).Round(tickEvery)
	}
	if r.Uneven <= evenEnough {
		return 0
	}
	return time.Duration(min(math.Ceil(r.Uneven/cutOff), mostVisits) * float64(r.SessionTime)).Round(tickEvery)
}

// Cut says in which way windows cut off sessions (LeastWindow).
func (r *Result) Cut() string {
	if r.Unreached > 0 {
		return fmt.Sprintf("no session ended within %s, and nobody came to %d of %d steps", r.SessionTime.Round(tickEvery), r.Unreached, r.Steps)
	}
	return fmt.Sprintf("a session takes %s and what scores comes in a small part of it", r.SessionTime.Round(tickEvery))
}

// silent are the routes that score nothing while others do: whether a service is steady, and
// how much runs vary, is a question of those that score. nil: all do, or an expression tells.
func (sc *scoring) silent() []bool {
	var out []bool
	some := false
	for i, w := range sc.weights {
		if w != 0 {
			some = true
			continue
		}
		if out == nil {
			out = make([]bool, len(sc.weights))
		}
		out[i] = true
	}
	if !some || sc.kind == scoreExpression {
		return nil
	}
	return out
}
