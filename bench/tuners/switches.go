package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
)

// look sees the service as it is now, the way a session of Kasoku does.
func (p *place) look(ctx context.Context, users int) (remedy.Input, error) {
	bench := *p.bench // what it learns is not for the runs that are scored
	run, snap, err := tune.Observe(ctx, p.exec, &bench, users, "look", silent{})
	if err != nil {
		return remedy.Input{}, err
	}
	return remedy.Input{Stack: p.stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}, nil
}

type silent struct{}

func (silent) Step(string)         {}
func (silent) Info(string)         {}
func (silent) Warn(string, string) {}

// switches are the plans that a trial takes or leaves: what Kasoku would change
// here beside numbers and indexes. sets is any draw of the knobs.
func switches(in remedy.Input, sets []string) []remedy.Plan {
	return slices.DeleteFunc(remedy.PlanAll(in).Plans, func(p remedy.Plan) bool {
		return !isSwitch(p) || drawn(in.Stack, in.Snapshot, p, sets)
	})
}

// isSwitch reports whether a plan is on or off and nothing else. A cache of
// pages (Fresh) is none: what it answers must be compared with the application.
func isSwitch(p remedy.Plan) bool {
	return len(p.Trades) == 0 && p.Search == nil && p.Workload == 0 && p.Fresh == nil && len(p.Changes) > 0 &&
		!slices.ContainsFunc(p.All(), func(c change.Change) bool { return c.Kind == change.KindPackage })
}

// drawn reports whether a plan changes nothing that is not drawn anyway: only
// indexes, or only settings that sets has. In the second case the files are the
// same with sets, whether the plan came before or not.
func drawn(st *stack.Stack, snap *evidence.Snapshot, p remedy.Plan, sets []string) bool {
	if !slices.ContainsFunc(p.Changes, func(c change.Change) bool { return c.Kind != change.KindIndex || c.Drop }) {
		return true
	}
	for _, c := range p.Changes {
		if c.Kind != change.KindFile && (c.Kind != change.KindVariable || !draws(sets, c.Service, c.Variable)) {
			return false
		}
	}
	without, err := withSets(st, snap, sets)
	if err != nil {
		return false
	}
	with, err := withSets(st, planning.WithChanges(snap, p.Changes), sets)
	if err != nil {
		return false
	}
	for host, files := range with.Files {
		for path, f := range files {
			if !sameLines(f.Content, without.Files[host][path].Content) {
				return false
			}
		}
	}
	return true
}

func withSets(st *stack.Stack, snap *evidence.Snapshot, sets []string) (*evidence.Snapshot, error) {
	changes, _, err := remedy.Set(st, snap, sets)
	if err != nil {
		return nil, err
	}
	return planning.WithChanges(snap, changes), nil
}

// sameLines reports whether two files have the same lines in any order: a
// setting that is added comes where there was room.
func sameLines(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	sorted := func(text []byte) []string {
		lines := strings.Split(string(text), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		slices.Sort(lines)
		return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	}
	return slices.Equal(sorted(a), sorted(b))
}

// drawSwitches takes each with probability one half, in random order: of two
// that exclude each other the first stays. Moves in phases come last, as in
// Kasoku's own groups.
func drawSwitches(r *rand.Rand, all []remedy.Plan) []remedy.Plan {
	var out []remedy.Plan
	for _, i := range r.Perm(len(all)) {
		if r.IntN(2) == 1 {
			out = append(out, all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b remedy.Plan) int { return lastPhase(a.Changes) - lastPhase(b.Changes) })
	return out
}

func lastPhase(changes []change.Change) int {
	n := 0
	for _, c := range changes {
		n = max(n, c.Phase)
	}
	return n
}

// plan is what a trial puts in place: the switches joined, each planned on what
// those before it leave, then the drawn settings and indexes on top. Where both
// set something, the drawn value holds.
func (t trial) plan(in remedy.Input) (remedy.Plan, error) {
	var out remedy.Plan
	if len(t.switches) > 0 {
		out, _ = remedy.Join(in, t.switches)
	}
	snap := planning.WithChanges(in.Snapshot, out.Changes)
	out.Changes = slices.DeleteFunc(slices.Clone(out.Changes), func(c change.Change) bool {
		return c.Kind == change.KindVariable && draws(t.sets, c.Service, c.Variable)
	})
	top, _, err := remedy.Set(in.Stack, snap, t.sets)
	if err != nil {
		return remedy.Plan{}, fmt.Errorf("with %s: %w", t.names(), err)
	}
	db := in.Stack.OfKind(stack.MariaDB, stack.MySQL)[0].Name
	for i := range t.indexes {
		top = append(top, change.Change{Kind: change.KindIndex, Service: db, Index: &t.indexes[i]})
	}
	last := lastPhase(out.Changes)
	for i := range top {
		top[i].Phase = last
	}
	out.Changes = append(out.Changes, top...)
	return out, nil
}

// names of the remedies that the trial's switches are of.
func (t trial) names() string {
	var out []string
	for _, p := range t.switches {
		out = append(out, p.Remedy)
	}
	if len(out) == 0 {
		return "no switch"
	}
	return strings.Join(out, ", ")
}
