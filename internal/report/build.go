package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Options of Build.
type Options struct {
	// Rule that the session decided by; the zero Rule means the default one.
	Rule experiment.Rule
	// Version of Kasoku, told in the report.
	Version string
	// Now is the time of the report; zero: the present.
	Now time.Time
	// WithoutLevels leaves out the scores over all sessions, which take reading
	// every scored run.
	WithoutLevels bool
	// Like is an earlier Model of the store, or nil: what it has of the same
	// runs is taken over, not read again. It stays as it is.
	Like *Model
}

// Build reads a session and all that belongs to it. A session that is still
// running or was interrupted gives a report of what is known so far. Values
// that look like secrets are masked in the whole Model.
func Build(ctx context.Context, st *store.Store, session int64, o Options) (*Model, error) {
	s, err := st.Session(session)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Rule.MaxPairs == 0 {
		o.Rule = experiment.DefaultRule()
	}
	m := &Model{Format: Format, Created: o.Now, Kasoku: o.Version, Session: *s,
		Rule: Rule{Alpha: o.Rule.Alpha, MaxPairs: o.Rule.MaxPairs, SmallestEffect: o.Rule.SmallestEffect}}
	if err := m.addSteps(ctx, st); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	runs, err := st.Runs(store.RunFilter{Session: session})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	m.addRuns(runs)
	taken, err := m.addFromRuns(st, runs, o.Like)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if !o.WithoutLevels {
		if err := m.addLevels(st); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	m.Noise = noise(m.Steps)
	m.addScore()
	m.addTook()
	m.Headline, m.Caveats = headline(m), caveats(m)
	m.Reproduce = reproduce(m)
	m.mask(taken)
	return m, nil
}

// addSteps reads the steps, and the answers of those that broke.
func (m *Model) addSteps(ctx context.Context, st *store.Store) error {
	steps, err := st.Steps(m.Session.ID)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := Step{Step: s, Trades: trades(s.Plan.Trades), Commands: commands(s.Plan), Factor: m.Session.Factor(s.Verdict.CandidateScore)}
		if s.Verdict.Outcome == experiment.Broke {
			if x.Wrong, err = wrongAnswers(st, s.Verdict); err != nil {
				return err
			}
		}
		for _, w := range s.Verdict.Warnings {
			m.Warnings = append(m.Warnings, Warning{Where: fmt.Sprintf("step %d", s.Seq), Text: w.Text})
		}
		m.Steps = append(m.Steps, x)
	}
	for i := range m.Steps {
		m.Steps[i].SecondLook = m.secondLook(m.Steps[i])
		m.Steps[i].Parts = m.parts(m.Steps[i])
	}
	return nil
}

// mostWrong answers are shown per step: one shows the fault, a second whether
// it is always the same.
const mostWrong = 2

// wrongAnswers returns the first answers that the candidate gave wrongly.
func wrongAnswers(st *store.Store, v experiment.Verdict) ([]load.Mismatch, error) {
	for i := len(v.Samples) - 1; i >= 0; i-- {
		s := v.Samples[i]
		if s.Side != experiment.Candidate || s.Mismatches+s.Failures == 0 || s.RunID == 0 {
			continue
		}
		run, err := st.Run(s.RunID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && (run.Evidence == nil || run.Evidence.Load == nil)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if all := run.Evidence.Load.Samples; len(all) > 0 {
			return all[:min(len(all), mostWrong)], nil
		}
	}
	return nil, nil
}

// trades puts names into words; it is never nil, so that "none" can be told.
func trades(ts []regulation.Trade) []Trade {
	out := []Trade{}
	for _, t := range ts {
		x := Trade{Name: t, Text: string(t)}
		for _, known := range regulation.Trades {
			if known.Trade == t {
				x.Text = known.Text
			}
		}
		out = append(out, x)
	}
	return out
}

// commands of a plan, each once, in order.
func commands(p remedy.Plan) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range p.All() {
		if c.Command != "" && !seen[c.Command] {
			seen[c.Command] = true
			out = append(out, c.Command)
		}
	}
	return out
}

// addRuns counts the session's runs and says which were no evidence.
func (m *Model) addRuns(runs []store.Run) {
	m.Runs.Total = len(runs)
	for i := len(runs) - 1; i >= 0; i-- { // oldest first
		r := runs[i]
		switch r.Kind {
		case store.Scored:
			m.Runs.Scored++
		case store.Diagnostic:
			m.Runs.Diagnostic++
		case store.Probe:
			m.Runs.Probe++
		}
		if r.Unfit == "" {
			continue
		}
		if r.Kind != store.Diagnostic {
			m.Runs.Unfit++
			m.Runs.WhyUnfit = r.Unfit
		}
		m.Warnings = append(m.Warnings, Warning{Where: fmt.Sprintf("run %d", r.ID), Text: "unfit: " + r.Unfit})
	}
}

func (m *Model) addScore() {
	s := m.Session
	m.Score = Score{Unit: s.Unit(), AsFound: s.Base(), Final: s.Final, Measured: s.Final != 0, AfterRestart: s.AfterRestart}
	for _, x := range s.NotRestarted {
		m.Score.NotRestarted = append(m.Score.NotRestarted, x.Service)
	}
	if !m.Score.Measured {
		m.Score.Final = s.AsFound
		for _, k := range m.Kept() {
			if k.Verdict.CandidateScore > 0 {
				m.Score.Final = k.Verdict.CandidateScore
			}
		}
	}
	m.Score.Factor = s.Gain()
	if c := m.compared(); s.Compared == nil && c != nil {
		m.Score.Factor = c.Factor
	}
	if m.Score.Final > 0 && s.AfterRestart > 0 {
		m.Score.RestartEffect = s.AfterRestart/m.Score.Final - 1
	}
}

// compared is what the factor of the session comes of: as left and as found in turn, or
// what the kept changes' own experiments showed as long as that was not done; nil where
// nothing was kept, or nothing that was is told by pairs.
func (m *Model) compared() *store.Compared {
	if m.Session.Compared != nil || len(m.Kept()) == 0 {
		return m.Session.Compared
	}
	steps := make([]store.Step, len(m.Steps))
	for i, s := range m.Steps {
		steps[i] = s.Step
	}
	c := store.ComparedBySteps(steps)
	if c.Pairs == 0 {
		return nil
	}
	c.Why = "the session did not come to it"
	if m.Session.State == "running" {
		c.Why = "the session is not at its end"
	}
	return c
}

// addTook: a session that is still running lasts until now. The time between an
// interruption and going on does not count.
func (m *Model) addTook() {
	s := m.Session
	switch {
	case s.Started.IsZero():
	case s.Ended.IsZero():
		m.Took = s.Worked + m.Created.Sub(s.Began())
	case s.Worked > 0:
		m.Took = s.Worked
	default:
		m.Took = s.Ended.Sub(s.Started)
	}
	m.Took = max(m.Took, 0)
}
