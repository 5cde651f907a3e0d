package tune

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/sqllog"
	"kasoku/internal/store"
)

// explained is the share of all statement time whose plans must be known before an
// index is said to be used by none.
const explained = 0.9

// takeOutUnused takes indexes out of kept groups that no statement uses now. What was
// kept with others that brought much has proved nothing by itself; an index that
// no plan names brings nothing, whatever a further experiment would show, and costs
// each write.
func (t *Tuner) takeOutUnused(ctx context.Context) error {
	if t.seen.evidence == nil || t.judging.putBack {
		return nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	for i := range steps {
		s := &steps[i]
		if !changesTarget(*s) || len(s.Plan.Parts) < 2 {
			continue
		}
		for k := range s.Plan.Parts {
			p := &s.Plan.Parts[k]
			names := indexesOf(s.Plan.Changes, p)
			if len(names) == 0 || p.LeftOut || p.Tied || p.LookedAgain != 0 || !unused(t.seen.evidence, names) {
				continue
			}
			if err := t.takeOut(ctx, s, p, fmt.Sprintf("no statement that was recorded since uses %s", strings.Join(names, ", "))); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexesOf are the names of the indexes that a part makes; none if it does anything
// else.
func indexesOf(changes []change.Change, p *remedy.Part) []string {
	if p.First+p.Count > len(changes) {
		return nil
	}
	var out []string
	for _, c := range changes[p.First : p.First+p.Count] {
		if c.Kind != change.KindIndex || c.Drop || c.Index == nil {
			return nil
		}
		out = append(out, c.Index.Name)
	}
	return out
}

// unused reports whether the plans of nearly all statement time are known and none
// reads one of the indexes.
func unused(ev *evidence.Evidence, names []string) bool {
	var all, known time.Duration
	for i := range ev.Statements {
		s := &ev.Statements[i]
		if !sqllog.Explainable(s.Example) { // reads no table
			continue
		}
		all += s.Total
		plan := evidence.Plan(s.Explain)
		if len(plan) == 0 {
			continue
		}
		known += s.Total
		for _, row := range plan {
			for _, name := range names {
				if strings.Contains(row.Key, name) { // an index merge names several
					return false
				}
			}
		}
	}
	return all > 0 && float64(known) >= explained*float64(all)
}

// takeOut takes one part of a kept step out without an experiment, as a step of its
// own that says why.
func (t *Tuner) takeOut(ctx context.Context, s *store.Step, part *remedy.Part, why string) error {
	changes, err := t.without(ctx, []store.Step{*s}, part)
	if err != nil {
		t.UI.Info(fmt.Sprintf("not taken out: %s: %v", part.Title, err))
		return nil
	}
	t.course.seq++
	step := &store.Step{Session: t.session.ID, Seq: t.course.seq, Started: time.Now(), Binding: t.seen.diag.Binds, LeavesOut: []int{s.Seq}, LeavesOutPart: part.ID,
		Plan: remedy.Plan{ID: fmt.Sprintf("leave-out:%v:%s", []int{s.Seq}, part.ID), Remedy: "leave-out", Title: "Take out again: " + part.Title,
			Why: "It was kept together with others; " + why + ".", Changes: changes},
		Verdict: experiment.Verdict{Outcome: experiment.NoDifference, Reason: why}}
	if err := t.Store.SaveStep(step); err != nil {
		return err
	}
	t.opens(step)
	sw := &switcher{exec: t.Exec, bench: t.Bench, step: step.ID, intent: change.Intent{Title: "Without: " + part.Title, Plan: step.Plan.ID, Session: t.session.ID, Changes: changes}}
	err = sw.to(ctx, experiment.Candidate)
	if err == nil {
		err = t.Exec.Keep(ctx, sw.tx)
	}
	if err == nil {
		step.Tx = sw.tx
	}
	step.Ended, step.Diffs = time.Now(), diffs(changes)
	if serr := t.Store.SaveStep(step); err == nil {
		err = serr
	}
	if err == nil {
		err = t.noteLooks(step, []store.Step{*s})
	}
	if err == nil {
		part.LookedAgain, part.LeftOut = step.Seq, true
		for _, id := range part.IDs() {
			t.schedule.tried[id] = attempt{final: true}
		}
		t.UI.Info(fmt.Sprintf("taken out: %s: %s", part.Title, why))
	}
	t.closes(step, err)
	return err
}
