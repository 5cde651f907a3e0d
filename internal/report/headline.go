package report

import (
	"fmt"
	"strings"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// headline is the result in one sentence.
func headline(m *Model) string {
	s, kept := m.Score, len(m.Kept())
	steps, unsure := kept, 0 // without second looks and what is being tried
	for _, x := range m.Rejected() {
		if x.Verdict.Outcome != "" {
			steps++
		}
		if x.Verdict.Outcome == experiment.Inconclusive {
			unsure++
		}
	}
	running := m.Session.State == "running"
	tried := plural(steps, "change that was tried", "changes that were tried")
	switch {
	case s.AsFound == 0 && s.Final == 0 && m.Session.Command != "tune":
		return tryHeadline(m)
	case s.AsFound == 0 && s.Final == 0 && running:
		return "The service is being measured as found."
	case s.AsFound == 0 && s.Final == 0:
		return "The session ended before the service was measured as found."
	case kept == 0 && steps == 0 && (running || len(m.Steps) > 0):
		return fmt.Sprintf("%s as found; nothing was judged yet.", s.Points(s.AsFound))
	case kept == 0 && steps == 0:
		return fmt.Sprintf("%s as found; nothing was tried.", s.Points(s.AsFound))
	case kept == 0 && unsure == steps && steps == 1:
		return fmt.Sprintf("%s as found; the one change that was tried could not be judged, and was put back.", s.Points(s.AsFound))
	case kept == 0 && unsure > 0:
		return fmt.Sprintf("%s as found; none of the %s was seen to be better, %s, and each was put back.", s.Points(s.AsFound), tried, plural(unsure, "could not be judged", "could not be judged"))
	case kept == 0 && steps == 1:
		return fmt.Sprintf("%s as found; the one change that was tried was not better, and was put back.", s.Points(s.AsFound))
	case kept == 0:
		return fmt.Sprintf("%s as found; none of the %s was better, and each was put back.", s.Points(s.AsFound), tried)
	case s.Factor == 0:
		return fmt.Sprintf("%s instead of %s. %s", s.Points(s.Final), s.Points(s.AsFound), keptOf(kept, tried, steps))
	case m.compared().By == store.BySteps: // two scores of two times are no gain
		return fmt.Sprintf("%s the score in %s. %s", ui.Factor(s.Factor), ui.Duration(m.Took), keptOf(kept, tried, steps))
	}
	return fmt.Sprintf("%s the score in %s: %s instead of %s. %s",
		ui.Factor(s.Factor), ui.Duration(m.Took), s.Points(s.Final), s.Points(s.AsFound), keptOf(kept, tried, steps))
}

// keptOf says how many of the steps were kept, at least one.
func keptOf(kept int, tried string, steps int) string {
	switch {
	case steps == 1:
		return "The one change that was tried was kept."
	case kept == 2 && steps == 2:
		return "Both changes that were tried were kept."
	case kept == steps:
		return fmt.Sprintf("All %s were kept.", tried)
	case kept == 1:
		return fmt.Sprintf("1 of the %s was kept.", tried)
	}
	return fmt.Sprintf("%d of the %s were kept.", kept, tried)
}

// comparedText says what the factor of a session comes of; "" where nothing was
// compared at its end.
func comparedText(c *store.Compared) string {
	if c == nil {
		return ""
	}
	interval := strings.TrimPrefix(withInterval(c), ui.Factor(c.Factor))
	switch c.By {
	case store.ByStep:
		return fmt.Sprintf("by the %s of the one change that was kept%s", plural(c.Pairs, "pair of runs", "interleaved pairs of runs"), interval)
	case store.BySteps:
		return fmt.Sprintf("the experiments of the kept changes, multiplied; as found was not put in place once more at the end: %s", c.Why)
	}
	return fmt.Sprintf("as left and as found in turn, %s%s", plural(c.Pairs, "pair of runs", "interleaved pairs of runs"), interval)
}

// withInterval is a factor with its 95 % interval, where it has one.
func withInterval(c *store.Compared) string {
	text := ui.Factor(c.Factor)
	if c.Low > 0 && c.High > c.Low {
		text += fmt.Sprintf(" (95 %%: %s to %s)", ui.Factor(c.Low), ui.Factor(c.High))
	}
	return text
}

// tryHeadline is about the one change of `kasoku try`.
func tryHeadline(m *Model) string {
	if len(m.Steps) == 0 {
		return "Nothing was tried."
	}
	s := m.Steps[len(m.Steps)-1]
	word := "put back"
	if s.Kept {
		word = "kept"
	}
	return fmt.Sprintf("%s: %s (%s); %s.", s.Plan.Title, s.Verdict.Words(), Effect(s.Verdict), word)
}

// StillRunning is the caveat of a session that has not ended: nobody knows it
// from one that was killed but who sees it at work.
const StillRunning = "The session is still running, or was killed; this is what is known so far."

// caveats are what a reader must know to read the headline rightly.
func caveats(m *Model) []string {
	var out []string
	s := m.Session
	switch s.State {
	case "running":
		out = append(out, StillRunning)
	case "interrupted":
		out = append(out, "The session was interrupted; `kasoku tune` goes on from here.")
	case "failed":
		text := "The session ended with an error: " + s.Stopped
		if s.Command == "tune" && s.AsFound > 0 {
			text += "; `kasoku tune` goes on from here."
		}
		out = append(out, text)
	}
	if !m.Score.Measured && len(m.Kept()) > 0 {
		out = append(out, "The end was not measured: the factor multiplies what the kept changes' own experiments showed, and the score is that of the last one.")
	}
	if s.FinalWorkload != 0 && s.AsFoundWorkload != 0 && s.FinalWorkload != s.AsFoundWorkload {
		out = append(out, loadChanged(s))
	}
	if e := m.Score.RestartEffect; e < -m.Rule.SmallestEffect-restartNoise {
		out = append(out, fmt.Sprintf("After %s the score was %s against the final one: something warms up slowly, or does not survive a restart.", m.Score.Restarted(), ui.Percent(e)))
	}
	if broken := brokenText(s.Checks); broken != "" {
		out = append(out, broken)
	}
	for _, doubt := range s.Doubts {
		out = append(out, "A score counts a run that was no evidence, because no better one could be had ("+doubt+").")
	}
	if text := repeated(m.Runs); text != "" {
		out = append(out, text)
	}
	return out
}

// repeatedWorth is the share of a session's runs that are no evidence from which
// on a reader should know: in their time about as much more could be tried.
const repeatedWorth = 0.1

// repeated says how many runs were no evidence, "" if they are few.
func repeated(r RunCount) string {
	judged := r.Scored + r.Probe
	if r.Unfit == 0 || float64(r.Unfit) < repeatedWorth*float64(judged) {
		return ""
	}
	return fmt.Sprintf("%d of %d runs were no evidence and had to be made again (the last: %s). On a quieter machine the same time tries more.", r.Unfit, judged, r.WhyUnfit)
}

// loadChanged says how much of the factor comes from more users.
func loadChanged(s store.Session) string {
	text := fmt.Sprintf("The load was changed too: %d users as found, %d at the end.", s.AsFoundWorkload, s.FinalWorkload)
	if c := s.Compared; c != nil && c.SameLoad != nil && c.SameLoad.Factor > 0 {
		return text + fmt.Sprintf(" With %d users at both ends the factor is %s: that comes from the changes alone.", s.AsFoundWorkload, withInterval(c.SameLoad))
	}
	text += " Part of the factor comes from that."
	if s.FinalAsFoundLoad > 0 {
		text += fmt.Sprintf(" With %d users, as found, the service now scores %s, which was not measured in turn with the service as found.", s.AsFoundWorkload, points(s.FinalAsFoundLoad, s.Unit()))
	}
	return text
}

// restartNoise is how far two runs may differ before it is worth a word:
// ±5 % between separate runs is ordinary.
const restartNoise = 0.05

// tradesMade lists what kept changes gave up, "" if nothing.
func tradesMade(m *Model) string {
	seen, text := map[string]bool{}, ""
	for _, s := range m.Kept() {
		for _, t := range s.Trades {
			if seen[t.Text] {
				continue
			}
			seen[t.Text] = true
			if text != "" {
				text += "; "
			}
			text += t.Text
		}
	}
	return text
}

// hasInterval: one pair has no spread.
func hasInterval(v experiment.Verdict) bool { return v.Pairs > 1 && v.High > v.Low }

func points(v float64, unit string) string {
	if v == store.NoScore {
		v = 0
	}
	return ui.Count(v) + " " + unit
}

func plural(n int, one, many string) string { return ui.Plural(n, one, many) }

// reproduce lists the commands that show or repeat what is reported.
func reproduce(m *Model) []Command {
	s := m.Session
	workload := ""
	if n := max(s.FinalWorkload, s.AsFoundWorkload); n > 0 {
		workload = fmt.Sprintf(" -c %d", n)
	}
	out := []Command{
		{"kasoku run" + workload, "measure the service as it is now"},
		{"kasoku verify", "check that every kept change is still in force"},
		{fmt.Sprintf("kasoku report %d -o report.json", s.ID), "every number of this report as JSON"},
	}
	if s.FinalRun != 0 {
		out = append(out, Command{fmt.Sprintf("kasoku diagnose --run %d", s.FinalRun), "the findings of the last diagnostic run"})
	}
	if len(m.Kept()) > 0 {
		out = append(out,
			Command{"kasoku export DIR", "the kept changes as files, SQL and commands, for another machine"},
			Command{"kasoku undo --all && kasoku run" + asFoundLoad(s.AsFoundWorkload), "put everything back as found, and measure that"})
	}
	if s.Command == "tune" {
		out = append(out, Command{"kasoku tune --new", "the whole session once more"})
	}
	return out
}

func asFoundLoad(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" -c %d", n)
}

// outcomeText is a step's verdict in a word or two.
func outcomeText(s Step) string {
	switch {
	case s.LeftOut:
		return "kept at first, taken out again"
	case s.Kept:
		return "kept"
	case s.Verdict.Outcome == "":
		return "not finished"
	case s.Verdict.Outcome == experiment.Improved:
		return "improved, not kept"
	}
	return s.Verdict.Words()
}
