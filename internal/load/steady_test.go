package load

import (
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// settledAfter feeds a rate, ticks long, until it is judged steady; 0: never.
func settledAfter(ticks int, rate func(tick int) float64) (after int, last drift) {
	var s settling
	for i := range ticks {
		s.note(int64(math.Round(rate(i)/10)), tickEvery, time.Millisecond)
		if last = s.judge(); last.steady {
			return i + 1, last
		}
	}
	return 0, last
}

func TestSettling(t *testing.T) {
	noise := func(sd float64, seed uint64) func() float64 {
		rng := rand.New(rand.NewPCG(seed, 1))
		return func() float64 { return 1 + sd*rng.NormFloat64() }
	}
	quiet, loud, louder := noise(0.01, 1), noise(0.05, 2), noise(0.10, 3)
	for _, c := range []struct {
		name        string
		rate        func(tick int) float64
		least, most int // ticks; both 0: never within five seconds
	}{
		{"steady from the begin", func(int) float64 { return 5000 }, 3, 3},
		{"a little noise", func(int) float64 { return 5000 * quiet() }, 3, 5},
		{"noise takes longer to be sure", func(int) float64 { return 5000 * loud() }, 3, 20},
		{"much noise still longer", func(int) float64 { return 5000 * louder() }, 5, 50},
		{"nothing for half a second", func(i int) float64 { return 5000 * from(i, 5) }, 8, 10},
		{"half the speed at first", func(i int) float64 { return 5000 * quiet() * (1 + from(i, 2)) }, 5, 8},
		{"an exponential approach, 0.5 s", func(i int) float64 { return 5000 * (1 - math.Exp(-float64(i+1)/5)) }, 8, 25},
		{"a rise without end", func(i int) float64 { return 1000 * float64(i+1) }, 0, 0},
		{"a short period", func(i int) float64 { return 5000 + 1000*math.Sin(2*math.Pi*float64(i)/4) }, 4, 30},
		{"a period longer than the limit", func(i int) float64 { return 5000 + 4500*math.Cos(2*math.Pi*float64(i)/50) }, 3, 50},
		{"few answers are put together", func(int) float64 { return 20 }, 9, 9},
		{"no answers", func(int) float64 { return 0 }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, last := settledAfter(50, c.rate)
			if got < c.least || got > c.most {
				t.Errorf("steady after %d ticks, want %d to %d: %+v", got, c.least, c.most, last)
			}
		})
	}
}

func from(i, at int) float64 {
	if i < at {
		return 0
	}
	return 1
}

// A rise is told with its size, where it is sure.
func TestDriftIsTold(t *testing.T) {
	_, d := settledAfter(10, func(i int) float64 { return 100 * math.Exp2(float64(i)) })
	if !d.moved || !strings.HasPrefix(d.text(), "throughput was still rising by ") {
		t.Errorf("%+v", d)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	if _, d := settledAfter(6, func(int) float64 { return 5000 * math.Exp(rng.NormFloat64()) }); d.moved || d.steady {
		t.Errorf("six loud ticks prove nothing: %+v", d)
	}
}

// Users that started together answer in waves: one wave in each tick is no
// proof of a steady rate.
func TestSettlingWaitsForTwoRounds(t *testing.T) {
	s := settling{users: 8}
	for i, answers := range []int64{8, 8, 8, 16, 24} {
		s.note(answers, tickEvery, 0)
		if d := s.judge(); d.steady {
			t.Fatalf("steady after %d ticks: %+v", i+1, d)
		}
	}
	for range 12 {
		s.note(160, tickEvery, 0)
	}
	if d := s.judge(); !d.steady {
		t.Errorf("%+v", d)
	}
}

// With planned arrivals the rate is the plan's; the latency tells.
func TestSettlingByLatency(t *testing.T) {
	s := settling{latency: true}
	for i := range 10 {
		s.note(100, tickEvery, time.Duration(10-i)*time.Millisecond)
	}
	if d := s.judge(); d.steady || !d.moved || !strings.Contains(d.text(), "p50 was still falling") {
		t.Errorf("%+v", d)
	}
	for range 12 {
		s.note(100, tickEvery, time.Millisecond)
	}
	if d := s.judge(); !d.steady {
		t.Errorf("%+v", d)
	}
}

// What steps up after the warm-up (a compiler's second tier) is seen in the
// window; noise and a changing plan are not taken for it.
func TestWindowDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	ticks := func(rate func(i int) float64) []int64 {
		out := make([]int64, 30)
		for i := range out {
			out[i] = int64(rate(i))
		}
		return out
	}
	second := ticks(func(i int) float64 { return (100 + 60*from(i, 13)) * (1 + 0.03*rng.NormFloat64()) })
	for _, c := range []struct {
		name  string
		ticks []int64
		plan  *Arrivals
		want  string
	}{
		{"a second step", second, nil, "rising"},
		{"a growing table", ticks(func(i int) float64 { return 100 - 2*float64(i) }), nil, "data that grows"},
		{"of a constant plan", second, ConstantRate(100), "rising"},
		{"as planned", second, &Arrivals{Stages: []Stage{{From: 100, To: 160, For: time.Second}}}, ""},
		{"noise", ticks(func(int) float64 { return 100 * (1 + 0.1*rng.NormFloat64()) }), nil, ""},
		{"no ticks", nil, nil, ""},
	} {
		res := Result{Ticks: c.ticks}
		warmth{steady: true}.told(&res, c.plan)
		if res.Steady == (c.want != "") || !strings.Contains(res.Unsteady, c.want) || (res.Unsteady == "") != (c.want == "") {
			t.Errorf("%s: %v %q", c.name, res.Steady, res.Unsteady)
		}
	}
}

// A false alarm in a steady window is rare.
func TestWindowDriftSeldomErrs(t *testing.T) {
	alarms := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		ticks := make([]int64, 20)
		for i := range ticks {
			ticks[i] = int64(1000 * (1 + 0.15*rng.NormFloat64()))
		}
		if windowDrift(ticks).moved {
			alarms++
		}
	}
	if alarms > 40 { // 2 %
		t.Errorf("%d of 2000 steady windows were called unsteady", alarms)
	}
}

// slowStart serves one request at a time; each takes pause(time since the
// first).
func slowStart(pause func(since time.Duration) time.Duration) *httptest.Server {
	var first atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		first.CompareAndSwap(0, time.Now().UnixNano())
		time.Sleep(pause(time.Duration(time.Now().UnixNano() - first.Load())))
		w.Write([]byte("ok"))
	}))
}

// A server that needs 700 ms to be warm is measured after that, in both models.
func TestWarmupWaitsForASlowStart(t *testing.T) {
	await.SkipShort(t)
	const cold = 700 * time.Millisecond
	for name, arrivals := range map[string]*Arrivals{"closed": nil, "open": ConstantRate(100)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := slowStart(func(since time.Duration) time.Duration {
				return max(5*time.Millisecond, 100*time.Millisecond*(cold-since)/cold)
			})
			defer srv.Close()
			sc := mustParse(t, "version: 1\nname: slow\nsessions: [{steps: [{request: GET /}]}]\n")
			res, err := Run(t.Context(), Options{Scenario: sc, URL: srv.URL, Workload: 8, Warmup: 3 * time.Second, Window: 300 * time.Millisecond, Arrivals: arrivals})
			if err != nil {
				t.Fatal(err)
			}
			if res.WarmupTook < cold || res.Warmup != 3*time.Second || res.Succeeded == 0 {
				t.Errorf("the warm-up took %s; steady %v %q, %d answers", res.WarmupTook, res.Steady, res.Unsteady, res.Succeeded)
			}
			n := int64(0)
			for _, p := range res.Series {
				if p.Second < 0 {
					n += p.Succeeded
				}
			}
			if n == 0 || -res.Series[0].Second != int((res.WarmupTook+time.Second-1)/time.Second) && -res.Series[0].Second != int(res.WarmupTook/time.Second) {
				t.Errorf("warm-up of %s: series %v", res.WarmupTook, res.Series)
			}
		})
	}
}

// An application that is started by its first request is measured when it runs, though
// that takes longer than the warm-up; users that pause after their first answer are
// waited for by nobody.
func TestWarmupWaitsForFirstAnswers(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	const start = 1200 * time.Millisecond
	srv := slowStart(func(since time.Duration) time.Duration { return max(2*time.Millisecond, start-since) })
	defer srv.Close()
	sc := mustParse(t, "version: 1\nname: cold\nsessions: [{steps: [{request: GET /}]}]\n")
	o := Options{Scenario: sc, URL: srv.URL, Workload: 4, Warmup: 400 * time.Millisecond, Window: 300 * time.Millisecond}
	res, err := Run(t.Context(), o)
	if err != nil || res.WarmupTook < start || res.Succeeded == 0 {
		t.Errorf("the warm-up took %s, %d answers, %v", res.WarmupTook, res.Succeeded, err)
	}
	o.Scenario = mustParse(t, "version: 1\nname: pause\nsessions: [{steps: [{request: GET /, think: 5s}]}]\n")
	if res, err = Run(t.Context(), o); err != nil || res.WarmupTook >= 5*time.Second { // when each asks again
		t.Errorf("users that pause: the warm-up took %s, %v", res.WarmupTook, err)
	}
}

// A service that is steady from the first is warmed up for as long as it is asked for, whatever
// the most is that a warm-up takes otherwise.
func TestLeastWarmup(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	srv := slowStart(func(time.Duration) time.Duration { return 2 * time.Millisecond })
	defer srv.Close()
	sc := mustParse(t, "version: 1\nname: steady\nsessions: [{steps: [{request: GET /}]}]\n")
	for _, most := range []time.Duration{300 * time.Millisecond, 3 * time.Second} {
		o := Options{Scenario: sc, URL: srv.URL, Workload: 2, Warmup: most, LeastWarmup: 1200 * time.Millisecond, Window: 200 * time.Millisecond}
		if res, err := Run(t.Context(), o); err != nil || res.WarmupTook < o.LeastWarmup {
			t.Errorf("at most %s: %+v %v", most, res, err)
		}
	}
}

// One that never settles is measured when the time is over, and the result says so.
func TestWarmupEnds(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	srv := slowStart(func(since time.Duration) time.Duration {
		return max(time.Millisecond, 100*time.Millisecond-since/8)
	})
	defer srv.Close()
	sc := mustParse(t, "version: 1\nname: slow\nsessions: [{steps: [{request: GET /}]}]\n")
	o := Options{Scenario: sc, URL: srv.URL, Workload: 4, Warmup: 800 * time.Millisecond, Window: 200 * time.Millisecond}
	res, err := Run(t.Context(), o)
	if err != nil || res.Steady || res.WarmupTook < o.Warmup {
		t.Errorf("%+v %v", res, err)
	}
	o.FixedWarmup, o.Warmup = true, 400*time.Millisecond
	if res, err = Run(t.Context(), o); err != nil || res.Steady || res.Unsteady != "" && !strings.Contains(res.Unsteady, "window") || res.WarmupTook < o.Warmup {
		t.Errorf("fixed: %+v %v", res, err)
	}
}
