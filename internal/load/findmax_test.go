package load

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// queue is a simulated service: one server, exponential service times with
// rate mu (M/M/1), so p99 of the response time is ln 100/(mu − rate).
type queue struct {
	mu    float64
	noise float64 // standard deviation of ln(latency) in a window of 2 s
	rng   *rand.Rand
	// limit: above this rate the generator is saturated; 0: never.
	limit float64
	runs  []Options
}

func (q *queue) run(_ context.Context, o Options) (*Result, error) {
	q.runs = append(q.runs, o)
	seconds := o.Window.Seconds()
	factor := math.Exp(q.noise * q.rng.NormFloat64() * math.Sqrt(2/seconds))
	res := &Result{Window: o.Window, Workload: o.Workload}
	if o.Arrivals == nil {
		res.Requests = int64(q.mu * seconds * (1 + q.noise*q.rng.NormFloat64()/4))
		res.Succeeded, res.RequestsPerSecond = res.Requests, float64(res.Requests)/seconds
		return res, nil
	}
	rate := o.Arrivals.Stages[0].From
	planned := rate * seconds
	answered, p99 := planned, factor*math.Log(100)/(q.mu-rate)
	if rate >= q.mu {
		answered, p99 = q.mu*seconds, seconds*(1.2-q.mu/rate) // the queue grows
	}
	res.Requests, res.Succeeded = int64(answered), int64(answered)
	res.RequestsPerSecond = answered / seconds
	at := func(share float64) time.Duration {
		return time.Duration(p99 * math.Log(1/(1-share)) / math.Log(100) * float64(time.Second))
	}
	res.Latency = Percentiles{Mean: at(1 - 1/math.E), P50: at(.5), P90: at(.9), P95: at(.95), P99: at(.99), Max: at(.9999)}
	res.Open = &Open{PlannedPerSecond: rate, Planned: int64(planned), Begun: int64(planned)}
	if q.limit > 0 && rate > q.limit {
		res.Saturated = "the generator used 97 % of the 2 processors"
	}
	return res, nil
}

// capacity is the highest rate with p99 below limit.
func (q *queue) capacity(limit time.Duration) float64 {
	return q.mu - math.Log(100)/limit.Seconds()
}

func findIn(t *testing.T, q *queue, goal string, cfg FindMaxOptions) (MaxRate, error) {
	t.Helper()
	theOne := oneRequest(t)
	o, err := ParseObjective(goal)
	if err != nil {
		t.Fatal(err)
	}
	return findMax(t.Context(), Options{Scenario: theOne}, o, cfg, nil, q.run)
}

func oneRequest(t *testing.T) *Scenario {
	t.Helper()
	return mustParse(t, "version: 1\nname: one\nsessions:\n  - steps:\n      - {request: GET /}\n")
}

func TestFindMaxOnANoisyService(t *testing.T) {
	for name, c := range map[string]struct {
		mu, noise, start float64
		limit            time.Duration
	}{
		"fast, estimate":          {10_000, 0.25, 0, 20 * time.Millisecond},
		"middle, estimate":        {1000, 0.2, 0, 50 * time.Millisecond},
		"slow, estimate":          {50, 0.1, 0, 500 * time.Millisecond},
		"start right":             {1000, 0.2, 900, 50 * time.Millisecond},
		"start far below":         {1000, 0.2, 10, 50 * time.Millisecond},
		"start far above":         {1000, 0.2, 50_000, 50 * time.Millisecond},
		"without noise":           {777, 0, 0, 100 * time.Millisecond},
		"limit far from the knee": {1000, 0.03, 0, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			const seeds = 200 // each the same in every run; 10 misses are allowed
			within, most, total, confirmed := 0, 0, 0, 0
			for seed := range uint64(seeds) {
				q := &queue{mu: c.mu, noise: c.noise, rng: rand.New(rand.NewPCG(seed, 7))}
				m, err := findIn(t, q, "p99<"+c.limit.String(), FindMaxOptions{Start: c.start})
				if err != nil {
					t.Fatal(err)
				}
				if off := m.PerSecond/q.capacity(c.limit) - 1; math.Abs(off) <= 0.05 {
					within++
				}
				if m.Confirmed {
					confirmed++
				}
				most, total = max(most, len(m.Probes)), total+len(m.Probes)
			}
			t.Logf("%d of %d within 5 %%, %d confirmed, probes mean %.1f, most %d", within, seeds, confirmed, float64(total)/seeds, most)
			if within < seeds*95/100 || most > 12 {
				t.Errorf("%d of %d within 5 %%, want 95 %%; most probes %d, want at most 12", within, seeds, most)
			}
		})
	}
}

// The search on a queue that is played request by request (Lindley's
// recursion), so that the noise is that of real short windows.
func TestFindMaxOnAPlayedQueue(t *testing.T) {
	const mu, seeds, limit = 1000.0, 60, 50 * time.Millisecond
	truth := (&queue{mu: mu}).capacity(limit)
	within := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		play := func(_ context.Context, o Options) (*Result, error) {
			if o.Arrivals == nil {
				n := int64(mu * o.Window.Seconds())
				return &Result{Requests: n, Succeeded: n, RequestsPerSecond: mu}, nil
			}
			rate, wait, n := o.Arrivals.Stages[0].From, 0.0, 0
			var all []float64
			for at := -o.Warmup.Seconds(); at < o.Window.Seconds(); n++ {
				gap := rng.ExpFloat64() / rate
				took := wait + rng.ExpFloat64()/mu
				if wait = max(0, took-gap); at >= 0 {
					all = append(all, took)
				}
				at += gap
			}
			slices.Sort(all)
			at := func(p float64) time.Duration { return time.Duration(all[int(p*float64(len(all)-1))] * 1e9) }
			return &Result{Requests: int64(len(all)), Latency: Percentiles{P50: at(.5), P99: at(.99), Max: at(1)},
				Open: &Open{Planned: int64(len(all)), Begun: int64(len(all))}}, nil
		}
		goal, err := ParseObjective("p99<" + limit.String())
		if err != nil {
			t.Fatal(err)
		}
		m, err := findMax(t.Context(), Options{Scenario: oneRequest(t)}, goal, FindMaxOptions{Probe: 5 * time.Second}, nil, play)
		if err != nil || len(m.Probes) > 12 {
			t.Fatalf("%v, %d probes", err, len(m.Probes))
		}
		if math.Abs(m.PerSecond/truth-1) <= 0.05 {
			within++
		}
	}
	t.Logf("%d of %d within 5 %%", within, seeds)
	if within < seeds*95/100 {
		t.Errorf("%d of %d within 5 %%", within, seeds)
	}
}

func TestFindMaxSaysWhatLimitedIt(t *testing.T) {
	t.Run("generator", func(t *testing.T) {
		q := &queue{mu: 10_000, limit: 3000, rng: rand.New(rand.NewPCG(1, 1))}
		m, err := findIn(t, q, "p99<20ms", FindMaxOptions{Start: 500})
		if err != nil || m.PerSecond > 3000 || m.PerSecond < 2700 || !m.Confirmed || !strings.Contains(m.Limited, "generator") || m.Broke != "" {
			t.Errorf("%+v, %v", m, err)
		}
		for _, p := range m.Probes {
			if p.good() && p.Rate > 3000 {
				t.Errorf("a probe of a saturated generator counts: %+v", p)
			}
		}
	})
	t.Run("never too much", func(t *testing.T) {
		q := &queue{mu: 1e12, rng: rand.New(rand.NewPCG(1, 1))}
		m, err := findIn(t, q, "p99<1s", FindMaxOptions{Start: 10})
		if err != nil || m.Limited == "" || m.PerSecond == 0 || !m.Confirmed || m.Above != 0 {
			t.Errorf("%+v, %v", m, err)
		}
	})
	t.Run("nothing meets it", func(t *testing.T) {
		q := &queue{mu: 1000, rng: rand.New(rand.NewPCG(1, 1))}
		m, err := findIn(t, q, "p99<1ms", FindMaxOptions{})
		if _, ok := m.Highest(); err != nil || ok || m.PerSecond != 0 || m.Confirmed || !strings.Contains(m.Broke, "p99 was") || len(m.Probes) > 12 {
			t.Errorf("%+v, %v", m, err)
		}
	})
	t.Run("time", func(t *testing.T) {
		q := &queue{mu: 1000, noise: .2, rng: rand.New(rand.NewPCG(1, 1))}
		m, err := findIn(t, q, "p99<50ms", FindMaxOptions{Start: 1, MaxTime: 16 * time.Second})
		total := time.Duration(0)
		for _, o := range q.runs {
			total += o.Window + o.Warmup
		}
		if err != nil || total > 16*time.Second || !strings.Contains(m.Limited, "16s") || !m.Confirmed {
			t.Errorf("%s of load: %+v, %v", total, m, err)
		}
	})
}

// With a limit on errors alone, a queue that grows must still fail.
func TestFindMaxAsksThatTheServiceKeepsUp(t *testing.T) {
	q := &queue{mu: 1000, rng: rand.New(rand.NewPCG(1, 1))}
	m, err := findIn(t, q, "errors<1%", FindMaxOptions{})
	if err != nil || m.PerSecond > 1050 || m.PerSecond < 950 || !strings.Contains(m.Broke, "keep up") {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestFindMaxEndsWithErrors(t *testing.T) {
	goal, _ := ParseObjective("p99<50ms")
	stop := errors.New("stopped")
	for name, c := range map[string]struct {
		run  func(context.Context, Options) (*Result, error)
		cfg  FindMaxOptions
		want string
	}{
		"run fails": {func(context.Context, Options) (*Result, error) { return nil, stop }, FindMaxOptions{}, "stopped"},
		"no answer": {func(context.Context, Options) (*Result, error) {
			return &Result{Samples: []Mismatch{{Got: "refused"}}}, nil
		}, FindMaxOptions{}, "refused"},
		"not planned": {func(context.Context, Options) (*Result, error) {
			return &Result{Requests: 1, Succeeded: 1, RequestsPerSecond: 9}, nil
		}, FindMaxOptions{}, "planned no arrivals"},
		"bad start":    {nil, FindMaxOptions{Start: math.NaN()}, "the start is"},
		"bad bound":    {nil, FindMaxOptions{Probe: -1}, "below 0"},
		"bad accuracy": {nil, FindMaxOptions{Precision: 7}, "precision"},
	} {
		_, err := findMax(t.Context(), Options{Scenario: oneRequest(t)}, goal, c.cfg, nil, c.run)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := FindMax(t.Context(), Options{Scenario: oneRequest(t)}, Objective{}, FindMaxOptions{}, nil); err == nil {
		t.Error("an empty objective is no error")
	}
}

// Each probe gets its rate, and users by it unless they are given.
func TestFindMaxSetsOptions(t *testing.T) {
	resets := 0
	q := &queue{mu: 10_000, rng: rand.New(rand.NewPCG(1, 1))}
	goal, _ := ParseObjective("p99<20ms")
	var seen []Probe
	m, err := findMax(t.Context(), Options{Scenario: oneRequest(t), Reset: func(context.Context) error { resets++; return nil }},
		goal, FindMaxOptions{Random: true}, func(p Probe) { seen = append(seen, p) }, q.run)
	if err != nil || len(seen) != len(m.Probes) || resets != len(seen) {
		t.Fatalf("%v: %d seen, %d probes, %d resets", err, len(seen), len(m.Probes), resets)
	}
	for i, o := range q.runs[1:] {
		if rate := o.Arrivals.Stages[0].From; rate != seen[i+1].Rate || o.Workload != UsersFor(rate) || !o.Arrivals.Random {
			t.Errorf("probe %d: %+v with %d users, told as %+v", i+1, o.Arrivals, o.Workload, seen[i+1])
		}
	}
}
