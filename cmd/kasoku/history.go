package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// HistoryCmd lists what was done.
type HistoryCmd struct {
	Runs  bool `help:"List runs too."`
	Limit int  `default:"20" help:"At most this many sessions and runs."`
}

// Help is shown below the flags.
func (HistoryCmd) Help() string {
	return "Sessions with their steps, and the journal with what is kept.\n\nExamples:\n  kasoku history\n  kasoku history --runs --limit 50 --json"
}

// historyList is what history prints.
type historyList struct {
	Sessions []store.Session        `json:"sessions"`
	Steps    map[int64][]store.Step `json:"steps"`
	Runs     []store.Run            `json:"runs,omitempty"`
	Journal  []change.Tx            `json:"journal"`
}

// Run implements the command.
func (c *HistoryCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Store.Close()
	h := historyList{Steps: map[int64][]store.Step{}}
	if h.Sessions, err = p.Store.Sessions(c.Limit); err != nil {
		return err
	}
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
	}
	if h.Journal, err = change.Read(p.Dir); err != nil {
		return ui.Coded(ui.Failure, err, "the journal's README.txt tells how to put things back by hand")
	}
	return a.print(h, func(w io.Writer) error { return historyText(w, h) })
}

func historyText(w io.Writer, h historyList) error {
	if len(h.Sessions)+len(h.Runs)+len(h.Journal) == 0 {
		_, err := fmt.Fprintln(w, "nothing yet: kasoku run, kasoku tune")
		return err
	}
	for _, s := range h.Sessions {
		fmt.Fprintf(w, "session %d  %s  %s  %s  as found %s → %s\n", s.ID, s.Started.Format(time.DateTime), s.Command, s.State, ui.Number(s.AsFound), ui.Number(s.Final))
		for _, st := range h.Steps[s.ID] {
			mark := " "
			if st.Kept {
				mark = "+"
			}
			fmt.Fprintf(w, "  %s %2d. %-60s %s %s\n", mark, st.Seq, st.Plan.Title, st.Verdict.Outcome, report.Effect(st.Verdict))
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
	return nil
}
