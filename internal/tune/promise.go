package tune

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stat"
)

// outlook is what a session knows when it chooses its next step: how long
// things take here and what came of plans so far. What has not been measured
// yet has a rough prior. It only orders what is tried; experiments decide.
type outlook struct {
	run      time.Duration // one measured run, with reset and set-up
	maxPairs int
	alpha    float64 // false-keep rate of one experiment
	noise    float64 // standard deviation of a pair's log-ratio
	measured bool    // noise is this session's own
	// switching is the time that one service takes to be put in place, by how
	// it takes changes on.
	switching map[change.Activation]time.Duration
	// shrink says, by family of remedies, how much of the expected gain plans
	// brought in this session: 1 = all of it.
	shrink map[string]float64
	// harm is the share of plans that make the service worse, break it or do
	// not come up.
	harm float64
	// left is the time in which plans can be tried; 0: it has no end.
	left time.Duration
	// opened are the experiments that made way for others, by plan.
	opened map[string]opened
}

// Priors, until the session has measured its own.
const (
	// priorNoise: separate runs on a small machine differ by about 5 % (the
	// margin that the report uses, too); a pair's ratio by √2 of that.
	priorNoise = 0.07
	// priorHarm is not measured: it stands for "seldom", weighs as much as
	// priorHarmWeight experiments, and gives way to the session's own count.
	priorHarm       = 0.1
	priorHarmWeight = 10
	// priorShrinkWeight is what the remedy's own Reach weighs against what was
	// seen in this session, in experiments.
	priorShrinkWeight = 2
)

// priorSwitching are orders of magnitude: a statement, a reload with its
// checks, a restart of a database with its checks and its wait for health.
var priorSwitching = map[change.Activation]time.Duration{
	change.None: 100 * time.Millisecond, change.Reload: 500 * time.Millisecond, change.Restart: 3 * time.Second,
}

const (
	leastPairs = 3 // the fewest pairs after which an experiment ends as a rule
	// fewestPairs: a great effect is judged after two (experiment.Rule.Spread).
	fewestPairs = 2
	// twoPairsSigma is how many times the spread of runs an effect must be for
	// that: Student's t at the level of that look, with a handful of freedom.
	twoPairsSigma = 5
	// nullPairs: experiments without any effect end for futility after about 18
	// runs (docs/explanation/verdict.md).
	nullPairs = 9
	// switchesPerPair: one between its two sides, and one before every other
	// pair, because a coin decides which side is first.
	switchesPerPair = 1.5
	// probesOfSearch are the most that a search takes on average for one
	// number (TestClimb: 7 to 13 of 7 values).
	probesOfSearch = 13
	// workloadProbes: the load is doubled until it no longer pays.
	workloadProbes = 5
)

// gain is the expected log of the factor that a plan brings: what is left when the
// usual part of the demand goes (planning.Worth), corrected by what its family
// brought so far. Those of a group add up, except those of one finding, of
// which the best counts, and those that spare CPU of one service: there each takes
// its part of what the others leave. One that made way for others has shown it.
func (o outlook) gain(p remedy.Plan) float64 {
	if was, ok := o.opened[key(p)]; ok {
		return math.Min(was.effect, math.Log(math.Max(p.Bound, 1)))
	}
	if len(p.Parts) == 0 {
		return o.part(p.Remedy, p.Worth())
	}
	best, sum := map[string]remedy.Part{}, 0.0
	for _, part := range p.Parts {
		g := o.part(part.Remedy, part.Worth())
		if was, ok := best[part.Rule]; !ok || g > o.part(was.Remedy, was.Worth()) {
			best[part.Rule] = part
		}
		sum += g
	}
	if p.OfSmall() { // parts of the same work; what they reach adds up
		return math.Min(sum, math.Log(math.Max(p.Bound, 1)))
	}
	return o.together(slices.Collect(maps.Values(best)))
}

// together is the log of the factor that parts of different findings bring. What goes of
// the CPU of several services adds up (a request's CPU is the sum of theirs): where the
// database is nine tenths of it, half of the rest is nothing beside it and a factor of two
// once the nine tenths are gone. Where it is no CPU, the factors multiply.
func (o outlook) together(parts []remedy.Part) float64 {
	total, left, spent, limit := 0.0, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, part := range parts {
		g := o.part(part.Remedy, part.Worth())
		gone := -math.Expm1(-g) // of all that a request takes
		if part.Service == "" || part.Spares == 0 || part.Spent == 0 {
			total += g
			continue
		}
		if _, ok := left[part.Service]; !ok {
			left[part.Service], spent[part.Service] = 1, part.Spent
		}
		left[part.Service] *= 1 - math.Min(gone/part.Spent, 1)
		limit[part.Service] = part.Limit
	}
	all, most := 0.0, 1.0
	for service, rest := range left {
		all += spent[service] * (1 - rest)
		if most > 0 && limit[service] >= 1 {
			most = math.Max(most, limit[service])
		} else {
			most = 0 // nothing limits what the work of this one brings
		}
	}
	if most > 0 {
		all = math.Min(all, 1-1/most)
	}
	return total - math.Log1p(-math.Min(all, mostGone))
}

// mostGone keeps what is expected finite.
const mostGone = 0.99

func (o outlook) part(id string, w planning.Worth) float64 {
	g := math.Log(w.Expected())
	if s, known := o.shrink[family(id)]; known {
		g *= s
	}
	return g
}

// family of a remedy: "mariadb" of "mariadb.index". Remedies of one family act
// on the same service and its part of the time.
func family(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

// great is the factor from which on two pairs may do.
const great = 1.3

// pairs that an experiment is expected to take for a true effect of gain: the
// fewest that can show it; if none can, it ends for futility.
func (o outlook) pairs(gain float64) int {
	seq, err := stat.NewSequential(o.alpha, o.maxPairs)
	if err != nil { // the settings of a test; config.check refuses others
		return o.maxPairs
	}
	if n, ok := o.shows(seq, gain); ok {
		return n
	}
	if t := o.test(); gain < t.Detectable(seq.Max(), seq.Last)/2 {
		return min(nullPairs, seq.Max())
	}
	return seq.Max()
}

// test is one of pairs that differ as they do here.
func (o outlook) test() stat.TTest { return stat.TTest{N: 2, SE: o.noise / math.Sqrt2} }

// shows is the fewest pairs that can show a true effect of gain; false if none can.
func (o outlook) shows(seq stat.Sequential, gain float64) (int, bool) {
	if gain >= math.Log(great) && gain >= twoPairsSigma*o.noise/math.Sqrt2 {
		return fewestPairs, true
	}
	t := o.test()
	for _, n := range seq.Looks {
		if gain >= t.Detectable(n, seq.Level(n)) {
			return n, true
		}
	}
	return 0, false
}

// ofBound is the part of a small plan's bound that is thought possible beyond what
// its remedy usually reaches, when it is asked whether it could be shown at all: a
// choice between trying in vain and leaving out what would have shown.
const ofBound = 0.5

// hidden reports whether what the plan may bring is too little to be shown in the
// time left, by how far this session's pairs differ.
func (o outlook) hidden(p remedy.Plan, left time.Duration) bool {
	seq, err := stat.NewSequential(o.alpha, o.maxPairs)
	if _, begun := o.opened[key(p)]; err != nil || !o.measured || begun || p.Bound >= great {
		return false
	}
	n, ok := o.shows(seq, math.Max(o.gain(p), ofBound*math.Log(math.Max(p.Bound, 1))))
	return !ok || o.trial(p, float64(n)) > left
}

// time that trying the plan is expected to take.
func (o outlook) time(p remedy.Plan) time.Duration {
	pairs := float64(min(o.pairs(o.gain(p)), FirstPatience))
	if was, ok := o.opened[key(p)]; ok {
		pairs = float64(max(o.pairs(was.effect), was.pairs+1) - was.pairs) // those that it has are there
	}
	return o.trial(p, pairs)
}

// trial is the time of so many pairs of a plan, with what it needs besides.
func (o outlook) trial(p remedy.Plan, pairs float64) time.Duration {
	total := pairs*float64(o.pair(p)) + float64(o.probing(p, pairs))
	if p.Fresh != nil {
		total += float64(freshTime(p.Fresh.MaxAge))
	}
	return time.Duration(total)
}

// pair is the time of one pair of a plan.
func (o outlook) pair(p remedy.Plan) time.Duration {
	return time.Duration(2*float64(o.run) + switchesPerPair*float64(o.activation(p.Changes)) + switchesPerPair/2*float64(p.Build))
}

// probing is the time in which a number is found, and what switching to it takes
// in so many pairs; 0 for a plan without one.
func (o outlook) probing(p remedy.Plan, pairs float64) time.Duration {
	switch {
	case p.Workload > 0:
		return workloadProbes * (probeWindow + time.Second)
	case p.Search == nil:
		return 0
	}
	once, total := o.activation(p.Changes), 0.0
	if changes, err := valueOf(p.Search); err == nil {
		once = o.activation(changes)
		total = pairs * switchesPerPair * float64(once)
	}
	probes := min(probeRounds*(len(p.Search.Values)+1), probesOfSearch)
	return time.Duration(total + float64(probes)*float64(o.run+once))
}

// valueOf plans one value of a search, to see what it activates.
func valueOf(s *remedy.Search) ([]change.Change, error) {
	if len(s.Values) == 0 || s.At == nil {
		return nil, nil
	}
	return s.At(s.Values[0])
}

// activation is the time of putting one side in place.
func (o outlook) activation(changes []change.Change) time.Duration {
	strongest := map[string]change.Activation{}
	for _, c := range changes {
		strongest[c.Host+"/"+c.Service] = max(strongest[c.Host+"/"+c.Service], c.Activate)
	}
	var total time.Duration
	for _, act := range strongest {
		total += o.switching[act]
	}
	return total
}

// promise is the expected gain (log) per minute.
func (o outlook) promise(p remedy.Plan) float64 {
	return o.gain(p) / math.Max(o.time(p).Minutes(), 1e-6)
}

// order sorts plans, the one with the best promise first.
func (o outlook) order(plans []remedy.Plan) {
	slices.SortStableFunc(plans, func(a, b remedy.Plan) int {
		switch x, y := o.promise(a), o.promise(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}
