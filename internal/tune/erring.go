package tune

import (
	"cmp"
	"fmt"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// erring is how many answers were errors of the server (status 5xx) in a run, by the
// access log of the service that saw the most requests; 0 of 0 where no log was read.
// Kasoku's own load checks each answer; somebody else's benchmark may count errors of
// the server as answers, or not at all.
func erring(ev *evidence.Evidence) (errors, requests int64, service string) {
	failed, all := map[string]int64{}, map[string]int64{}
	for _, r := range ev.Routes {
		failed[r.Service] += r.Status[5]
		all[r.Service] += r.Count
	}
	for name, n := range all {
		if n > requests || n == requests && name < service {
			errors, requests, service = failed[name], n, name
		}
	}
	return errors, requests, service
}

// erringSlack is the share of errors of the server that says nothing, beside twice as
// many as found.
const erringSlack = 0.001

// judgeErrors makes a run of the baseline, or of the service as it is left, no evidence where errors of the server came
// that were not there as found: a restart that the step needed has cut connections that
// the application kept, and both sides would be measured broken. What a candidate
// answers is judged by the verdict.
func (b *Bench) judgeErrors(run *store.Run) {
	b.noteDeadlocks(run)
	if !b.Foreign() || run.Kind != store.Scored || run.Unfit != "" {
		return
	}
	errors, requests, service := erring(run.Evidence)
	if requests == 0 {
		return
	}
	share := float64(errors) / float64(requests)
	switch {
	case run.Side == experiment.Candidate:
	case !b.scored.errors || b.scored.sides == nil && run.Side == "": // as found, or as a session that goes on finds it
		b.scored.errors, b.scored.erred = true, max(b.scored.erred, share)
	case share > 2*b.scored.erred+erringSlack:
		why := "an application may have kept connections to what this step restarts"
		if text := deadlocked(run.Evidence); text != "" {
			why = text
		}
		run.Unfit = fmt.Sprintf("%d of %d answers in the access log of %s were errors of the server (5xx), as found %.1f %%; %s", errors, requests, service, 100*b.scored.erred, why)
	}
}

// noteDeadlocks notes where the service as it is left answers more errors than as found, whoever's
// load it is, and a database has rolled transactions back in deadlocks.
func (b *Bench) noteDeadlocks(run *store.Run) {
	if run.Kind != store.Scored || run.Side != "" || b.scored.sides == nil {
		return
	}
	found := b.scored.erred
	if !b.Foreign() && b.scored.asked > 0 {
		found = float64(b.scored.wrong) / float64(b.scored.asked)
	}
	s := sample(run)
	if bad := s.Failures + s.Mismatches; s.Requests > 0 && float64(bad)/float64(s.Requests) > 2*found+erringSlack {
		b.scored.deadlocks = cmp.Or(deadlocked(run.Evidence), b.scored.deadlocks)
	}
}
