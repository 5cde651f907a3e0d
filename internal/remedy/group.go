package remedy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/ui"
)

// GroupID is the Remedy of a plan that joins others.
const GroupID = "group"

// Together joins the plans of small remedies into one: each alone brings less
// than the noise of a run, together they can be proved, and it takes the time
// of one experiment. Best first.
func Together(in Input, plans []Plan) []Plan {
	var small, out []Plan
	for _, p := range plans {
		if isSmall(p) && !p.Alone && len(p.Trades) == 0 && onlyFolders(p.Prepare) && !p.Fills && p.Search == nil && p.Workload == 0 {
			small = append(small, p)
		} else {
			out = append(out, p)
		}
	}
	if len(small) < 2 {
		return plans
	}
	inPhases(small, func(a, b Plan) int { return strings.Compare(a.ID, b.ID) })
	group, left := combine(in, small, false)
	if len(group.parts) < 2 {
		return plans
	}
	out = append(append(out, group.plan()), left...)
	byPromise(out)
	return out
}

// inPhases sorts plans. What moves in phases comes last: its first phase begins
// with what the others leave.
func inPhases(plans []Plan, order func(a, b Plan) int) {
	slices.SortStableFunc(plans, func(a, b Plan) int { return cmp.Or(phases(a)-phases(b), order(a, b)) })
}

func isSmall(p Plan) bool {
	r := remedyOf(p.Remedy)
	return r != nil && r.Small
}

// Joinable reports whether a plan, or small ones joined (Together), may be tried
// together with others that are not small: it trades nothing, needs nothing
// prepared but folders, looks for no number, fills no cache, is not to be tried alone,
// and each of its changes can be taken out again while others stay (see Without).
func Joinable(p Plan) bool {
	if len(p.Trades) > 0 || !onlyFolders(p.Prepare) || p.Search != nil || p.Workload > 0 || p.Fresh != nil || p.Fills || p.Alone || len(p.Changes) == 0 || isSmall(p) {
		return false
	}
	return !slices.ContainsFunc(p.Changes, func(c change.Change) bool {
		switch c.Kind {
		case change.KindFile, change.KindVariable, change.KindSysctl, change.KindDir:
			return false
		case change.KindIndex:
			return c.Drop
		case change.KindTable:
			return c.Table == nil || !strings.EqualFold(c.Table.Engine, "InnoDB")
		default: // what restarts, builds or cannot be taken back by itself is tried alone
		}
		return true
	})
}

// onlyFolders reports whether nothing but folders is to be prepared, which do no
// harm to other plans.
func onlyFolders(prepare [][]change.Change) bool {
	for _, changes := range prepare {
		if slices.ContainsFunc(changes, func(c change.Change) bool { return c.Kind != change.KindDir }) {
			return false
		}
	}
	return true
}

// Group joins plans that are independent of each other: one that sets what an
// earlier one sets, or edits a line that an earlier one wrote, is left over.
// Best first, but tables that get another engine before indexes on them, which that engine
// makes while others write. There must be at least one plan.
func Group(in Input, plans []Plan) (joined Plan, left []Plan) {
	sorted := slices.Clone(plans)
	best := func(a, b Plan) int {
		return cmp.Or(cmp.Compare(engines(b), engines(a)), cmp.Compare(b.Promise(), a.Promise()))
	}
	slices.SortStableFunc(sorted, best)
	c, left := combine(in, sorted, true) // of two that collide the better one is in
	if slices.ContainsFunc(c.whole, func(p Plan) bool { return phases(p) > 0 }) {
		inPhases(c.whole, best)
		var more []Plan
		c, more = combine(in, c.whole, true)
		left = append(left, more...)
	}
	if len(c.parts) == 0 {
		return Plan{}, left
	}
	return c.plan(), left
}

// engines is how many tables get another engine.
func engines(p Plan) (n int) {
	for _, c := range p.Changes {
		if c.Kind == change.KindTable {
			n++
		}
	}
	return n
}

// Join makes one plan of several, each planned on what those before it leave;
// left are those that cannot be planned there any more. Its trades are all of
// theirs. There must be at least one plan.
func Join(in Input, plans []Plan) (joined Plan, left []Plan) {
	c, left := combine(in, plans, false)
	joined = c.plan()
	for _, p := range c.whole {
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
	whole   []Plan
	parts   []Part
	changes []change.Change
}

// combine plans each part on the configuration that the parts before it leave.
// A part that cannot be planned there any more is left over; so is one, if they
// are to be apart, that changes what an earlier one changed.
func combine(in Input, plans []Plan, apart bool) (c combination, left []Plan) {
	moves := false
	if in.Snapshot != nil {
		in.Stack = in.Snapshot.StackInUse(in.Stack)
	}
	for _, p := range plans {
		again, ok := replan(in, p)
		// A second move would have to begin before the first has ended.
		if phases(p) > 0 && moves {
			ok = false
		}
		if ok && apart && c.overlaps(folded(again.Changes)) {
			ok = false
		}
		if !ok {
			left = append(left, p)
			continue
		}
		moves = moves || phases(p) > 0
		p.Build = again.Build
		c.add(p, again.Changes)
		in.Snapshot = planning.WithChanges(in.Snapshot, again.Changes)
	}
	return c, left
}

// replan makes the same plan on in's snapshot.
func replan(in Input, p Plan) (Plan, bool) {
	if p.OfSmall() {
		return replanSmall(in, p)
	}
	r := remedyOf(p.Remedy)
	if r == nil {
		return Plan{}, false
	}
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

// replanSmall makes the same plan of small ones; all of them, or it is another.
func replanSmall(in Input, p Plan) (Plan, bool) {
	var each []Plan
	for _, part := range p.Parts {
		each = append(each, Plan{ID: part.ID, Remedy: part.Remedy})
	}
	c, left := combine(in, each, false)
	if len(left) > 0 {
		return Plan{}, false
	}
	again := c.plan()
	return again, again.ID == p.ID
}

// add takes a plan in, with its changes as they are on top of the others. A
// file may be edited several times in a row, so that each part can be told from
// the others; a variable that is set again is one change.
func (c *combination) add(p Plan, changes []change.Change) {
	part := Part{ID: p.ID, Remedy: p.Remedy, Title: p.Title, Why: p.Why, Rule: p.Rule, Bound: p.Bound, Reach: p.Reach, Spares: p.Spares, Service: p.Service, Spent: p.Spent, Limit: p.Limit, Deadlocks: p.Deadlocks, Small: isSmall(p), First: len(c.changes)}
	if p.OfSmall() {
		part.Small, part.Of, part.Each = true, p.PlanIDs(), p.Parts
	}
	for _, n := range changes {
		i := slices.IndexFunc(c.changes, func(o change.Change) bool {
			return n.Kind == change.KindVariable && same(o, n) && o.Phase == n.Phase
		})
		if i < 0 {
			c.changes = append(c.changes, n)
			continue
		}
		part.Tied = true
		for k := range c.parts {
			if of := &c.parts[k]; of.First <= i && i < of.First+of.Count {
				of.Tied = true
			}
		}
		old := &c.changes[i]
		old.AfterValue, old.Command = n.AfterValue, n.Command
		old.Activate = max(old.Activate, n.Activate)
		if !strings.Contains(old.Why, n.Why) {
			old.Why += " " + n.Why
		}
	}
	part.Count = len(c.changes) - part.First
	c.whole, c.parts = append(c.whole, p), append(c.parts, part)
}

// same reports whether two changes act on the same thing.
func same(a, b change.Change) bool {
	if a.Kind != b.Kind || a.Host != b.Host {
		return false
	}
	switch a.Kind {
	case change.KindFile, change.KindDir:
		return a.Path == b.Path
	case change.KindVariable, change.KindSysctl:
		return a.Service == b.Service && a.Variable == b.Variable
	case change.KindIndex:
		return a.Service == b.Service && a.Index.Schema == b.Index.Schema && a.Index.Table == b.Index.Table && a.Index.Name == b.Index.Name
	case change.KindTable:
		return a.Service == b.Service && a.Table.Schema == b.Table.Schema && a.Table.Name == b.Table.Name
	default: // is in no group
	}
	return false
}

// folded makes one change of the edits that follow each other in a file.
func folded(changes []change.Change) []change.Change {
	var out []change.Change
	for _, n := range changes {
		i := slices.IndexFunc(out, func(o change.Change) bool { return n.Kind == change.KindFile && same(o, n) })
		if i < 0 {
			out = append(out, n)
			continue
		}
		out[i].After = n.After
	}
	return out
}

// overlaps reports whether changes touch what is in the combination: the same
// variable, directory or index, or lines of a file that are not the original's.
func (c *combination) overlaps(changes []change.Change) bool {
	for _, n := range changes {
		for _, o := range c.changes {
			if !same(o, n) {
				continue
			}
			if n.Kind != change.KindFile || n.Before == nil || o.Before == nil || editsBeyond(string(o.Before.Content), string(n.Before.Content), string(n.After.Content)) {
				return true
			}
			break // the first edit of the file holds its original
		}
	}
	return false
}

// plan is the combination as one plan.
func (c combination) plan() Plan {
	p := Plan{Remedy: GroupID, Changes: c.changes, Rule: c.parts[0].Rule, Parts: c.parts}
	var ids, titles, whys []string
	small := true
	for i, part := range c.whole {
		ids = append(ids, part.ID)
		if len(part.Parts) == 0 {
			titles = append(titles, part.Title)
		}
		for _, x := range part.Parts {
			titles = append(titles, x.Title)
		}
		whys = append(whys, Reasons(part)...)
		for _, m := range part.Measures {
			if !slices.Contains(p.Measures, m) {
				p.Measures = append(p.Measures, m)
			}
		}
		small = small && c.parts[i].Small
		p.Prepare = append(p.Prepare, part.Prepare...)
		p.Fills = p.Fills || part.Fills
		p.Reach = min(p.Reach+part.Reach, 0.5)
		p.Build += part.Build
	}
	p.Bound = c.bound(small)
	p.ID = GroupID + ":" + strings.Join(ids, "+")
	word := "changes"
	if small {
		word = "small changes"
	}
	p.Title = fmt.Sprintf("%d %s together: %s", len(titles), word, strings.Join(titles, "; "))
	p.Why = strings.Join(whys, "\n")
	return p
}

// toldGain is the least factor that is told of a part.
const toldGain = 1.005

// Reasons are a line for each change of a plan: what it is, why, in one sentence, and what
// it is expected to bring alone.
func Reasons(p Plan) []string {
	line := func(title, why string, w planning.Worth) string {
		text := title + ": " + sentence(ui.Sentence(why))
		if alone := w.Expected(); alone >= toldGain {
			text += fmt.Sprintf(" Alone about %s.", ui.Factor(alone))
		}
		return text
	}
	if len(p.Parts) == 0 {
		return []string{line(p.Title, p.Why, p.Worth())}
	}
	var out []string
	for _, x := range p.Parts {
		out = append(out, line(x.Title, x.Why, x.Worth()))
	}
	return out
}

// sentence ends a reason, so that another one can follow.
func sentence(why string) string {
	if why == "" || strings.ContainsAny(why[len(why)-1:], ".!?") {
		return why
	}
	return why + "."
}

// mostShare keeps the bound of a group finite.
const mostShare = 0.99

// bound of the whole. Small ones save parts of the same work, so theirs do not
// add up. A bound B says that a share 1 − 1/B of the time goes away at most;
// the shares of different findings add up, those of one do not.
func (c combination) bound(small bool) float64 {
	most, byRule := 1.0, map[string]float64{}
	for _, p := range c.parts {
		most = math.Max(most, p.Bound)
		byRule[p.Rule] = math.Max(byRule[p.Rule], p.Bound)
	}
	if small {
		return most
	}
	share := 0.0
	for _, b := range byRule {
		share += 1 - 1/math.Max(b, 1)
	}
	return math.Max(most, 1/(1-math.Min(share, mostShare)))
}
