package remedy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
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
	slices.SortFunc(small, func(a, b Plan) int { return strings.Compare(a.ID, b.ID) })
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

// combination is plans put one on top of the other.
type combination struct {
	parts   []Plan
	changes []change.Change
}

// combine plans each part on the configuration that the parts before it leave.
// A part that cannot be planned there any more is left over.
func combine(in Input, small []Plan) (c combination, left []Plan) {
	for _, p := range small {
		again, ok := replan(in, p)
		if !ok {
			left = append(left, p)
			continue
		}
		c.parts = append(c.parts, p)
		c.add(again.Changes)
		in.Snapshot = withChanges(in.Snapshot, again.Changes)
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
			return o.Kind == n.Kind && o.Host == n.Host && (n.Kind == change.KindFile && o.Path == n.Path ||
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

// withChanges is the snapshot with the files and variables as the changes leave
// them.
func withChanges(snap *evidence.Snapshot, changes []change.Change) *evidence.Snapshot {
	out := *snap
	out.Files = maps.Clone(snap.Files)
	for _, c := range changes {
		if db := out.Databases[c.Service]; c.Kind == change.KindVariable && db != nil {
			copied := *db
			copied.Variables = maps.Clone(db.Variables)
			copied.Variables[c.Variable] = c.AfterValue
			out.Databases = maps.Clone(out.Databases)
			out.Databases[c.Service] = &copied
		}
		if c.Kind != change.KindFile {
			continue
		}
		files := maps.Clone(out.Files[c.Host])
		f := files[c.Path]
		f.Content, f.Hash = c.After.Content, string(c.After.Hash)
		files[c.Path] = f
		out.Files[c.Host] = files
	}
	return &out
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
