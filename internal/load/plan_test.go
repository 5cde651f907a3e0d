package load

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// begunMeter is a meter whose window began at its base.
func begunMeter(window time.Duration) *meter {
	m := newMeter(1, 1, window, 0, true)
	m.begin.Store(0)
	return m
}

func arrivalsUntil(p *plan, end time.Duration) []time.Duration {
	var out []time.Duration
	for {
		a, ok := p.take()
		if !ok || a.at >= end {
			return out
		}
		out = append(out, a.at)
	}
}

func TestPlanConstant(t *testing.T) {
	got := arrivalsUntil(newPlan(begunMeter(time.Second), ConstantRate(1000), 1), time.Second)
	if len(got) != 1000 || got[0] != 500*time.Microsecond || got[999].Round(time.Microsecond) != 999500*time.Microsecond {
		t.Errorf("%d arrivals, first %s", len(got), got[0])
	}
}

// Whatever the stages are, the number of arrivals up to any time is the
// integral of the rate, to within one.
func TestPlanStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "stages")
		a := &Arrivals{}
		expected, total := 0.0, time.Duration(0)
		for range n {
			s := Stage{From: rapid.Float64Range(0, 3000).Draw(t, "from"), To: rapid.Float64Range(0, 3000).Draw(t, "to"),
				For: time.Duration(rapid.Int64Range(1e6, 2e9).Draw(t, "for"))}
			a.Stages = append(a.Stages, s)
			expected += s.expected()
			total += s.For
		}
		got := arrivalsUntil(newPlan(begunMeter(total), a, 1), total)
		if math.Abs(float64(len(got))-expected) > 1.001 {
			t.Fatalf("%d arrivals, want %.1f: %+v", len(got), expected, a.Stages)
		}
		for i := 1; i < len(got); i++ {
			if got[i] < got[i-1] {
				t.Fatalf("arrival %d at %s comes after %s", i, got[i], got[i-1])
			}
		}
	})
}

// Poisson arrivals: as many as expected, and the variance of the counts per
// second is their mean. Four standard deviations for both; the seed is fixed.
func TestPlanPoisson(t *testing.T) {
	const seconds, rate = 400, 100
	a := ConstantRate(rate)
	a.Random = true
	got := arrivalsUntil(newPlan(begunMeter(seconds*time.Second), a, 7), seconds*time.Second)
	if d := math.Abs(float64(len(got)) - seconds*rate); d > 4*math.Sqrt(seconds*rate) {
		t.Errorf("%d arrivals, want about %d", len(got), seconds*rate)
	}
	var counts [seconds]float64
	for _, at := range got {
		counts[int(at/time.Second)]++
	}
	mean, variance := float64(len(got))/seconds, 0.0
	for _, c := range counts {
		variance += (c - mean) * (c - mean) / (seconds - 1)
	}
	// The variance of a sample variance of Poisson counts: (2μ²+μ)/n roughly.
	if d := math.Abs(variance - mean); d > 4*math.Sqrt((2*mean*mean+mean)/seconds) {
		t.Errorf("variance %.1f of counts with mean %.1f", variance, mean)
	}
	again := arrivalsUntil(newPlan(begunMeter(seconds*time.Second), a, 7), seconds*time.Second)
	other := arrivalsUntil(newPlan(begunMeter(seconds*time.Second), a, 8), seconds*time.Second)
	if len(again) != len(got) || again[1000] != got[1000] || other[1000] == got[1000] {
		t.Error("the seed does not decide the plan")
	}
}

func TestPlanEndsWithZeroRate(t *testing.T) {
	a := &Arrivals{Stages: []Stage{{From: 100, To: 0, For: time.Second}}}
	if got := arrivalsUntil(newPlan(begunMeter(time.Hour), a, 1), time.Hour); len(got) < 49 || len(got) > 50 {
		t.Errorf("%d arrivals, want 50", len(got))
	}
}

// One wake-up begins all that lie within the slack, and sessions further
// apart begin at their own time.
func TestPlanWake(t *testing.T) {
	for _, tt := range []struct {
		rate  float64
		slack time.Duration
		want  time.Duration
	}{
		{5000, time.Millisecond, 1100 * time.Microsecond},
		{500, time.Millisecond, time.Millisecond},
		{5000, 0, 100 * time.Microsecond},
	} {
		got, ok := newPlan(begunMeter(time.Second), ConstantRate(tt.rate), 1).wake(tt.slack)
		if !ok || got.Round(time.Microsecond) != tt.want {
			t.Errorf("rate %v, slack %s: %s, want %s", tt.rate, tt.slack, got, tt.want)
		}
	}
}

// In the warm-up the first rate holds; when the window begins its own plan
// does, from its begin on.
func TestPlanMovesWithTheWindow(t *testing.T) {
	m := newMeter(1, 1, time.Second, 0, true)
	p := newPlan(m, &Arrivals{Stages: []Stage{{From: 10, To: 1000, For: time.Second}}}, 1)
	if a, ok := p.take(); !ok || a.at != 50*time.Millisecond || !a.warm {
		t.Errorf("warm-up: %+v", a)
	}
	m.begin.Store(int64(5 * time.Second))
	if a, ok := p.take(); !ok || a.at < 5*time.Second || a.at > 5*time.Second+100*time.Millisecond || a.warm {
		t.Errorf("window: %+v", a)
	}
	if n := p.planned(0); n != 505 {
		t.Errorf("%d planned, want 505", n)
	}
}

func TestParseArrivals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("good.csv", "at,session\n1.5,s\n0.5,s\n")
	write("plain.csv", "at\n2\n")
	write("bad.csv", "at,session\n1,nobody\n")
	write("word.csv", "at\nsoon\n")
	write("none.csv", "time\n1\n")
	scenario := func(arrivals string) (*Scenario, error) {
		return Parse(filepath.Join(dir, "s.yaml"), []byte("version: 1\nname: t\narrivals: "+arrivals+"\nsessions:\n- {name: s, steps: [{request: GET /}]}\n"))
	}
	s, err := scenario("{rate: 200, random: true, slack: 0s}")
	if err != nil || s.Arrivals.Stages[0] != (Stage{From: 200, To: 200}) || !s.Arrivals.Random || s.Arrivals.slack() != 0 {
		t.Errorf("%+v %v", s, err)
	}
	s, err = scenario("{stages: [{rate: 10, for: 1s}, {from: 10, to: 100, for: 2s}]}")
	if err != nil || len(s.Arrivals.Stages) != 2 || s.Arrivals.Stages[1] != (Stage{10, 100, 2 * time.Second}) || s.Arrivals.slack() != time.Millisecond {
		t.Errorf("%+v %v", s, err)
	}
	s, err = scenario("{recorded: good.csv, speed: 2}")
	if err != nil || len(s.Arrivals.Recorded) != 2 || s.Arrivals.Recorded[0] != (Recorded{250 * time.Millisecond, 0}) {
		t.Errorf("%+v %v", s, err)
	}
	if s, err = scenario("{recorded: plain.csv}"); err != nil || s.Arrivals.Recorded[0] != (Recorded{2 * time.Second, -1}) {
		t.Errorf("%+v %v", s, err)
	}
	for arrivals, want := range map[string]string{
		"{}":                            "needs one of rate",
		"{rate: 1, recorded: good.csv}": "needs one of rate",
		"{rate: 0}":                     "nothing would be sent",
		"{rate: -1}":                    "arrivals: rate",
		"{rate: 1, speed: 2}":           "speed is for recorded",
		"{stages: []}":                  "nothing would be sent",
		"{stages: [{rate: 5}]}":         "needs for",
		"{stages: [{rate: 5, from: 1, for: 1s}]}": "needs rate, or from and to",
		"{recorded: gone.csv}":                    "relative to the scenario's folder",
		"{recorded: bad.csv}":                     `there is no session "nobody"`,
		"{recorded: word.csv}":                    "write seconds since the begin",
		"{recorded: none.csv}":                    "no column at",
		"{rate: 5, slack: 2m}":                    "slack",
		"{rates: 5}":                              `did you mean "rate"`,
	} {
		if _, err := scenario(arrivals); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arrivals, err, want)
		}
	}
}
