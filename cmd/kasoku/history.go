package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/history"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// HistoryCmd lists what was done.
type HistoryCmd struct {
	Runs  bool   `help:"List runs too."`
	Limit int    `default:"20" help:"At most this many sessions and runs."`
	Since string `placeholder:"WHEN" help:"Only what is younger: 12h, 30d, 8w, or a date (2026-01-31)."`
}

// Help is shown below the flags.
func (HistoryCmd) Help() string {
	return "Sessions with their steps, the journal with what is kept, and how the score of what was in place went over time: each change of level with its date, its size and what Kasoku did then.\n\nExamples:\n  kasoku history\n  kasoku history --since 30d\n  kasoku history --runs --limit 50 --json"
}

// historyList is what history prints.
type historyList struct {
	Sessions []store.Session        `json:"sessions"`
	Steps    map[int64][]store.Step `json:"steps"`
	Runs     []store.Run            `json:"runs,omitempty"`
	Journal  []change.Tx            `json:"journal"`
	Levels   []history.Series       `json:"levels"`
}

// Validate refuses what cannot be meant.
func (c *HistoryCmd) Validate() error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit: %d is below 0; give how many to list at most, or 0 for all", c.Limit)
	}
	return nil
}

// Run implements the command.
func (c *HistoryCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Store.Close()
	since, err := sinceWhen(c.Since, time.Now())
	if err != nil {
		return err
	}
	h := historyList{Steps: map[int64][]store.Step{}}
	if h.Sessions, err = p.Store.Sessions(c.Limit); err != nil {
		return err
	}
	h.Sessions = slices.DeleteFunc(h.Sessions, func(s store.Session) bool { return s.Started.Before(since) })
	if !change.InUse(p.Dir) {
		for i := range h.Sessions {
			killed(&h.Sessions[i])
		}
	}
	for _, s := range h.Sessions {
		if h.Steps[s.ID], err = p.Store.Steps(s.ID); err != nil {
			return err
		}
	}
	if c.Runs {
		if h.Runs, err = p.Store.Runs(store.RunFilter{Limit: c.Limit}); err != nil {
			return err
		}
		h.Runs = slices.DeleteFunc(h.Runs, func(r store.Run) bool { return r.Started.Before(since) })
	}
	if h.Journal, err = change.Read(p.Dir); err != nil {
		return ui.Coded(ui.Failure, err, "the journal's README.txt tells how to put things back by hand")
	}
	if h.Sessions == nil {
		h.Sessions = []store.Session{} // in JSON a list is never null
	}
	if h.Journal == nil {
		h.Journal = []change.Tx{}
	}
	if h.Levels, err = report.Levels(p.Store, report.LevelOptions{Since: since, Smallest: p.rule().SmallestEffect, Journal: h.Journal}); err != nil {
		return err
	}
	return a.print(h, func(w io.Writer) error { return historyText(w, h, a.UI.Loss) })
}

// sinceWhen reads --since: a time ago (also in days and weeks), or a date.
func sinceWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.Atoi(number); ok && err == nil && n > 0 {
			return now.AddDate(0, 0, -n*days), nil
		}
	}
	return time.Time{}, ui.Coded(ui.Usage, fmt.Errorf("history: --since %q is neither a time ago (12h, 30d, 8w) nor a date (2026-01-31)", text), "kasoku history --help")
}

func historyText(w io.Writer, h historyList, loss func(string) string) error {
	if len(h.Sessions)+len(h.Runs)+len(h.Journal) == 0 {
		_, err := fmt.Fprintln(w, "nothing yet: kasoku run, kasoku tune")
		return err
	}
	for _, s := range h.Sessions {
		fmt.Fprintf(w, "session %d  %s  %s  %s  as found %s → %s\n", s.ID, s.Started.Format(time.DateTime), s.Command, s.State, ui.Number(s.Base()), ui.Number(s.Final))
		for _, st := range h.Steps[s.ID] {
			mark := " "
			if st.Kept {
				mark = "+"
			}
			fmt.Fprintf(w, "  %s %2d. %-60s %s %s\n", mark, st.Seq, st.Plan.Title, st.Verdict.Words(), report.Effect(st.Verdict))
		}
	}
	for _, r := range h.Runs {
		fmt.Fprintf(w, "run %d  %s  %s  %s  %s\n", r.ID, r.Started.Format(time.DateTime), r.Kind, ui.Number(r.Score), r.Label)
	}
	for _, tx := range h.Journal {
		if tx.InForce() {
			fmt.Fprintf(w, "kept #%d %s (kasoku undo %d)\n", tx.ID, tx.Title, tx.ID)
		}
	}
	return report.LevelsText(w, h.Levels, loss)
}
