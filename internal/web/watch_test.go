package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// TestWatchAnExperiment: of a step that another process tries the stored runs
// tell the pairs and the effect as the experiment computes them, and the last
// run throughput and CPU.
func TestWatchAnExperiment(t *testing.T) {
	p := newSample(t)
	for name, leavesOut := range map[string][]int{"an experiment": nil, "a second look, whose sides are swapped": {1}} {
		steps, err := p.store.Steps(p.session)
		must(t, err)
		step := &store.Step{Session: p.session, Seq: len(steps) + 1, Started: begun, Plan: remedy.Plan{Title: name, Bound: 1.3}, LeavesOut: leavesOut}
		must(t, p.store.SaveStep(step))
		if l, err := stored(p.store, begun); err != nil || l.Trying == nil || l.Trying.Verdict.Pairs != 0 || l.Trying.MostPairs != 0 || show(l, nil, begun).Trying.Effect != "" {
			t.Errorf("%s, before its first run: %+v %v", name, l.Trying, err)
		}
		base, cand := []float64{100, 103, 101}, []float64{110, 112}
		for i := range 5 { // b c c b b
			side, score := experiment.Baseline, 0.0
			if i == 1 || i == 2 {
				side = experiment.Candidate
				score, cand = cand[0], append(cand[1:], cand[0])
			} else {
				score, base = base[0], append(base[1:], base[0])
			}
			if len(leavesOut) > 0 {
				side = map[experiment.Side]experiment.Side{experiment.Baseline: experiment.Candidate, experiment.Candidate: experiment.Baseline}[side]
			}
			run := func(kind, unfit string, score float64, wrong int64) {
				sys := evidence.System{Host: "local", User: 5, Sys: 1, Idle: 3, IOWait: 1, Samples: []evidence.SystemSample{{Busy: 0.5}, {At: time.Second, Busy: 0.75}}}
				r := &load.Result{RequestsPerSecond: score, Window: 2 * time.Second, Mismatches: wrong, Latency: load.Percentiles{P50: time.Millisecond, P99: time.Second},
					Ticks: slices.Repeat([]int64{10, 20}, 10)}
				if wrong > 0 {
					r.Samples = []load.Mismatch{{Request: "GET /"}}
				}
				must(t, p.store.SaveRun(&store.Run{Session: p.session, Step: step.ID, Kind: kind, Side: side, Score: score, Unfit: unfit, Started: begun,
					Evidence: &evidence.Evidence{Load: r, System: sys}}))
			}
			run(store.Probe, "", 5000, 0)          // of a search
			run(store.Scored, "noise", 5000, 0)    // was repeated
			unfit := map[int]string{1: "noise"}[i] // counts, because answers were wrong
			run(store.Scored, unfit, score, int64(len(unfit)))
		}
		l, err := stored(p.store, begun)
		must(t, err)
		want := experiment.SoFar([]float64{100, 103}, []float64{110, 112})
		if l.Trying == nil || fmt.Sprint(l.Trying.Verdict) != fmt.Sprint(want) || want.Pairs != 2 || want.Low >= want.High {
			t.Errorf("%s: %+v, want %+v", name, l.Trying, want)
		}
		m := show(l, nil, begun)
		if m.Trying.Effect == "" || m.Trying.Pairs != 2 || m.Trying.Most != 0 || m.Load == nil || m.Load.Rate != "101" || m.Last == 0 || len(m.CPU) != 1 || m.CPU[0].Now != "60 %" {
			t.Errorf("%s: %+v %+v %+v", name, m, m.Trying, m.Load)
		}
		if !slices.Equal(m.Rates, []float64{150, 150}) || !slices.Equal(m.CPU[0].Uses, []float64{0.5, 0.75}) {
			t.Errorf("%s: curves %v %v", name, m.Rates, m.CPU)
		}
		step.Verdict, step.Ended = experiment.Verdict{Outcome: experiment.NoDifference}, begun
		must(t, p.store.SaveStep(step))
		if l, err := stored(p.store, begun); err != nil || l.Trying != nil || l.Judged != step.Seq {
			t.Errorf("%s, when it has ended: %+v %v", name, l, err)
		}
	}
}
