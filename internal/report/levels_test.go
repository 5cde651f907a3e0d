package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// overWeeks is a store with a run a day: 10 of 100 points/s; then a step is kept
// and 10 have 120, the configuration with it; then 10 have 90 and nobody knows
// why; then an undo and 10 have 60.
func overWeeks(t *testing.T) (*store.Store, []change.Tx, func(day int) time.Time) {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	day := func(n int) time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local).AddDate(0, 0, n) }
	for i := range 40 {
		r := &store.Run{Kind: store.Scored, Label: "daily", Started: day(i), Score: []float64{100, 120, 90, 60}[i/10] * (1 + 0.01*float64(i%3)),
			Evidence: &evidence.Evidence{Load: &load.Result{Scenario: "shop", Workload: 4, ScenarioHash: fmt.Sprint("scenario", i/30)}}}
		if i%4 == 0 && i < 20 {
			r.ConfigHash = fmt.Sprint("hash", i/10)
		}
		if err := st.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*store.Session{{Command: "tune", Started: day(9)}, {Command: "tune", Started: day(30), AsFound: 5}} {
		if err := st.SaveSession(s); err != nil {
			t.Fatal(err)
		}
	}
	step := &store.Step{Session: 1, Seq: 2, Ended: day(9).Add(time.Hour), Kept: true, Plan: remedy.Plan{Title: "More workers"}, Verdict: experiment.Verdict{Outcome: experiment.Improved}}
	if err := st.SaveStep(step); err != nil {
		t.Fatal(err)
	}
	return st, []change.Tx{{ID: 4, Title: "More workers", State: change.StateUndone, Ended: day(29).Add(time.Hour)}, {ID: 5, Title: "Kept one", State: change.StateKept, Ended: day(29)}}, day
}

func TestLevels(t *testing.T) {
	st, journal, day := overWeeks(t)
	all, err := Levels(st, LevelOptions{Smallest: 0.01, Journal: journal})
	if err != nil || len(all) != 1 || len(all[0].Points) != 40 || len(all[0].Changes) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []struct {
		at      int
		between string
	}{
		{10, "kept: More workers (session 1, step 2)\nanother configuration (hash hash0 → hash1)"},
		{20, "nothing that Kasoku knows of"},
		{30, "undone: More workers (#4)\nanother scenario of that name (hash scenario0 → scenario1): these scores do not compare"},
	} {
		c := all[0].Changes[i]
		if c.At != want.at || !c.Time.Equal(day(want.at)) || strings.Join(c.Between, "\n") != want.between {
			t.Errorf("change %d: at %d, %s, %q", i, c.At, c.Time, c.Between)
		}
	}
	var text bytes.Buffer
	if err := LevelsText(&text, all, func(s string) string { return "<" + s + ">" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shop, 4 users: 40 measurements since 2026-01-01, now 60", "\n  2026-01-11 12:00:00  +20.", "\n  <2026-01-21 12:00:00  −24.", "      undone: More workers (#4)", "▁"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
	young, err := Levels(st, LevelOptions{Smallest: 0.01, Since: day(21)})
	if err != nil || len(young) != 1 || len(young[0].Points) != 19 || len(young[0].Changes) != 1 {
		t.Errorf("since day 21: %+v, %v", young, err)
	}
	if none, err := Levels(st, LevelOptions{Since: day(50)}); err != nil || len(none) != 0 {
		t.Errorf("since tomorrow: %+v, %v", none, err)
	}
}

// TestOccasions: the baseline's runs of one experiment are one measurement, of
// two experiments two.
func TestOccasions(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	got := occasions([]store.Measured{{ID: 1, Started: at(1), Score: 100}, {ID: 2, Started: at(2), Score: 100},
		{ID: 3, Session: 1, Step: 1, Started: at(3), Score: 100}, {ID: 4, Session: 1, Step: 1, Started: at(4), Score: 400, ConfigHash: "h"},
		{ID: 5, Session: 1, Step: 2, Started: at(5), Score: 10}}, time.Time{})
	if len(got) != 4 || got[2].Runs != 2 || got[2].First != 3 || got[2].Last != 4 || got[2].Config != "h" || fmt.Sprintf("%.6f", got[2].Score) != "200.000000" {
		t.Errorf("%+v", got)
	}
}

// TestReportTellsLevels: only where there is more than one session.
func TestReportTellsLevels(t *testing.T) {
	st, _, _ := overWeeks(t)
	m, err := Build(t.Context(), st, 2, Options{})
	if err != nil || len(m.Levels) != 1 || len(m.Levels[0].Changes) != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"Markdown": func(b *bytes.Buffer) error { return Markdown(b, m) }, "HTML": func(b *bytes.Buffer) error { return HTML(b, m) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Over time", "40 measurements since 2026-01-01", "kept: More workers"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not tell %q", name, want)
			}
		}
	}
}
