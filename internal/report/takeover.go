package report

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/store"
)

// madeFrom names what the parts of a Model come from which no step changes: the
// runs at both ends of the session, its diagnostic runs, and whether it has
// ended. A run never changes once it is stored.
func madeFrom(s store.Session, runs []store.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "session %d, %s: runs %d %d", s.ID, s.State, s.AsFoundRun, s.FinalRun)
	for _, r := range runs {
		if r.Kind == store.Diagnostic {
			fmt.Fprintf(&b, " %d", r.ID)
		}
	}
	return b.String()
}

// addFromRuns fills in what only stored runs decide: out of like if that is of
// the same runs, else by reading them, which is most of Build's work. taken
// tells which.
func (m *Model) addFromRuns(st *store.Store, runs []store.Run, like *Model) (taken bool, err error) {
	m.from = madeFrom(m.Session, runs)
	if like != nil && like.from == m.from {
		m.takeOver(like)
		return true, nil
	}
	if err := m.addWork(st, runs); err != nil {
		return false, err
	}
	if err := m.addEvidence(st); err != nil {
		return false, err
	}
	before := len(m.Warnings)
	if err := m.addFlames(st); err != nil {
		return false, err
	}
	if len(m.Warnings) > before {
		m.from = "" // they are not taken over
	}
	return false, nil
}

// takeOver all that only stored runs decide.
func (m *Model) takeOver(x *Model) {
	m.Before, m.After, m.CPU, m.Times, m.Resources = x.Before, x.After, x.CPU, x.Times, x.Resources
	m.Routes, m.Statements, m.Seen, m.Findings, m.NotJudged = x.Routes, x.Statements, x.Seen, x.Findings, x.NotJudged
	m.Work, m.WorkRun, m.Flames = x.Work, x.WorkRun, x.Flames
	m.Setup = x.Setup
}

// mask what looks like a secret. What was taken over is masked, and somebody
// may be reading it.
func (m *Model) mask(taken bool) {
	if !taken {
		change.RedactAll(m)
		return
	}
	rest := *m
	rest.takeOver(&Model{})
	change.RedactAll(&rest)
	rest.takeOver(m)
	*m = rest
}
