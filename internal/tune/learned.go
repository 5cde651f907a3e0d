package tune

import (
	"math"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/stat"
	"kasoku/internal/store"
)

// learned is what the steps of a session taught about time and yield. It is
// made of stored steps alone, so a session that is taken up again knows it, too.
type learned struct {
	noises []float64 // SD of pairs' log-ratios, per experiment
	// spread of the log of scores from run to run: of the service as found, and of
	// each side of the experiments since the service was last made much faster.
	spread   stat.Variance
	runs     []time.Duration
	switches map[change.Activation][]time.Duration
	yields   map[string][]float64 // by family: gain ÷ expected gain, 0 to 2
	tried    int                  // plans, each of a group counted
	harmful  int
	opened   map[string]opened // experiments that made way for others, by plan
}

// opened is what an experiment without an end has shown of its plan.
type opened struct {
	effect float64 // log of the factor, not below 0
	pairs  int
}

// open notes what came of an experiment that made way for others. Once something
// is kept it says nothing any more: it would begin anew.
func (l *learned) open(st *store.Step) {
	switch v := st.Verdict; {
	case st.Kept:
		l.opened = nil
	case v.Shared && v.Pairs >= leastPairs:
		if l.opened == nil {
			l.opened = map[string]opened{}
		}
		l.opened[key(st.Plan)] = opened{effect: math.Max(math.Log1p(v.Effect), 0), pairs: v.Pairs}
	default:
		delete(l.opened, key(st.Plan))
	}
}

// harmed reports whether a verdict says that the candidate did harm; also if it
// ended early because nothing could be gained any more, and the 95 % interval
// lies below nothing.
func harmed(v experiment.Verdict) bool {
	switch v.Outcome {
	case experiment.Regressed, experiment.Broke, experiment.Failed:
		return true
	case experiment.NoDifference:
		return v.Pairs >= leastPairs && v.High < 0
	case experiment.Inconclusive:
		return v.TooFew && v.Pairs >= leastPairs && v.High < 0
	case experiment.Tampered, experiment.Improved:
	}
	return false
}

// from takes a finished step in.
func (l *learned) from(st *store.Step) {
	v := st.Verdict
	if st.Ended.IsZero() || v.Outcome == "" || v.Outcome == experiment.Inconclusive && !v.Shared && !v.TooFew {
		return
	}
	l.open(st)
	parts := len(st.Plan.PlanIDs())
	switch {
	case !harmed(v):
		l.tried += parts
	case parts == 1: // of a group only one may have done it: judged when it is alone
		l.tried++
		l.harmful++
	}
	l.times(st)
	if st.Kept && v.CandidateScore >= muchFaster*v.BaselineScore {
		l.spread = stat.Variance{} // less work for each request is another noise
	}
	if of := experiment.SpreadOf(v.Samples); st.Plan.Workload == 0 {
		l.spread.Sum, l.spread.Freedom = l.spread.Sum+of.Sum, l.spread.Freedom+of.Freedom
	}
	if v.Pairs < fewestPairs {
		return
	}
	if _, sd := stat.MeanSD(logRatios(v.Samples)); sd > 0 && v.Pairs >= leastPairs {
		l.noises = append(l.noises, sd)
	}
	expected := outlook{}.gain(st.Plan) // by Bound and Reach alone
	if expected <= 0 {
		return
	}
	x := math.Min(math.Max(math.Log1p(v.Effect)/expected, 0), 2)
	if l.yields == nil {
		l.yields = map[string][]float64{}
	}
	for _, f := range families(st) {
		l.yields[f] = append(l.yields[f], x)
	}
}

func families(st *store.Step) []string {
	if len(st.Plan.Parts) == 0 {
		return []string{family(st.Plan.Remedy)}
	}
	var out []string
	for _, id := range st.Plan.PlanIDs() {
		if f := family(id); !slices.Contains(out, f) { // an ID begins with its remedy's
			out = append(out, f)
		}
	}
	return out
}

// times notes what runs and switches took.
func (l *learned) times(st *store.Step) {
	v := st.Verdict
	own := v.Pairs - v.Earlier // whose time it is
	if v.Switching <= 0 || own < fewestPairs || v.Runs == 0 {
		return
	}
	l.runs = append(l.runs, (v.Took-v.Switching)/time.Duration(v.Runs))
	strongest, services := change.None, map[string]bool{}
	for _, c := range st.Plan.Changes {
		if c.Activate > strongest {
			strongest, services = c.Activate, map[string]bool{}
		}
		if c.Activate == strongest {
			services[c.Host+"/"+c.Service] = true
		}
	}
	if l.switches == nil {
		l.switches = map[change.Activation][]time.Duration{}
	}
	each := float64(v.Switching-min(st.Plan.Build, v.Switching)) / (switchesPerPair * float64(own)) / float64(max(len(services), 1))
	l.switches[strongest] = append(l.switches[strongest], time.Duration(each))
}

// spreadRuns are the degrees of freedom from which runs tell how far they differ:
// those of two sides with three runs each.
const spreadRuns = 4

// logRatios of the pairs of an experiment, candidate ÷ baseline.
func logRatios(samples []experiment.Sample) []float64 {
	base, cand := map[int]float64{}, map[int]float64{}
	for _, s := range samples {
		if s.Unfit != "" || s.Score <= 0 {
			continue
		}
		if s.Side == experiment.Candidate {
			cand[s.Pair] = s.Score
		} else {
			base[s.Pair] = s.Score
		}
	}
	var out []float64
	for pair, c := range cand {
		if b := base[pair]; b > 0 {
			out = append(out, math.Log(c/b))
		}
	}
	return out
}

// outlook is what is to be expected now. run is what one run takes if none of
// an experiment told yet.
func (l *learned) outlook(run time.Duration, rule experiment.Rule) outlook {
	o := outlook{run: run, maxPairs: rule.MaxPairs, alpha: rule.Alpha, noise: priorNoise, opened: l.opened,
		switching: map[change.Activation]time.Duration{}, shrink: map[string]float64{},
		harm: (priorHarm*priorHarmWeight + float64(l.harmful)) / (priorHarmWeight + float64(l.tried))}
	for act, prior := range priorSwitching {
		o.switching[act] = prior
		if seen := l.switches[act]; len(seen) > 0 {
			o.switching[act] = median(seen)
		}
	}
	if len(l.runs) > 0 {
		o.run = median(l.runs)
	}
	switch {
	case len(l.noises) > 0:
		o.noise, o.measured = median(l.noises), true
	case l.spread.Freedom >= spreadRuns && l.spread.Sum > 0: // a pair differs by √2 of what its runs do
		o.noise, o.measured = math.Sqrt(2*l.spread.Sum/float64(l.spread.Freedom)), true
	}
	for f, xs := range l.yields {
		sum := float64(priorShrinkWeight)
		for _, x := range xs {
			sum += x
		}
		o.shrink[f] = sum / float64(priorShrinkWeight+len(xs))
	}
	return o
}

func median[T float64 | time.Duration](xs []T) T {
	sorted := slices.Sorted(slices.Values(xs))
	return sorted[len(sorted)/2]
}

// logsOf scores that are above 0.
func logsOf(scores []float64) []float64 {
	var out []float64
	for _, s := range scores {
		if s > 0 {
			out = append(out, math.Log(s))
		}
	}
	return out
}
