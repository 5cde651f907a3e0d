package tune

import (
	"cmp"
	"slices"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// LastRun is a run that has ended, as the store tells it.
type LastRun struct {
	ID int64 `json:"id"`
	// RequestsPerSecond is right answers per second of the window.
	RequestsPerSecond float64       `json:"requests_per_second"`
	P50               time.Duration `json:"p50"`
	P99               time.Duration `json:"p99"`
	Failed            int64         `json:"failed"` // wrong answers, errors and time-outs
	// CPU is the share of each host's CPUs in use over the window, 0 to 1.
	CPU map[string]float64 `json:"cpu,omitempty"`
}

// Stored fills in what the store tells of the experiment under way and of the
// session's last run, for those who watch another process: runs are all of the
// session, newest first. What cannot be known so stays zero: the side under way
// and the most pairs.
func (l *Live) Stored(st *store.Store, step *store.Step, runs []store.Run) error {
	if step != nil {
		v, err := soFar(st, step, runs)
		if err != nil {
			return err
		}
		l.Trying = &Trying{Seq: step.Seq, Plan: step.Plan.ID, Title: step.Plan.Title, Why: step.Plan.Why, Bound: step.Plan.Bound, Verdict: v}
	}
	if len(runs) == 0 {
		return nil
	}
	run, err := st.Run(runs[0].ID)
	if err != nil {
		return err
	}
	ev := run.Evidence
	if ev == nil || ev.Load == nil {
		return nil
	}
	r := ev.Load
	l.Last = &LastRun{ID: run.ID, RequestsPerSecond: r.RequestsPerSecond, P50: r.Latency.P50, P99: r.Latency.P99,
		Failed: r.Mismatches + r.Errors + r.Timeouts}
	l.Rates = perSecond(r.Ticks, r.Window)
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		all := sys.CPUTime()
		if all <= 0 {
			continue
		}
		if l.Last.CPU == nil {
			l.Last.CPU, l.CPU = map[string]float64{}, map[string][]float64{}
		}
		name = cmp.Or(name, stack.LocalHost)
		l.Last.CPU[name] = min(1, (all-sys.Idle-sys.IOWait)/all)
		for _, s := range sys.Samples {
			l.CPU[name] = curve(l.CPU[name], s.Busy)
		}
	}
	return nil
}

// perSecond makes right answers per second of those per tick of a window.
func perSecond(ticks []int64, window time.Duration) (rates []float64) {
	if len(ticks) == 0 || window <= 0 {
		return nil
	}
	tick := window.Seconds() / float64(len(ticks))
	each := max(1, int(1/tick+0.5))
	for part := range slices.Chunk(ticks, each) {
		sum := int64(0)
		for _, n := range part {
			sum += n
		}
		rates = curve(rates, float64(sum)/(tick*float64(len(part))))
	}
	return rates
}

// soFar is what the runs of a step show, by the experiment's own estimate.
func soFar(st *store.Store, step *store.Step, runs []store.Run) (experiment.Verdict, error) {
	scores := map[experiment.Side][]float64{}
	for _, r := range slices.Backward(runs) {
		if r.Step != step.ID || r.Kind != store.Scored || r.Side == "" {
			continue
		}
		if r.Unfit != "" {
			if counts, err := brokeUnfit(st, r.ID); err != nil || !counts {
				if err != nil {
					return experiment.Verdict{}, err
				}
				continue
			}
		}
		side := r.Side
		if len(step.LeavesOut) > 0 { // a second look: see mirrored
			side = otherSide(side)
		}
		scores[side] = append(scores[side], r.Score)
	}
	return experiment.SoFar(scores[experiment.Baseline], scores[experiment.Candidate]), nil
}

// brokeUnfit: a run that is no evidence counts all the same if answers were
// wrong (see experiment.Run).
func brokeUnfit(st *store.Store, id int64) (bool, error) {
	run, err := st.Run(id)
	if err != nil || run.Evidence == nil || run.Evidence.Load == nil {
		return false, err
	}
	return sample(run).Broken != "", nil
}
