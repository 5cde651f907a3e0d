package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kasoku/internal/prove"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// tune lets Kasoku work, and reads from its store what it did. An interrupted
// session goes on.
func (c *wholeCase) tune(ctx context.Context) error {
	err := c.inLab(ctx, nil, []int{ui.NoDifference, ui.Inconclusive, ui.Broken}, "tune", "--budget", c.Budget.String())
	session, serr := c.session()
	if session != nil {
		c.result.Session = session
	}
	return errors.Join(err, serr)
}

// session is the last one in the store; nil if there is none.
func (c *wholeCase) session() (*Session, error) {
	db, err := store.Open(filepath.Join(c.HostDir, ".kasoku"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	last, err := db.LastSession()
	if err != nil {
		return nil, err
	}
	steps, err := db.Steps(last.ID)
	if err != nil {
		return nil, err
	}
	s := &Session{Done: last.State == "done", Took: last.Ended.Sub(last.Started), AsFound: last.AsFound, Final: last.Final,
		Stopped: last.Stopped, Binds: last.BindsText}
	if !s.Done {
		// Two experiments that could not be judged end it, too: there is no more.
		s.Done = last.StopReason == store.StopNoisy
	}
	for _, x := range steps {
		s.Steps = append(s.Steps, Step{Title: x.Plan.Title, Kept: x.Kept && !x.LeftOut, Outcome: string(x.Verdict.Outcome), Effect: x.Verdict.Effect,
			Low: x.Verdict.Low, High: x.Verdict.High, Took: x.Ended.Sub(x.Started)})
	}
	for _, r := range last.Refusals {
		s.Refusals = append(s.Refusals, fmt.Sprintf("%s: %s", r.Plan.Title, r.Why))
	}
	if last.FinalRun == 0 {
		return s, nil
	}
	run, err := db.Run(last.FinalRun)
	if err != nil || run.Diagnosis == nil {
		return s, err
	}
	for _, f := range run.Diagnosis.Findings {
		s.Findings = append(s.Findings, Finding{Title: f.Title, Bound: f.Bound})
		if strings.HasPrefix(f.Rule, "topology.") {
			s.Hosts = append(s.Hosts, fmt.Sprintf("%s (%s). %s", f.Title, ui.Bound(f.Bound), f.Text))
		}
	}
	for _, n := range run.Diagnosis.NotJudged {
		if strings.HasPrefix(n.Rule, "topology.") {
			s.Hosts = append(s.Hosts, fmt.Sprintf("%s: not judged: %s", n.Rule, n.Why))
		}
	}
	return s, nil
}

func (c *wholeCase) prove(ctx context.Context) error {
	var out struct {
		Checks []prove.Result `json:"checks"`
	}
	if err := c.inLab(ctx, &out, []int{ui.Broken}, "prove"); err != nil {
		return err
	}
	c.result.Checks = out.Checks
	for _, r := range out.Checks {
		fmt.Printf("   %s: %s: %s\n", r.Check, r.Outcome, r.Text)
	}
	return nil
}
