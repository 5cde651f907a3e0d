package experiment

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// paced makes runs of a service whose seconds vary by within and whose runs by
// between (standard deviations, parts of the whole).
type paced struct {
	rng             *rand.Rand
	rate            float64
	within, between float64
}

const paceTick = 100 * time.Millisecond

func (b *paced) run(window time.Duration, factor float64) (ticks []int64, score float64) {
	level := b.rate * factor * math.Exp(b.between*b.rng.NormFloat64())
	for range int(window / paceTick) {
		n := int64(math.Round(level * paceTick.Seconds() * (1 + b.within/math.Sqrt(paceTick.Seconds())*b.rng.NormFloat64())))
		ticks, score = append(ticks, n), score+float64(n)
	}
	return ticks, score / window.Seconds()
}

// experiment notes pairs as the switcher does.
func (b *paced) experiment(p *Pace, pairs int, window, cost time.Duration, factor float64) {
	var samples []Sample
	for i := range pairs {
		for _, side := range []Side{Baseline, Candidate} {
			f := 1.0
			if side == Candidate {
				f = factor
			}
			ticks, score := b.run(window, f)
			p.NoteRun(ticks, paceTick, window, cost, side == Candidate)
			samples = append(samples, Sample{Side: side, Pair: i + 1, Score: score})
		}
	}
	p.NoteExperiment(samples, window)
}

func TestPaceIsKalibera(t *testing.T) {
	for _, c := range []struct {
		name            string
		within, between float64
		rate            float64
		cost            time.Duration
		want            time.Duration // about √(s·a/b)
	}{
		{"runs differ more than their seconds", 0.02, 0.05, 5000, 2 * time.Second, time.Second},
		{"in between", 0.10, 0.05, 5000, 2 * time.Second, 2800 * time.Millisecond},
		{"a dear switch is worth longer runs", 0.10, 0.05, 5000, 8 * time.Second, 5600 * time.Millisecond},
		{"runs that do not differ", 0.10, 0, 5000, 2 * time.Second, 10 * time.Second},
		{"few requests need time for their percentiles", 0.02, 0.05, 50, 2 * time.Second, 4 * time.Second},
		{"but never more than the scenario's", 0.02, 0.05, 5, 2 * time.Second, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &paced{rng: rand.New(rand.NewPCG(1, 2)), rate: c.rate, within: c.within, between: c.between}
			var p Pace
			if p.Begin(c.rate, 8, 10*time.Second) || p.Window != 0 {
				t.Fatal("chosen of nothing")
			}
			b.experiment(&p, 60, 10*time.Second, c.cost, 1.1)
			if !p.Begin(c.rate, 8, 10*time.Second) {
				t.Fatalf("nothing was chosen: %+v", p)
			}
			if r := p.Window.Seconds() / c.want.Seconds(); r < 0.7 || r > 1.4 || p.Window > 10*time.Second || p.Why == "" {
				t.Errorf("window %s, want about %s: %s", p.Window, c.want, p.Why)
			}
		})
	}
}

// The window that is chosen at 10 s is about the one that is chosen at 3 s: the
// spread within a run is taken off.
func TestPaceTakesTheWindowOff(t *testing.T) {
	b := &paced{rng: rand.New(rand.NewPCG(3, 4)), rate: 5000, within: 0.10, between: 0.05}
	var short, long Pace
	b.experiment(&short, 100, 3*time.Second, 2*time.Second, 1)
	b.experiment(&long, 100, 10*time.Second, 2*time.Second, 1)
	short.Begin(5000, 8, 10*time.Second)
	long.Begin(5000, 8, 10*time.Second)
	if r := short.Window.Seconds() / long.Window.Seconds(); r < 0.6 || r > 1.7 {
		t.Errorf("%s and %s", short.Window, long.Window)
	}
}

func TestPaceHolds(t *testing.T) {
	const most = 10 * time.Second
	b := &paced{rng: rand.New(rand.NewPCG(5, 6)), rate: 1000, within: 0.10, between: 0.05}
	var p Pace
	// Two runs as found: the scenario's duration holds.
	p.NoteNeighbours(1000, 1010, most)
	if p.Begin(1000, 8, most) || p.Window != 0 {
		t.Fatalf("chosen after two runs: %+v", p)
	}
	b.experiment(&p, 3, most, 2*time.Second, 2)
	if !p.Begin(1000, 8, most) {
		t.Fatalf("three pairs and two runs are enough: %+v", p)
	}
	first := p.Window
	b.experiment(&p, 2, first, 2*time.Second, 1)
	if p.Begin(1400, 8, most) || p.Window != first {
		t.Errorf("chosen again after two more pairs: %s, %s", first, p.Window)
	}
	b.experiment(&p, 4, first, 2*time.Second, 1.6)
	last := p.Last
	if p.Begin(1600, 8, most); p.Known != last || p.Score != 1600 {
		t.Errorf("what was known of the slow service is not forgotten: %+v", p)
	}
	if p.Window == 0 {
		t.Error("four pairs with the new one are enough")
	}
	if !p.Begin(1600, 16, most) || p.Window != 0 || p.Known != (Noise{}) || p.Workload != 16 {
		t.Errorf("other users: %+v", p)
	}
}

// What the slow service varied by does not shorten the windows of the fast one
// that took its place.
func TestPaceForgetsTheBaseline(t *testing.T) {
	const window = 2 * time.Second
	rng := rand.New(rand.NewPCG(9, 10))
	slow := &paced{rng: rng, rate: 30, within: 0.3, between: 0.4}
	fast := &paced{rng: rng, rate: 3000, within: 0.08, between: 0.02}
	var p Pace
	p.Begin(30, 8, 5*time.Second)
	var samples []Sample
	for i := range 8 {
		for _, side := range []Side{Baseline, Candidate} {
			b := slow
			if side == Candidate {
				b = fast
			}
			ticks, score := b.run(window, 1)
			p.NoteRun(ticks, paceTick, window, 3*time.Second, side == Candidate)
			samples = append(samples, Sample{Side: side, Pair: i + 1, Score: score})
		}
	}
	p.NoteExperiment(samples, window)
	if p.Begin(3000, 8, 5*time.Second); p.Window < 3*time.Second {
		t.Errorf("windows of %s: %s", p.Window, p.Why)
	}
}

// A session that is taken up again has the same windows, and the same data give
// the same choice.
func TestPaceIsStored(t *testing.T) {
	built := func() Pace {
		b := &paced{rng: rand.New(rand.NewPCG(7, 8)), rate: 1000, within: 0.10, between: 0.05}
		var p Pace
		p.Begin(1000, 8, 5*time.Second)
		b.experiment(&p, 5, 5*time.Second, 2*time.Second, 1)
		p.Begin(1000, 8, 5*time.Second)
		return p
	}
	p := built()
	if again := built(); p != again || !strings.Contains(p.Why, "s beside its window") {
		t.Errorf("%+v\n%+v", p, again)
	}
	doc, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Pace
	if err := json.Unmarshal(doc, &back); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("%+v %v", back, err)
	}
	if back.Begin(1000, 8, 5*time.Second) || back.Window != p.Window {
		t.Errorf("chosen anew: %s, %s", p.Window, back.Window)
	}
}

// Runs that are too short to tell how they vary tell nothing, not even a rate;
// few answers are a rate all the same.
func TestWithinShortRuns(t *testing.T) {
	for _, c := range []struct {
		ticks            []int64
		a, freedom, rate float64
	}{
		{nil, 0, 0, 0},
		{[]int64{7}, 0, 0, 0},
		{[]int64{0, 0, 0, 0}, 0, 0, 0},
		{[]int64{1, 0, 0, 1}, 0, 1, 5},    // per second: 1 in two ticks of 0.1 s
		{[]int64{1, 1}, 0, 1, 10},         // batches of one
		{[]int64{3, 0, 1, 0}, 0.1, 1, 10}, // 2 × 0.5² by 1 degree × 0.2 s
	} {
		a, freedom, rate := withinRun(c.ticks, 100*time.Millisecond)
		if math.Abs(a-c.a) > 1e-9 || freedom != c.freedom || math.Abs(rate-c.rate) > 1e-9 {
			t.Errorf("%v: %v, %v, %v, want %v, %v, %v", c.ticks, a, freedom, rate, c.a, c.freedom, c.rate)
		}
	}
}
