package capacity

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/load"
	"kasoku/internal/stat"
)

// law that tables are made of: 100/s each, contention 5 %, coherence 0.2 %.
var law = stat.Scaling{Lambda: 100, Sigma: 0.05, Kappa: 0.002}

// hosts makes levels of the law, each twice, with 0.3 % of noise.
func hosts(numbers ...int) *Measured {
	rng := rand.New(rand.NewPCG(3, 4))
	m := &Measured{Axis: Hosts}
	for _, n := range numbers {
		for range 2 {
			m.Levels = append(m.Levels, Level{N: n, PerSecond: law.At(float64(n)) * math.Exp(0.003*rng.NormFloat64()), Source: fmt.Sprintf("%d hosts", n)})
		}
	}
	return m
}

func objective(t *testing.T, text string) load.Objective {
	t.Helper()
	goal, err := load.ParseObjective(text)
	if err != nil {
		t.Fatal(err)
	}
	return goal
}

func plan(t *testing.T, m *Measured, q Question) *Plan {
	t.Helper()
	if q.Confidence == 0 {
		q.Confidence = DefaultConfidence
	}
	p, err := Make(m, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func warned(p *Plan, text string) bool {
	return slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestHostsNeeded(t *testing.T) {
	for _, c := range []struct {
		name     string
		levels   []int
		rate     float64
		headroom float64
		want     int
		warning  string // "": none
	}{
		{"within what was measured", []int{1, 2, 3, 4, 6, 8}, 330, 0, 4, ""},
		{"the headroom counts: 330/0.7 = 471", []int{1, 2, 3, 4, 6, 8}, 330, 0.3, 7, ""},
		{"one is enough", []int{1, 2, 3, 4, 6, 8}, 40, 0.3, 1, ""},
		{"a little beyond", []int{1, 2, 3, 4, 6, 8}, 620, 0, 11, "hosts were not measured, only up to 8"},
		{"far beyond", []int{1, 2, 4}, 600, 0, 10, "is more than twice the 4 hosts"},
		{"above the peak of 740/s", []int{1, 2, 3, 4, 6, 8}, 2000, 0, 0, "no number of hosts carries it by the curve (its peak is"},
	} {
		p := plan(t, hosts(c.levels...), Question{Rate: c.rate, Headroom: c.headroom})
		if exact := law.Needed(c.rate / (1 - c.headroom)); c.want > 0 && int(math.Ceil(exact)) != c.want {
			t.Fatalf("%s: the law itself says %g", c.name, exact)
		}
		off := 0 // of an extrapolation
		if c.want > 8 {
			off = 2
		}
		if got := p.Need.N; got < c.want-off || got > c.want+off {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if i := p.Need.Interval; c.want > 0 && (i.Low > float64(c.want) || !i.Open && i.High < float64(c.want)) {
			t.Errorf("%s: interval %+v", c.name, i)
		}
		if c.warning == "" && len(p.Warnings) > 0 || !warned(p, c.warning) && c.warning != "" {
			t.Errorf("%s: warnings %q, want %q", c.name, p.Warnings, c.warning)
		}
	}
}

// What the law and the largest level are is told, and the whole is JSON.
func TestPlanTells(t *testing.T) {
	p := plan(t, hosts(1, 2, 3, 4, 6, 8), Question{Rate: 330})
	l := p.Law
	if l == nil || l.Measurements != 12 || l.Levels != 6 || l.DF != 9 || !(l.SigmaInterval.Low <= 0.05 && 0.05 <= l.SigmaInterval.High) || l.Residual > 0.03 {
		t.Errorf("law %+v", l)
	}
	if c := p.Check; c == nil || c.N != 8 || !c.Held || math.Abs(c.Predicted/law.At(8)-1) > 0.1 {
		t.Errorf("check %+v", c)
	}
	var ns []int
	for _, c := range p.Curve {
		ns = append(ns, c.N)
	}
	if !slices.IsSorted(ns) || !slices.Contains(ns, p.Need.N) || !slices.Contains(ns, 8) {
		t.Errorf("curve of %v", ns)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"sigma":0.0`) {
		t.Errorf("%v: %s", err, text)
	}
	if p = plan(t, hosts(1, 2, 4), Question{}); p.Need != nil || p.Rate != 0 {
		t.Errorf("nothing was asked: %+v", p.Need)
	}
}

// Every reason to doubt the answer is said.
func TestDoubts(t *testing.T) {
	level := func(n int, x float64) Level { return Level{N: n, PerSecond: x, Source: fmt.Sprintf("%d", n)} }
	for _, c := range []struct {
		name   string
		levels []Level
		rate   float64
		want   string
	}{
		{"one level", []Level{level(2, 200)}, 500, "each further one brings as much is taken for granted"},
		{"two levels", []Level{level(1, 100), level(2, 180)}, 150, "cannot show whether more make it slower"},
		{"three levels", []Level{level(1, 100), level(2, 180), level(3, 250)}, 150, "fit the law's three parameters whatever they are"},
		{"as many parameters as measurements", []Level{level(1, 100), level(2, 180), level(3, 250)}, 150, "there are no intervals"},
		{"a shape that is not the law's", []Level{level(1, 100), level(2, 90), level(3, 310), level(4, 200), level(5, 420)}, 150, "the fit is poor"},
		{"more than its share", []Level{level(1, 50), level(2, 200), level(3, 290), level(4, 380)}, 150, "from 1 to 2 hosts throughput grew by more than their number"},
		{"a wall that the others do not show", []Level{level(1, 100), level(2, 199), level(3, 298), level(4, 397), level(5, 495), level(10, 520)}, 450, "is not to be followed beyond"},
		{"an end that is not known", []Level{level(1, 100), level(2, 170), level(3, 240), level(4, 280)}, 300, "the interval has no upper end"},
	} {
		p := plan(t, &Measured{Axis: Hosts, Levels: c.levels}, Question{Rate: c.rate})
		if !warned(p, c.want) {
			t.Errorf("%s: %q, want %q", c.name, p.Warnings, c.want)
		}
	}
}

// A single level is a division; that is right for what it is.
func TestOneLevelIsADivision(t *testing.T) {
	p := plan(t, &Measured{Axis: Hosts, Levels: []Level{{N: 2, PerSecond: 200}}}, Question{Rate: 500, Headroom: 0.5})
	if p.Need.N != 10 || !p.Need.Interval.Open || p.Law != nil {
		t.Errorf("got %+v, law %+v", p.Need, p.Law)
	}
}

// Levels that break the objective do not count, nor loads of the same hosts
// that carried less.
func TestObjectiveLeavesOut(t *testing.T) {
	m := &Measured{Axis: Hosts}
	for n := 1; n <= 4; n++ {
		for _, load := range []struct {
			users int
			share float64
			p95   time.Duration
		}{{4, 0.5, 50 * time.Millisecond}, {8, 0.8, 200 * time.Millisecond}, {16, 1, 900 * time.Millisecond}} {
			m.Levels = append(m.Levels, Level{N: n, Users: load.users * n, PerSecond: load.share * law.At(float64(n)),
				Figures: Figures{"p95": float64(load.p95)}, Source: "x"})
		}
	}
	p := plan(t, m, Question{Rate: 200, Goal: objective(t, "p95<300ms")})
	if len(p.Levels) != 4 || p.Levels[0].Users != 8 || len(p.Dropped) != 8 {
		t.Fatalf("%d levels, %d dropped: %+v", len(p.Levels), len(p.Dropped), p.Levels)
	}
	if want := int(math.Ceil(law.Needed(200 / 0.8))); p.Need.N != want {
		t.Errorf("%d hosts, want %d", p.Need.N, want)
	}
	if !warned(p, "whether answers were right is not judged") {
		t.Errorf("warnings %q", p.Warnings)
	}
	// 24 users of 3 hosts do 0.8·X(3), so each the most at one host: 0.8·100/8.
	if p = plan(t, m, Question{Users: 20, Goal: objective(t, "p95<300ms")}); math.Abs(p.Rate-200) > 1e-6 {
		t.Errorf("20 users ask for %g/s, want 200", p.Rate)
	}
	if _, err := Make(m, Question{Goal: objective(t, "p95<10ms"), Confidence: 0.9}); !errors.Is(err, ErrNotKept) {
		t.Errorf("got %v", err)
	}
	if _, err := Make(m, Question{Goal: objective(t, "p99<10ms"), Confidence: 0.9}); err == nil || !strings.Contains(err.Error(), "add a column p99") {
		t.Errorf("got %v", err)
	}
}

// "latency" is what the only condition on latency is about.
func TestTheOnlyLatency(t *testing.T) {
	m := &Measured{Axis: Hosts, Levels: []Level{{N: 1, PerSecond: 100, Figures: Figures{Latency: float64(time.Second)}}, {N: 2, PerSecond: 180, Figures: Figures{Latency: 1e6}}}}
	if p := plan(t, m, Question{Goal: objective(t, "p90<300ms")}); len(p.Levels) != 1 || p.Levels[0].N != 2 {
		t.Errorf("got %+v", p.Levels)
	}
	if _, err := Make(m, Question{Goal: objective(t, "p90<300ms,p99<1s"), Confidence: 0.9}); err == nil {
		t.Error("two conditions shared one latency")
	}
}

// users makes a ladder of the closed law X = N/(R(N)) with p95 three times the
// mean: 200/s at most (one server of 5 ms), answers in at least 20 ms.
func users(numbers ...int) *Measured {
	m := &Measured{Axis: Users}
	rng := rand.New(rand.NewPCG(8, 9))
	for _, n := range numbers {
		for range 2 {
			l := stat.Scaling{Lambda: 50, Sigma: 0.2, Kappa: 0.0005}
			x := l.At(float64(n)) * math.Exp(0.01*rng.NormFloat64())
			m.Levels = append(m.Levels, Level{N: n, Users: n, PerSecond: x, Source: fmt.Sprintf("%d users", n),
				Figures: Figures{"p95": 3 * float64(n) / x * 1e9, "errors": 0}})
		}
	}
	return m
}

func TestUsersNeedHosts(t *testing.T) {
	// One host does 50/(1+0.2·(N−1)+…): 8 users get 163/s with p95 147 ms, 16
	// 194/s with 247 ms, 32 208/s with 463 ms.
	m := users(1, 2, 4, 8, 16, 32)
	p := plan(t, m, Question{Rate: 1000, Goal: objective(t, "p95<300ms")})
	op := p.Operating
	if op.Users < 17 || op.Users > 21 || !strings.Contains(op.Limit, "p95<300ms") {
		t.Fatalf("operating %+v", op)
	}
	if want := int(math.Ceil(1000 / op.PerSecond)); p.Need.N != want || p.Need.Interval.Open || p.Need.Interval.Low > float64(want) || p.Need.Interval.High < float64(want) {
		t.Errorf("need %+v, want %d", p.Need, want)
	}
	if !warned(p, "each further host brings as much as the first is taken for granted") {
		t.Errorf("warnings %q", p.Warnings)
	}
	// Twice as many users as one host carries need two.
	if p = plan(t, m, Question{Users: 2 * op.Users, Goal: objective(t, "p95<300ms")}); p.Need.N != 2 {
		t.Errorf("%d users need %d hosts", 2*op.Users, p.Need.N)
	}
	// Half of the most that they do is left free.
	p = plan(t, m, Question{Rate: 80, Headroom: 0.5})
	if most := p.Law.PeakPerSecond; p.Operating.PerSecond > 0.5*most || p.Operating.PerSecond < 0.3*most || p.Need.N != 1 {
		t.Errorf("operating %+v, need %+v, most %g", p.Operating, p.Need, most)
	}
	if _, err := Make(m, Question{Goal: objective(t, "p95<10ms"), Confidence: 0.9}); !errors.Is(err, ErrNotKept) {
		t.Errorf("got %v", err)
	}
	if p = plan(t, users(1, 2, 4), Question{Rate: 100, Goal: objective(t, "p95<1s")}); !warned(p, "the objective was kept up to 4 users") || !warned(p, "throughput still grew") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

func TestWrongQuestions(t *testing.T) {
	for _, q := range []Question{{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Rate: 1, Users: 1}, {Headroom: 1}, {Headroom: -0.1}, {Confidence: 0.2}} {
		if q.Confidence == 0 {
			q.Confidence = 0.9
		}
		if _, err := Make(hosts(1, 2, 4), q); err == nil {
			t.Errorf("%+v gave no error", q)
		}
	}
	if _, err := Make(&Measured{Axis: Hosts}, Question{Confidence: 0.9}); err == nil {
		t.Error("no level gave no error")
	}
	if _, err := Make(hosts(1, 2, 4), Question{Users: 10, Confidence: 0.9}); err == nil || !strings.Contains(err.Error(), "column users") {
		t.Errorf("users of levels that know none: %v", err)
	}
}

// Whatever was measured, a larger load never needs fewer, what is needed lies in
// its interval, and the whole can be written as JSON.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Measured{Axis: rapid.SampledFrom([]Axis{Hosts, Workers, Users}).Draw(t, "axis"), Hosts: rapid.IntRange(0, 3).Draw(t, "hosts")}
		for range rapid.IntRange(1, 8).Draw(t, "levels") {
			m.Levels = append(m.Levels, Level{N: rapid.IntRange(1, 40).Draw(t, "n"), PerSecond: rapid.Float64Range(1, 1e4).Draw(t, "x")})
		}
		q := Question{Rate: rapid.Float64Range(0.1, 1e5).Draw(t, "rate"), Headroom: rapid.Float64Range(0, 0.9).Draw(t, "headroom"), Confidence: 0.9}
		before := 0
		for _, factor := range []float64{1, 1.5, 4} {
			q := q
			q.Rate *= factor
			p, err := Make(m, q)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(p); err != nil {
				t.Fatal(err)
			}
			n := p.Need
			if n.N == 0 {
				before = math.MaxInt
				continue
			}
			if n.N < before {
				t.Fatalf("%g/s needs %d, less of it %d", q.Rate, n.N, before)
			}
			if float64(n.N) < n.Interval.Low || !n.Interval.Open && float64(n.N) > n.Interval.High {
				t.Fatalf("%d lies outside of %+v", n.N, n.Interval)
			}
			before = n.N
		}
	})
}
