package tune

import (
	"fmt"
	"slices"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

const (
	// stealRuns made last tell how much other virtual machines take as a rule:
	// what stealOften of them lost, beyond the limit, is how this machine is.
	// An experiment gives up after as many in a row (Rule.MaxRepeats), and the
	// last of them counts already. When none of stealRuns lost more than the
	// limit, it is so no longer.
	stealRuns, stealOften = 6, 3
	// stealRoom above the most that these runs lost is still as a rule.
	stealRoom = 1.25
	// stealMost is what is never as a rule: half of a machine.
	stealMost = 0.5
)

// stealing is what other virtual machines took of the machines in the runs made
// last. Nobody can stop them, so waiting for a quiet machine may never end; what
// runs vary more for it is in their pairs, by which they are judged.
type stealing struct {
	shares []float64 // of the worst machine, of each run; at most stealRuns
	rule   float64   // what is taken as a rule; 0: no more than the limit
}

// allowed is how much may be taken in a run that lost share; news says that it is
// more than before. limit is what may be taken on any machine.
func (s *stealing) allowed(share, limit float64) (allowed float64, news bool) {
	s.shares = append(s.shares, share)
	s.shares = s.shares[max(0, len(s.shares)-stealRuns):]
	if s.rule > 0 && len(s.shares) == stealRuns && slices.Max(s.shares) <= limit {
		s.rule, s.shares = 0, nil // a burst is one again
		return limit, false
	}
	allowed = max(limit, s.rule)
	often, most := 0, 0.0
	for _, x := range s.shares {
		if x > allowed && x <= stealMost {
			often, most = often+1, max(most, x)
		}
	}
	if often < stealOften {
		return allowed, false
	}
	s.rule, s.shares = min(stealRoom*most, stealMost), nil
	return s.rule, true
}

// cpuTime is the CPU time that a host had in a run, in seconds; 0 if unknown.
func cpuTime(ev *evidence.Evidence, name string) float64 {
	// What the host's own clock counted between its two readings, which is not
	// just the window if they were under way for long.
	sys := ev.On(name)
	if total := sys.CPUTime(); total > 0 {
		return total
	}
	return float64(sys.CPUs) * ev.Load.Window.Seconds()
}

// stolen is the share of the worst machine that the hypervisor gave to others.
func stolen(ev *evidence.Evidence) float64 {
	most := 0.0
	for _, name := range ev.HostNames() {
		if total := cpuTime(ev, name); total > 0 {
			most = max(most, ev.On(name).Steal/total)
		}
	}
	return most
}

// allowSteal is how much other virtual machines may take in this run. A limit
// that the operator wrote is kept.
func (b *Bench) allowSteal(kind string, ev *evidence.Evidence) float64 {
	limit := b.Stack.Tune.Foreign()
	if b.Stack.Tune.MaxForeignCPU > 0 || kind == store.Diagnostic {
		return max(limit, b.disturbance.steal.rule)
	}
	share := stolen(ev)
	allowed, news := b.disturbance.steal.allowed(share, limit)
	if news {
		b.note(fmt.Sprintf("other virtual machines took up to %.0f %% of the CPU in %d runs: that is how this machine is, so runs with up to %.0f %% count from now on; small effects will not be seen (tune.max_foreign_cpu sets a limit that holds)",
			100*allowed/stealRoom, stealOften, 100*allowed))
	}
	if share > limit && share <= allowed {
		ev.Health = append(ev.Health, evidence.Health{Source: "CPU", Text: fmt.Sprintf("other virtual machines took %.0f %% of it (steal), as they do most of the time here", 100*share)})
	}
	return allowed
}

// others is the share of the worst machine that processes outside the stack used.
func others(ev *evidence.Evidence) float64 {
	most := 0.0
	for _, name := range ev.HostNames() {
		if total := cpuTime(ev, name); total > 0 {
			most = max(most, (ev.On(name).ForeignCPU+ev.On(name).Neighbours)/total)
		}
	}
	return most
}

// allowOthers is how much processes outside the stack may use in this run. They can be
// stopped, so each run waits for them first, and the first ones are made again; but
// where they stay, that is how the machine is, and a session that waits for its
// end comes to nothing. A limit that the operator wrote is kept.
func (b *Bench) allowOthers(kind string, ev *evidence.Evidence) float64 {
	limit := b.Stack.Tune.Foreign()
	if b.Stack.Tune.MaxForeignCPU > 0 || kind == store.Diagnostic {
		return max(limit, b.disturbance.others.rule)
	}
	share := others(ev)
	allowed, news := b.disturbance.others.allowed(share, limit)
	if news {
		b.note(fmt.Sprintf("processes outside the stack used up to %.0f %% of the CPU in %d runs: that is how this machine is, so runs with up to %.0f %% count from now on, and none waits for less; small effects will not be seen (tune.max_foreign_cpu sets a limit that holds; on a quiet machine the same time shows more)",
			100*allowed/stealRoom, stealOften, 100*allowed))
	}
	if share > limit && share <= allowed {
		ev.Health = append(ev.Health, evidence.Health{Source: "CPU", Text: fmt.Sprintf("processes outside the stack used %.0f %% of it, as they do most of the time here", 100*share)})
	}
	return allowed
}

// noteSteal remembers what others took of a run that counts; limit is what they
// may take on any machine.
func (t *turns) noteSteal(run *store.Run, limit float64) {
	if share := stolen(run.Evidence); run.Unfit == "" && share > limit {
		t.robbed, t.most = t.robbed+1, max(t.most, share)
	}
}
