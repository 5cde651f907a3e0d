package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/remedy/planning"
)

// Together joins the plans of small remedies into one: each alone brings less
// than the noise of a run, together they can be proved, and it takes the time
// of one experiment. The group is kept or put back as a whole. Best first.
func Together(in Input, plans []Plan) []Plan {
	var small, out []Plan
	for _, p := range plans {
		if r := remedyOf(p.Remedy); r != nil && r.Small && len(p.Trades) == 0 && p.Search == nil && p.Workload == 0 {
			small = append(small, p)
		} else {
			out = append(out, p)
		}
	}
	if len(small) < 2 {
		return plans
	}
	// What moves in phases comes last: its first phase begins with what the
	// others leave.
	slices.SortFunc(small, func(a, b Plan) int {
		return cmp.Or(phases(a)-phases(b), strings.Compare(a.ID, b.ID))
	})
	group, left := combine(in, small)
	if len(group.parts) < 2 {
		return plans
	}
	out = append(append(out, group.plan()), left...)
	byPromise(out)
	return out
}

// Join makes one plan of several, each planned on what those before it leave;
// left are those that cannot be planned there any more. Its trades are all of
// theirs. There must be at least one plan.
func Join(in Input, plans []Plan) (joined Plan, left []Plan) {
	c, left := combine(in, plans)
	joined = c.plan()
	for _, p := range c.parts {
		for _, t := range p.Trades {
			if !slices.Contains(joined.Trades, t) {
				joined.Trades = append(joined.Trades, t)
			}
		}
	}
	return joined, left
}

func remedyOf(id string) *Remedy {
	for i := range Table {
		if Table[i].ID == id {
			return &Table[i]
		}
	}
	return nil
}

// phases is the number of phases after a plan's first.
func phases(p Plan) int {
	n := 0
	for _, c := range p.Changes {
		n = max(n, c.Phase)
	}
	return n
}

// combination is plans put one on top of the other.
type combination struct {
	parts   []Plan
	changes []change.Change
}

// combine plans each part on the configuration that the parts before it leave.
// A part that cannot be planned there any more is left over.
func combine(in Input, small []Plan) (c combination, left []Plan) {
	moves := false
	if in.Snapshot != nil {
		in.Stack = in.Snapshot.StackInUse(in.Stack)
	}
	for _, p := range small {
		again, ok := replan(in, p)
		// A second move would have to begin before the first has ended.
		if phases(p) > 0 && moves {
			ok = false
		}
		moves = moves || phases(p) > 0
		if !ok {
			left = append(left, p)
			continue
		}
		c.parts = append(c.parts, p)
		c.add(again.Changes)
		in.Snapshot = planning.WithChanges(in.Snapshot, again.Changes)
	}
	return c, left
}

// replan makes the same plan on in's snapshot.
func replan(in Input, p Plan) (Plan, bool) {
	r := remedyOf(p.Remedy)
	for _, f := range in.Diagnosis.Findings {
		if !answers(*r, f.Rule) {
			continue
		}
		plans, err := r.Plan(in, f)
		if err != nil {
			continue
		}
		for _, q := range plans {
			if q.ID == p.ID && len(q.Changes) > 0 {
				return q, true
			}
		}
	}
	return Plan{}, false
}

// add takes changes in; several of one file or
// variable become one.
func (c *combination) add(changes []change.Change) {
	for _, n := range changes {
		i := slices.IndexFunc(c.changes, func(o change.Change) bool {
			return o.Kind == n.Kind && o.Host == n.Host && o.Phase == n.Phase && (n.Kind == change.KindFile && o.Path == n.Path ||
				n.Kind == change.KindVariable && o.Service == n.Service && o.Variable == n.Variable)
		})
		if i < 0 {
			c.changes = append(c.changes, n)
			continue
		}
		old := &c.changes[i]
		old.After, old.AfterValue, old.Command = n.After, n.AfterValue, n.Command
		old.Activate = max(old.Activate, n.Activate)
		if !strings.Contains(old.Why, n.Why) {
			old.Why += " " + n.Why
		}
	}
}

// plan is the combination as one plan.
func (c combination) plan() Plan {
	p := Plan{Remedy: "group", Changes: c.changes, Rule: c.parts[0].Rule}
	var ids, titles, whys []string
	for _, part := range c.parts {
		ids, titles = append(ids, part.ID), append(titles, part.Title)
		if !slices.Contains(whys, part.Why) {
			whys = append(whys, part.Why)
		}
		for _, m := range part.Measures {
			if !slices.Contains(p.Measures, m) {
				p.Measures = append(p.Measures, m)
			}
		}
		// They save parts of the same work, so the bounds do not add up.
		p.Bound = max(p.Bound, part.Bound)
		p.Reach = min(p.Reach+part.Reach, 0.5)
	}
	p.ID = "group:" + strings.Join(ids, "+")
	p.Title = fmt.Sprintf("%d small changes together: %s", len(titles), strings.Join(titles, "; "))
	p.Why = strings.Join(whys, " ")
	return p
}
