package tune

import (
	"math"
	"slices"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/store"
)

// freshOutlook is that of a session that has learned nothing: runs of 4 s.
func freshOutlook() outlook {
	var l learned
	return l.outlook(4*time.Second, experiment.DefaultRule())
}

// planWith has a bound and changes that are taken on so.
func planWith(id string, bound, reach float64, acts ...change.Activation) remedy.Plan {
	p := remedy.Plan{ID: id, Remedy: id, Rule: id, Bound: bound, Reach: reach}
	for i, a := range acts {
		p.Changes = append(p.Changes, change.Change{Kind: change.KindVariable, Service: string(rune('a' + i)), Activate: a})
	}
	return p
}

// A bound far above noise takes the fewest pairs, one that cannot be shown ends
// for futility, one in between takes many.
func TestExpectedPairs(t *testing.T) {
	for _, c := range []struct {
		name        string
		gain, noise float64
		least, most int
	}{
		{"ten times as fast", math.Log(10), 0.07, 2, 2},
		{"twice as fast, little noise", math.Log(2), 0.03, 2, 2},
		{"twice as fast, much noise", math.Log(2), 0.2, 3, 6},
		{"a tenth", math.Log(1.1), 0.03, 5, 8},
		{"a third", math.Log(1.3), 0.15, 9, 20},
		{"in some ten minutes", 0.022, 0.05, 50, 80},
		{"less than can be shown", 0.0055, 0.05, 400, 400},
		{"nothing", 0, 0.05, nullPairs, nullPairs},
		{"far below the noise", 0.003, 0.07, nullPairs, nullPairs},
	} {
		o := freshOutlook()
		o.noise = c.noise
		if got := o.pairs(c.gain); got < c.least || got > c.most {
			t.Errorf("%s: %d pairs, want %d to %d", c.name, got, c.least, c.most)
		}
	}
	o, last := freshOutlook(), math.MaxInt
	for g := o.noise / 2; g < 3; g *= 1.1 { // what can be shown more easily is never dearer
		n := o.pairs(g)
		if n > last && last != nullPairs {
			t.Errorf("gain %.3f takes %d pairs, a smaller one %d", g, n, last)
		}
		last = n
	}
}

// Of two plans, which one comes first.
func TestPromiseOrders(t *testing.T) {
	search := planWith("search", 1.5, 0.5)
	search.Search = &remedy.Search{Values: []int{1, 2, 4, 8}, At: func(int) ([]change.Change, error) {
		return []change.Change{{Kind: change.KindFile, Service: "php", Activate: change.Restart}}, nil
	}}
	pages := planWith("pages", 1.5, 0.5, change.Reload)
	pages.Fresh = &planning.Fresh{MaxAge: time.Minute}
	slowIndex := planWith("index", 1.5, 0.5, change.None)
	slowIndex.Build = 5 * time.Minute
	workload := planWith("load", 1.5, 0.5)
	workload.Workload = 16
	learnedBad, bad := freshOutlook(), planWith("bad.x", 1.5, 0.5, change.Reload)
	learnedBad.shrink = map[string]float64{"bad": 0.2}
	for _, c := range []struct {
		name          string
		first, second remedy.Plan
		o             *outlook
	}{
		{"the larger bound", planWith("a", 3, 0.5, change.Reload), planWith("b", 1.5, 0.5, change.Reload), nil},
		{"the larger reach", planWith("a", 1.5, 0.8, change.Reload), planWith("b", 1.5, 0.3, change.Reload), nil},
		{"the quicker activation", planWith("a", 1.5, 0.5, change.Reload), planWith("b", 1.5, 0.5, change.Restart), nil},
		{"a variable before a reload", planWith("a", 1.5, 0.5, change.None), planWith("b", 1.5, 0.5, change.Reload), nil},
		{"one service before two", planWith("a", 1.5, 0.5, change.Restart), planWith("b", 1.5, 0.5, change.Restart, change.Restart), nil},
		{"a plain plan before a search", planWith("a", 1.5, 0.5, change.Restart), search, nil},
		{"a plain plan before another load", planWith("a", 1.5, 0.5, change.None), workload, nil},
		{"without pages to compare", planWith("a", 1.5, 0.5, change.Reload), pages, nil},
		{"an index that is built at once", planWith("a", 1.5, 0.5, change.None), slowIndex, nil},
		{"a slow index that brings much before a small thing", func() remedy.Plan { p := slowIndex; p.Bound, p.Reach = 50, 0.9; p.Build = 5 * time.Second; return p }(), planWith("b", 1.05, 0.5, change.None), nil},
		{"what takes nine tenths of a demand away before a bound that is five times as high", planWith("index", 10, 0.9, change.None), planWith("flush", 50, 0.3, change.None), nil},
		{"an index before an upgrade", planWith("index", 3, 0.9, change.None), planWith("upgrade", 12, 0.05, change.None), nil},
		{"a family that has kept its word", planWith("good.x", 1.5, 0.4, change.Reload), bad, &learnedBad},
	} {
		o := freshOutlook()
		if c.o != nil {
			o = *c.o
		}
		plans := []remedy.Plan{c.second, c.first}
		if o.order(plans); plans[0].ID != c.first.ID {
			t.Errorf("%s: %s first (%.4f against %.4f a minute)", c.name, plans[0].ID, o.promise(c.first), o.promise(c.second))
		}
	}
}

// Another load comes by its promise where it costs little of the time left, and after all
// that changes the service where runs are long.
func TestDearLoadsComeLast(t *testing.T) {
	load := planWith("load", 3, 0.9)
	load.Workload = 16
	small := planWith("small", 1.2, 0.3, change.Restart)
	for run, first := range map[time.Duration]string{time.Second: load.ID, 36 * time.Second: small.ID} {
		var l learned
		o := l.outlook(run, experiment.DefaultRule())
		o.left = 12 * time.Minute
		plans := []remedy.Plan{small, load}
		if o.order(plans); plans[0].ID != load.ID {
			t.Fatalf("runs of %s: the load has not the better promise", run)
		}
		if plans = o.dearLoadLast(plans); len(plans) != 2 || plans[0].ID != first {
			t.Errorf("runs of %s: %s first, want %s", run, plans[0].ID, first)
		}
	}
}

// Several that spare CPU of one service take away no more than it spends, each its part
// of what the others leave; those of others come on top.
func TestGroupTakesNoMoreThanAServiceSpends(t *testing.T) {
	part := func(rule, service string, reach, spares, spent float64) remedy.Part {
		return remedy.Part{Remedy: rule, Rule: rule, Bound: 50, Reach: reach, Spares: spares, Service: service, Spent: spent}
	}
	limited := func(p remedy.Part, limit float64) remedy.Part { p.Limit = limit; return p }
	index, cache, other := part("index", "db", 0.9, 0.4, 0.4), part("cache", "db", 0.5, 0.4, 0.4), part("worker", "app", 0.5, 0.2, 0.5)
	waits := remedy.Part{Remedy: "waits", Rule: "waits", Bound: 1.2, Reach: 0.5}
	for _, c := range []struct {
		name  string
		parts []remedy.Part
		want  float64
	}{
		{"one", []remedy.Part{index}, 1 / (1 - 0.36)},
		{"of one service", []remedy.Part{index, cache}, 1 / (1 - 0.4*(1-0.1*0.5))},
		{"of two services", []remedy.Part{index, other}, 1 / (1 - 0.36 - 0.1)},
		{"of all services", []remedy.Part{part("index", "db", 1, 0.97, 0.97), part("opcache", "app", 0.5, 0.02, 0.02)}, 1 / (1 - 0.97 - 0.01)},
		{"no more than a thread of another allows", []remedy.Part{limited(index, 1.3), limited(cache, 1.3)}, 1.3},
		{"but for work of that thread", []remedy.Part{limited(index, 1.3), other}, 1 / (1 - (1 - 1/1.3) - 0.1)},
		{"and of waiting", []remedy.Part{cache, waits}, 1 / (1 - 0.2) * 1.2 / 1.1},
		{"of one finding the best", []remedy.Part{index, part("index", "db", 0.1, 0.4, 0.4)}, 1 / (1 - 0.36)},
	} {
		if got := math.Exp(freshOutlook().gain(remedy.Plan{Parts: c.parts, Bound: 50})); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: ×%.4f, want ×%.4f", c.name, got, c.want)
		}
	}
}

// What steps took and brought replaces what was only expected, whether they
// were made in this process or are read from the store.
func TestLearned(t *testing.T) {
	sample := func(pair int, side experiment.Side, score float64) experiment.Sample {
		return experiment.Sample{Pair: pair, Side: side, Score: score}
	}
	stepOf := func(effect float64, outcome experiment.Outcome, act change.Activation) *store.Step {
		st := &store.Step{Plan: planWith("php.x", 3, 0.5, act), Ended: time.Now(), Verdict: experiment.Verdict{Outcome: outcome, Effect: effect, High: effect + 0.02,
			Pairs: 4, Runs: 8, Took: 100 * time.Second, Switching: 60 * time.Second}}
		for pair, ratio := range []float64{1.1, 1, 1.1, 1} {
			st.Verdict.Samples = append(st.Verdict.Samples, sample(pair, experiment.Baseline, 100), sample(pair, experiment.Candidate, 100*ratio))
		}
		return st
	}
	var l learned
	l.from(stepOf(0, experiment.NoDifference, change.Restart))
	o := l.outlook(time.Second, experiment.DefaultRule())
	if o.run != 5*time.Second || o.switching[change.Restart] != 10*time.Second || o.switching[change.Reload] != priorSwitching[change.Reload] {
		t.Errorf("a run takes %s, switching %v", o.run, o.switching)
	}
	if o.noise < 0.05 || o.noise > 0.06 { // SD of 0.095, 0, 0.095, 0
		t.Errorf("noise %.4f", o.noise)
	}
	if math.Abs(o.shrink["php"]-2.0/3) > 1e-9 || o.harm >= priorHarm {
		t.Errorf("after one that brought nothing: shrink %v, harm %.3f", o.shrink, o.harm)
	}
	// A factor of 1.5 is what bound 3 and reach 0.5 let expect.
	l.from(stepOf(0.5, experiment.Improved, change.Reload))
	if o = l.outlook(time.Second, experiment.DefaultRule()); math.Abs(o.shrink["php"]-0.75) > 1e-9 {
		t.Errorf("and one that brought all: %v", o.shrink)
	}
	before := l.harmful
	group := stepOf(-0.2, experiment.Regressed, change.Reload)
	group.Plan.Parts = []remedy.Part{{Remedy: "php.x"}, {Remedy: "web.y"}}
	if l.from(group); l.harmful != before {
		t.Error("a group's harm is counted before its part is alone")
	}
	if l.from(stepOf(-0.2, experiment.Regressed, change.Reload)); l.harmful != before+1 {
		t.Error("harm is not counted")
	}
	unfinished := stepOf(5, experiment.Improved, change.Reload)
	unfinished.Ended = time.Time{}
	was := len(l.noises)
	l.from(unfinished)
	if l.from(&store.Step{Ended: time.Now(), Verdict: experiment.Verdict{Outcome: experiment.Inconclusive, Pairs: 5}}); len(l.noises) != was {
		t.Error("learned from what was not judged")
	}
}

// Plans are joined if that is expected to save time: not where many do harm,
// and never more than mostParts.
func TestWorthJoining(t *testing.T) {
	pool := func(n int) (out []remedy.Plan) {
		for i := range n {
			out = append(out, planWith(string(rune('a'+i)), 1.2, 0.5, change.Reload))
		}
		return out
	}
	for _, c := range []struct {
		name string
		n    int
		harm float64
		want int
	}{
		{"one alone", 1, 0.1, 0},
		{"three", 3, 0.1, 3},
		{"a dozen that do no harm", 12, 0, mostParts},
		{"half of them do harm", 8, 0.5, 0},
	} {
		o := freshOutlook()
		o.harm = c.harm
		if got := o.worthJoining(pool(c.n)); got != c.want {
			t.Errorf("%s: %d are joined, want %d", c.name, got, c.want)
		}
	}
	o, last := freshOutlook(), mostParts
	for _, harm := range []float64{0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9} {
		o.harm = harm
		got := o.worthJoining(pool(mostParts))
		if got > last {
			t.Errorf("with harm %.2f more are joined (%d) than with less (%d)", harm, got, last)
		}
		last = got
	}
	if got := []int{splitSteps(2), splitSteps(3), splitSteps(4), splitSteps(8)}; !slices.Equal(got, []int{2, 4, 4, 6}) {
		t.Errorf("splitting takes %v", got)
	}
}

// What is too little to be seen in the time left is not begun; by a spread that was
// measured here, and never what may be great.
func TestHiddenByNoise(t *testing.T) {
	o := outlook{run: 20 * time.Second, maxPairs: 400, alpha: 0.01, noise: 0.03, measured: true}
	prior := o
	prior.measured = false
	begun := o
	begun.opened = map[string]opened{"a": {effect: 0.01, pairs: 9}}
	calm := o
	calm.noise = 0.002
	for _, c := range []struct {
		name  string
		o     outlook
		bound float64
		left  time.Duration
		want  bool
	}{
		{"a hundredth among pairs that differ by three", o, 1.02, 10 * time.Minute, true},
		{"the same with a day", o, 1.02, 24 * time.Hour, false},
		{"a fifth", o, 1.2, 10 * time.Minute, false},
		{"what may be great, however noisy", outlook{run: time.Minute, maxPairs: 400, alpha: 0.01, noise: 0.5, measured: true}, 1.4, 6 * time.Minute, false},
		{"how far pairs differ is not known", prior, 1.02, 10 * time.Minute, false},
		{"it was begun", begun, 1.02, 10 * time.Minute, false},
		{"pairs hardly differ", calm, 1.02, 10 * time.Minute, false},
	} {
		if got := c.o.hidden(planWith("a", c.bound, 0.5, change.Reload), c.left); got != c.want {
			t.Errorf("%s: hidden %v", c.name, got)
		}
	}
}

// Runs tell how far pairs differ before an experiment of three pairs has.
func TestNoiseOfRuns(t *testing.T) {
	var l learned
	l.spread.Sum, l.spread.Freedom = 0.0036, 3
	if o := l.outlook(time.Second, experiment.DefaultRule()); o.measured || o.noise != priorNoise {
		t.Errorf("three degrees of freedom: %+v", o)
	}
	l.spread.Freedom = 4
	if o := l.outlook(time.Second, experiment.DefaultRule()); !o.measured || math.Abs(o.noise-math.Sqrt(2*0.0009)) > 1e-12 {
		t.Errorf("four: %+v", o)
	}
}
