package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// switcher is the experiment's Runner: it puts the wanted side in place and
// measures it.
type switcher struct {
	turns                      turns
	exec                       applier
	bench                      *Bench
	intent                     change.Intent
	step                       int64
	tx                         int64 // of the candidate that is applied; 0 = baseline is in place
	prep                       [][]change.Change
	prepared                   []int64                         // transactions of prep, which stay on both sides
	beneath                    int64                           // transaction that put the baseline itself in place; 0 = none
	judge                      *judge                          // of a proposal; nil: Kasoku's own plan
	fill                       func(ctx context.Context) error // what the candidate has empty at first; nil: nothing
	fillBase                   bool                            // it is the baseline that has
	brief                      time.Duration                   // window of the first briefPairs; 0: as all others
	baseWorkload, candWorkload int                             // differ only when the plan changes the load
}

// Measure implements experiment.Runner.
func (s *switcher) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	if err := s.turn(ctx, side); err != nil {
		return experiment.Sample{}, err
	}
	workload := s.baseWorkload
	if side == experiment.Candidate {
		workload = s.candWorkload
	}
	window := s.brief
	if pair > briefPairs {
		window = 0
	}
	cold, heats := s.turns.heat.cold, s.heats()
	s.turns.heat.cold = false
	run, err := s.bench.Run(ctx, RunOptions{Kind: store.Scored, Side: side, Step: s.step, Workload: workload, Window: window, Heat: heats,
		Label: fmt.Sprintf("%s, pair %d: %s", s.intent.Title, pair, side),
		ready: func(ctx context.Context) error { return s.inForce(ctx, "after load.reset") }})
	if err == nil {
		err = s.inForce(ctx, "after a run")
	}
	if err == nil {
		err = s.judge.look("after a run of the " + string(side))
	}
	if err != nil {
		return experiment.Sample{}, err
	}
	s.turns.note(run)
	s.turns.noteSteal(run, s.bench.Stack.Tune.Foreign())
	out := sample(run)
	s.turns.heat.note(cold, out)
	return out, nil
}

// filled is the side that has caches of its own to fill.
func (s *switcher) filled() experiment.Side {
	if s.fillBase {
		return experiment.Baseline
	}
	return experiment.Candidate
}

// fillCache is a run that does not count, after which that side's caches are as
// warm as the other's.
func (s *switcher) fillCache(ctx context.Context) error {
	workload := s.candWorkload
	if s.fillBase {
		workload = s.baseWorkload
	}
	_, err := s.bench.Run(ctx, RunOptions{Kind: store.Probe, Side: s.filled(), Step: s.step, Workload: workload, Label: s.intent.Title + ": fill its cache"})
	return err
}

// drain waits, before the sides are changed, for what an earlier run left: statements that run
// hold their tables, so an index would wait for them in vain.
func (s *switcher) drain(ctx context.Context, side experiment.Side) error {
	if len(s.intent.Changes) == 0 || (side == experiment.Candidate) != (s.tx == 0) || s.bench == nil {
		return nil
	}
	return s.bench.drain(ctx)
}

// to puts one side in place.
func (s *switcher) to(ctx context.Context, side experiment.Side) error {
	if err := s.drain(ctx, side); err != nil {
		return err
	}
	switch {
	case len(s.intent.Changes) == 0:
		return nil
	case side == experiment.Candidate && s.tx == 0:
		if err := s.judge.before(); err != nil {
			return err
		}
		var tx change.Tx
		err := s.unheld(ctx, func() (err error) {
			tx, err = s.exec.Apply(ctx, s.intent)
			return err
		})
		if err != nil {
			if told := s.judge.after("it was put in place"); told != nil && !s.open() {
				return errors.Join(told, err)
			}
			if ctx.Err() != nil || s.open() {
				return err
			}
			return errors.Join(experiment.ErrCandidate, err)
		}
		s.tx = tx.ID
		return s.judge.after("it was put in place")
	case side == experiment.Baseline && s.tx != 0:
		seen := s.judge.before()
		if err := s.unheld(ctx, func() error { return s.exec.Revert(ctx, s.tx) }); err != nil {
			return fmt.Errorf("put back the baseline: %w", err)
		}
		s.tx = 0
		if seen != nil { // it is put back all the same
			return seen
		}
		return s.judge.after("it was taken away")
	}
	return nil
}

// open reports whether something is left that could not be put back.
func (s *switcher) open() bool {
	return slices.ContainsFunc(s.exec.Pending(), func(tx change.Tx) bool { return tx.ID != s.beneath && !slices.Contains(s.prepared, tx.ID) })
}

// sample reads from a stored run what the experiment judges by.
func sample(run *store.Run) experiment.Sample {
	ev := run.Evidence
	s := experiment.Sample{RunID: run.ID, Side: run.Side, Score: run.Score, Unfit: run.Unfit,
		Mismatches: ev.Load.Mismatches, Failures: ev.Load.Errors + ev.Load.Timeouts, Requests: ev.Load.Requests,
		P50: ev.Load.Latency.P50, P99: ev.Load.Latency.P99}
	if errors, requests, service := erring(ev); errors > s.Failures {
		s.Failures, s.Requests = errors, max(requests, s.Requests)
		s.Broken = fmt.Sprintf("the access log of %s has errors of the server (5xx)", service)
	}
	memory := memoryOf(ev)
	least := scarcest(memory)
	s.MemoryAvailable, s.MemoryTotal = least.Available, least.Total
	if len(memory) > 1 {
		s.Memory = memory
	}
	if h := spoils(ev); h != "" && run.Unfit == h {
		s.Ended = h
	}
	if ev.Load.Succeeded > 0 {
		s.CPUPerRequest = ev.ServicesCPU() / float64(ev.Load.Succeeded)
	}
	if text := brokenAnswers(ev.Load.Samples); s.Mismatches+s.Failures > 0 && text != "" {
		s.Broken = text
	}
	if text := deadlocked(ev); s.Broken != "" && text != "" {
		s.Broken += "; " + text
	}
	if text := limited(ev); s.Broken != "" && text != "" {
		s.Broken += "; " + text
	}
	return s
}

// brokenAnswers tells the first of each kind of failed requests: a wrong answer says nothing of
// why others got none.
func brokenAnswers(samples []load.Mismatch) string {
	var kinds, out []string
	for _, m := range samples {
		if !slices.Contains(kinds, m.Kind) {
			kinds, out = append(kinds, m.Kind), append(out, fmt.Sprintf("%s: expected %s, got %s", m.Request, m.Expected, m.Got))
		}
	}
	return strings.Join(out, "; ")
}

// limited says that the service itself limits how often one visitor may ask; "" if nothing
// tells so. All load comes from one address, so a service that got faster meets its limit
// sooner, and whatever made it faster looks as if it broke answers.
func limited(ev *evidence.Evidence) string {
	who := ""
	for _, m := range ev.Load.Samples {
		if strings.Contains(m.Got, "status 429") {
			who = "429 Too Many Requests"
		}
	}
	for _, l := range ev.Logs {
		if strings.Contains(l.Text, "limiting requests") || strings.Contains(l.Text, "limiting connections") {
			who = "limit_req or limit_conn of " + l.Service
		}
	}
	if who == "" {
		return ""
	}
	return "the service limits how often one visitor may ask (" + who + "), and all load comes from one address: the faster it is, the sooner the limit is met; lift it for this address or these accounts while Kasoku works, or give users addresses of their own (headers: X-Forwarded-For) where the service trusts that"
}

// deadlocked says which databases rolled transactions back because they waited for each
// other, which the application may have answered with an error; "" if none did.
func deadlocked(ev *evidence.Evidence) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(ev.Counters)) {
		if n := ev.Counters[name].Delta["Innodb_deadlocks"]; n > 0 {
			out = append(out, fmt.Sprintf("%s rolled %s back in deadlocks (Innodb_deadlocks); transactions of READ COMMITTED lock no gaps (isolation in regulation.allow)", name, ui.Plural(int(n), "transaction", "transactions")))
		}
	}
	return strings.Join(out, "; ")
}

// memoryOf is the memory of the hosts that services run on.
func memoryOf(ev *evidence.Evidence) map[string]experiment.Memory {
	out := map[string]experiment.Memory{}
	for _, name := range ev.HostNames() {
		if sys := ev.On(name); sys.MemoryTotal > 0 && (sys == &ev.System || sys.ServicesCPU > 0) {
			out[name] = experiment.Memory{Available: sys.MemoryAvailable, Total: sys.MemoryTotal}
		}
	}
	return out
}

// scarcest is the memory of the host that has least available in proportion.
func scarcest(of map[string]experiment.Memory) (least experiment.Memory) {
	share := func(m experiment.Memory) float64 { return float64(m.Available) / float64(m.Total) }
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if m := of[name]; least.Total == 0 || share(m) < share(least) {
			least = m
		}
	}
	return least
}
