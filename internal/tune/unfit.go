package tune

import (
	"fmt"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

const (
	// leastAnswers of a run: a score of fewer varies by a third of itself even
	// if nothing else does (counts of independent events, √n).
	leastAnswers = 10
	// clockLimit: a clock that is slewed (adjtime(3): at most 0.05 %) is within
	// it, one that is set is not.
	clockLimit = 250 * time.Millisecond
)

// unfit says why a run is no evidence; "" if it is. maxForeign is the share of
// each machine that other processes may use, maxSteal what other virtual machines
// may.
func unfit(ev *evidence.Evidence, maxForeign, maxSteal float64) string {
	if ev.Load.Saturated != "" {
		return "the load generator was the limit: " + ev.Load.Saturated
	}
	for _, name := range ev.HostNames() {
		where := ""
		if len(ev.Hosts) > 0 {
			where = " of " + name
		}
		sys, total := ev.On(name), cpuTime(ev, name)
		if total <= 0 {
			continue
		}
		if share := (sys.ForeignCPU + sys.Neighbours) / total; share > maxForeign {
			return fmt.Sprintf("processes outside the stack used %.0f %% of the CPU%s", 100*share, where)
		}
		if share := sys.Steal / total; share > maxSteal {
			return fmt.Sprintf("other virtual machines took %.0f %% of the CPU%s (steal)", 100*share, where)
		}
	}
	return ""
}

// poor says why a scored run is no evidence although nobody else disturbed it;
// "" if it is. Whether logs were empty is not asked here: only diagnostic runs
// read any that should hold something, and their score is not used.
func poor(run *store.Run, jump time.Duration) string {
	if run.Kind == store.Diagnostic {
		return ""
	}
	if why := spoils(run.Evidence); why != "" {
		return why
	}
	if jump.Abs() > clockLimit {
		return fmt.Sprintf("this machine's clock was set by %s in the window; keep it right by slewing (chrony, systemd-timesyncd)", jump.Round(time.Millisecond))
	}
	// A candidate that answers little is a verdict, not a poor run, and so are
	// failures. load.command may count its work in other things than answers: then
	// the score tells whether there was any.
	l := run.Evidence.Load
	if run.Side != experiment.Candidate && l.Engine != "" && l.Succeeded < leastAnswers && (l.Succeeded > 0 || run.Score <= 0) && l.Timeouts+l.Errors+l.Mismatches == 0 {
		return fmt.Sprintf("only %d requests were answered in %s; write a longer duration into the scenario, or use -d", l.Succeeded, l.Window)
	}
	return ""
}

// spoils says which service ended, or was restarted, during a run; "" if none did.
func spoils(ev *evidence.Evidence) string {
	for _, h := range ev.Health {
		if h.Spoils {
			return h.Text
		}
	}
	return ""
}

// clockJump is how much further the clock of the day went than the monotonic
// one between two readings that hold both; 0 if one is missing.
func clockJump(began, ended time.Time) time.Duration {
	if began.IsZero() || ended.IsZero() {
		return 0
	}
	return ended.Round(0).Sub(began.Round(0)) - ended.Sub(began)
}
