package report

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/ui"
)

// fact is one thing that every form of a report tells, in the same words.
type fact struct {
	ID, Name string // ID of its place in the page; may be empty
	Parts    []part
}

// part of a fact's text; its ID, if any, is that of its place in the page.
// Line begins a new line there.
type part struct {
	ID, Text string
	Line     bool
}

// Text of the whole fact on one line.
func (f fact) Text() string {
	var b strings.Builder
	for i, p := range f.Parts {
		if p.Line && i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// parts alternates plain texts with those that have an ID ("#alpha 1.0 %").
func parts(texts ...string) []part {
	var out []part
	for _, t := range texts {
		id, rest, ok := strings.Cut(strings.TrimPrefix(t, "#"), " ")
		if ok && strings.HasPrefix(t, "#") {
			out = append(out, part{ID: id, Text: rest})
			continue
		}
		out = append(out, part{Text: t})
	}
	return out
}

// endName says what the score beside "as found" is of: a session that was cut
// short has not measured its end.
func (m *Model) endName() string {
	switch {
	case m.Session.State == "running":
		return "So far"
	case m.Score.Measured:
		return "At the end"
	}
	return "Last kept change"
}

// hasEnd: there is a score besides the one as found.
func (m *Model) hasEnd() bool { return m.Score.Measured || len(m.Kept()) > 0 }

// facts are the numbers that a session came to.
func facts(m *Model) []fact {
	s := m.Score
	end, factor, restart := "nothing was kept", "not known", "not measured"
	if m.hasEnd() {
		end = points(s.Final)
		if s.Factor > 0 {
			factor = ui.Factor(s.Factor)
		}
	}
	if s.AfterRestart > 0 {
		restart = points(s.AfterRestart) + " (" + ui.Percent(s.RestartEffect) + ")"
	}
	one := func(id, name, text string) fact { return fact{id, name, []part{{Text: text}}} }
	return []fact{
		one("as-found", "As found", points(s.AsFound)), one("final", m.endName(), end), one("factor", "Factor", factor),
		one("after-restart", "After "+s.Restarted(), restart),
		one("took", "Time taken", fmt.Sprintf("%s, %d runs", ui.Duration(m.Took), m.Runs.Total)),
	}
}

// byHand says what to do by hand where a kept step has no commands.
func byHand(s Step) string {
	if len(shownDiffs(s)) > 0 {
		return "make the change below and let the service read it; `kasoku export DIR` writes it as a script"
	}
	return "nothing on the target to do by hand"
}

// undoText says how a kept step is put back.
func undoText(s Step) string {
	if s.Tx == 0 {
		return "nothing to undo: the target itself was not changed"
	}
	return fmt.Sprintf("`kasoku undo %d`", s.Tx)
}

// sure are the reasons to believe a report, and their limits.
func sure(m *Model) []fact {
	r, n := m.Rule, m.Runs
	noise := []part{{Text: "Not known: no experiment has two fit runs of its baseline."}}
	if m.Noise > 0 {
		noise = parts("Scores of one and the same configuration differed by ", "#noise "+ui.Share(m.Noise), " from run to run (standard deviation, median over the experiments). Pairs take out what changes slowly.")
	}
	return []fact{
		{"", "Rule", parts("Baseline and candidate alternated in pairs, in an order tossed by a coin; what is judged is the ratio within pairs. A change was kept only if a group-sequential test found it better with a false-positive rate of ",
			"#alpha "+ui.Share(r.Alpha), " for each experiment, in at most ", fmt.Sprintf("#max-pairs %d", r.MaxPairs), " pairs, and by at least "+ui.Percent(r.SmallestEffect)+". Wrong answers, more failures, or a 99th percentile half as long again end a candidate whatever its score.")},
		{"", "Runs", parts(fmt.Sprintf("#runs %d", n.Total), fmt.Sprintf(" runs: %d scored, %d diagnostic (statements recorded, score not used), %d probes of a search; %d unfit and repeated.", n.Scored, n.Diagnostic, n.Probe, n.Unfit))},
		{"", "Noise", noise},
		{"", "Evidence", covered(m)},
		{"", "Limits", parts("An estimate at an early stop tends to be somewhat too high; the score at the end is measured anew.")},
	}
}

// covered says which sources told something about the runs at both ends.
func covered(m *Model) []part {
	sides := slices.DeleteFunc([]*Side{m.Before, m.After}, func(s *Side) bool { return s == nil })
	if len(sides) == 0 {
		return parts("No diagnostic run.")
	}
	var out []part
	for _, s := range sides {
		text := fmt.Sprintf("Run %d: %s covered it", s.Run, plural(s.Healthy, "source", "sources"))
		if len(s.Unhealthy) > 0 {
			text += "; not: " + strings.Join(s.Unhealthy, "; ")
		}
		out = append(out, part{Text: text + ".", Line: true})
	}
	return out
}
