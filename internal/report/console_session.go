package report

import (
	"fmt"
	"io"
	"time"

	"kasoku/internal/ui"
)

// factor tells how many times the score as found, "" where that cannot be said.
func factor(f float64) string {
	if f == 0 {
		return ""
	}
	return "   " + ui.Factor(f)
}

// SessionText prints a session for the terminal: as found and final score, the
// factor, the kept steps in order, what was put back, what binds now.
func SessionText(w io.Writer, m *Model) error {
	p := &page{w: w}
	s := m.Session
	p.line("%s", m.Headline)
	p.line("")
	p.line("as found  %s %s%s", ui.Number(s.Base()), s.Unit(), s.WithUsers(s.AsFoundWorkload))
	if s.Final > 0 {
		p.line("final     %s %s%s%s", ui.Number(s.Final), s.Unit(), s.WithUsers(s.FinalWorkload), factor(m.Score.Factor))
	}
	if text := comparedText(m.compared()); text != "" {
		p.line("          %s", text)
	}
	if s.FinalAsFoundLoad > 0 {
		same := ""
		if s.Compared != nil && s.Compared.SameLoad != nil {
			same = "   " + withInterval(s.Compared.SameLoad)
		}
		p.line("          %s %s with %d users%s", ui.Number(s.FinalAsFoundLoad), s.Unit(), s.AsFoundWorkload, same)
	}
	if s.AfterRestart > 0 {
		p.line("          %s %s after %s", ui.Number(s.AfterRestart), s.Unit(), m.Score.Restarted())
	}
	p.line("time      %s, %d steps, %d kept", m.Took.Round(time.Second), len(m.Kept())+len(m.Rejected()), len(m.Kept()))
	p.line("")
	for _, st := range m.Kept() {
		undo := ""
		if st.Tx > 0 {
			undo = fmt.Sprintf("kasoku undo %d", st.Tx)
		}
		p.line("  kept      %2d. %s   %s   %s", st.Seq, st.Plan.Title, Effect(st.Verdict), undo)
	}
	for _, st := range m.Rejected() {
		p.line("  put back  %2d. %s   %s %s", st.Seq, st.Plan.Title, st.Verdict.Words(), Effect(st.Verdict))
	}
	for _, r := range s.Refusals {
		p.line("  refused       %s   %s", r.Plan.Title, r.Why)
	}
	p.textWork(m)
	if len(s.Checks) > 0 {
		p.line("")
		p.line("Does the regulation hold:")
		p.textChecks(s.Checks)
	}
	p.line("")
	p.line("%s: %s", s.Bottleneck(), s.BindsText)
	p.line("Ended because %s.", s.Stopped)
	if text := repeated(m.Runs); text != "" {
		p.line("%s", text)
	}
	return p.err
}
