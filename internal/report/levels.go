package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/history"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// LevelOptions of Levels.
type LevelOptions struct {
	// Since leaves out runs from before; zero: none.
	Since time.Time
	// Smallest change of level worth telling, as a fraction.
	Smallest float64
	// Journal tells what was undone; may be nil.
	Journal []change.Tx
}

// Levels are the scores of what was in place over time, for each scenario and
// workload, with the changes of level and what Kasoku did between.
func Levels(st *store.Store, o LevelOptions) ([]history.Series, error) {
	runs, err := st.Measured()
	if err != nil {
		return nil, err
	}
	out := []history.Series{}
	changed := false
	for len(runs) > 0 {
		n := 0
		for n < len(runs) && runs[n].Scenario == runs[0].Scenario && runs[n].Workload == runs[0].Workload {
			n++
		}
		s := history.Series{Scenario: runs[0].Scenario, Workload: runs[0].Workload, Points: occasions(runs[:n], o.Since)}
		runs = runs[n:]
		if len(s.Points) == 0 {
			continue
		}
		s.Find(o.Smallest)
		changed = changed || len(s.Changes) > 0
		out = append(out, s)
	}
	if !changed {
		return out, nil
	}
	events, err := eventsOf(st, o.Journal)
	if err != nil {
		return nil, err
	}
	for i := range out {
		explain(&out[i], events)
		if err := sameLoad(st, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sameLoad says of each change whether the scenario is another one after it.
func sameLoad(st *store.Store, s *history.Series) error {
	hash := func(id int64) (string, error) {
		run, err := st.Run(id)
		if err != nil || run.Evidence == nil || run.Evidence.Load == nil {
			return "", err
		}
		return run.Evidence.Load.ScenarioHash, nil
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		before, err := hash(s.Points[c.At-1].Last)
		if err != nil {
			return err
		}
		after, err := hash(s.Points[c.At].First)
		if err != nil {
			return err
		}
		if before != "" && after != "" && before != after {
			c.Between = append(slices.DeleteFunc(c.Between, func(text string) bool { return text == unknownCause }),
				fmt.Sprintf("another scenario of that name (hash %.12s → %.12s): these scores do not compare", before, after))
		}
	}
	return nil
}

// unknownCause of a change of level.
const unknownCause = "nothing that Kasoku knows of"

// occasions takes runs together that followed each other in one session for one
// purpose, such as the baseline's in an experiment.
func occasions(runs []store.Measured, since time.Time) []history.Point {
	var out []history.Point
	for i, r := range runs {
		if r.Started.Before(since) {
			continue
		}
		if last := len(out) - 1; last >= 0 && r.Session != 0 && runs[i-1].Session == r.Session && runs[i-1].Step == r.Step {
			out[last].Add(r.Score, r.ID, r.ConfigHash)
			continue
		}
		out = append(out, history.Point{Time: r.Started, Score: r.Score, Runs: 1, First: r.ID, Last: r.ID, Config: r.ConfigHash})
	}
	return out
}

// event is something that may have changed the level.
type event struct {
	at   time.Time
	text string
}

func eventsOf(st *store.Store, journal []change.Tx) ([]event, error) {
	steps, err := st.KeptSteps()
	if err != nil {
		return nil, err
	}
	var out []event
	for _, s := range steps {
		word := "kept"
		if len(s.LeavesOut) > 0 {
			word = "taken out"
		}
		out = append(out, event{s.Ended, fmt.Sprintf("%s: %s (session %d, step %d)", word, s.Plan.Title, s.Session, s.Seq)})
	}
	for _, tx := range journal {
		if tx.State == change.StateUndone {
			out = append(out, event{tx.Ended, fmt.Sprintf("undone: %s (#%d)", tx.Title, tx.ID)})
		}
	}
	return out, nil
}

// beside is how many measurements on either side the place of a change may be
// off by.
const beside = 3

// explain says of each change what happened there, else near it, else that
// nothing is known.
func explain(s *history.Series, events []event) {
	for i := range s.Changes {
		c := &s.Changes[i]
		within := func(from, to time.Time, near string) {
			for _, e := range events {
				if e.at.After(from) && !e.at.After(to) {
					c.Between = append(c.Between, near+e.text)
				}
			}
		}
		within(c.Since, c.Time, "")
		if len(c.Between) == 0 {
			within(s.Points[max(0, c.At-1-beside)].Time, s.Points[min(len(s.Points)-1, c.At+beside)].Time, "near it: ")
		}
		if before, after := s.Configs(i); before != "" && after != "" && before != after {
			c.Between = append(c.Between, fmt.Sprintf("another configuration (hash %.12s → %.12s)", before, after))
		}
		if len(c.Between) == 0 {
			c.Between = append(c.Between, unknownCause)
		}
	}
}

// sparkWidth in characters: half a terminal's line.
const sparkWidth = 60

// levelsTitle is one line about a series.
func levelsTitle(s history.Series) string {
	last := s.Levels[len(s.Levels)-1]
	return fmt.Sprintf("%s, %s: %s since %s, now %s", s.Scenario, plural(s.Workload, "user", "users"),
		plural(len(s.Points), "measurement", "measurements"), s.Points[0].Time.Format(time.DateOnly), ui.Count(last.Score))
}

// changeLine is one line about a change of level.
func changeLine(c history.Change) string {
	return fmt.Sprintf("%s  %s (%s … %s)  %s → %s  (after %s)", c.Time.Format(time.DateTime), ui.Percent(c.Effect), ui.Percent(c.Low), ui.Percent(c.High),
		ui.Count(c.Before), ui.Count(c.After), c.Since.Format(time.DateTime))
}

// LevelsText prints series with more than one measurement. loss marks what got
// slower; nil: nothing does.
func LevelsText(w io.Writer, all []history.Series, loss func(string) string) error {
	p := &page{w: w}
	for _, s := range all {
		if len(s.Points) < 2 {
			continue
		}
		p.line("%s", levelsTitle(s))
		p.line("  %s", s.Spark(sparkWidth))
		for _, c := range s.Changes {
			line := ui.Clean(changeLine(c))
			if loss != nil && c.Effect < 0 {
				line = loss(line)
			}
			p.raw("  " + line)
			for _, b := range c.Between {
				p.line("      %s", b)
			}
		}
		if len(s.Changes) == 0 {
			p.line("  no change of level")
		}
	}
	return p.err
}

// addLevels: one session alone has no history.
func (m *Model) addLevels(st *store.Store) error {
	sessions, err := st.Sessions(2)
	if err != nil || len(sessions) < 2 {
		return err
	}
	all, err := Levels(st, LevelOptions{Smallest: m.Rule.SmallestEffect})
	m.Levels = slices.DeleteFunc(all, func(s history.Series) bool { return len(s.Points) < 2 })
	return err
}

// mdLevels tells the same in Markdown.
func (p *page) mdLevels(m *Model) {
	if len(m.Levels) == 0 {
		return
	}
	p.line("\n## Over time\n")
	for _, s := range m.Levels {
		p.line("- %s %s", mdText(levelsTitle(s)), mdCode(s.Spark(sparkWidth)))
		for _, c := range s.Changes {
			p.line("  - %s: %s", mdText(changeLine(c)), mdText(strings.Join(c.Between, "; ")))
		}
	}
}

// raw writes a line that is clean already and may have colour.
func (p *page) raw(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}
