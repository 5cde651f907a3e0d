package tune

import (
	"cmp"
	"slices"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// half is a part of a group that was not kept, to be tried by itself.
type half struct {
	ids []string // of plans, best promise first
	// lead: so many at the front are of the kind that is expected to bring most, and
	// much. They are parted from the others first: when something beside an index
	// hurts, the index is kept by the next step.
	lead int
	// bad: the other half of a group that did harm is harmless, so this one
	// holds what harms; it is not tried whole.
	bad bool
	// harm: the group that it is a half of did harm; first: its other half comes
	// next.
	harm, first bool
}

// halves of groups that were not kept, the next one first. They follow from the
// stored steps alone.
type halves []half

// after takes the outcome of a step into account.
func (h *halves) after(st *store.Step) {
	ids := st.Plan.PlanIDs()
	i := slices.IndexFunc(*h, func(x half) bool {
		return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(x.ids, id) })
	})
	var was half
	if i >= 0 { // those before it had nothing left to try
		was, *h = (*h)[i], (*h)[i+1:]
	}
	v := st.Verdict
	harmless := v.Outcome != experiment.Inconclusive || v.TooFew || v.Shared && v.Looked()
	if was.first && was.harm && !harmed(v) && harmless && len(*h) > 0 {
		(*h)[0].bad = true
		h.divide()
	}
	if rest, risky := deadlocking(st); len(rest) > 0 && len(risky) > 0 {
		*h = append(halves{{ids: rest, harm: true, first: true}, {ids: risky, harm: true}}, *h...)
	} else if splits(st) {
		ids, lead := byPromise(st.Plan.Parts)
		h.push(half{ids: ids, lead: lead, bad: harmed(v)})
	}
}

// deadlocking are the parts of a group that made requests fail: risky those with which transactions
// may end in deadlocks, which is what fails first, and the rest. Both are nil where it did not.
func deadlocking(st *store.Step) (rest, risky []string) {
	if st.Verdict.Outcome != experiment.Broke || !splits(st) {
		return nil, nil
	}
	for _, p := range st.Plan.Parts {
		switch {
		case p.Deadlocks:
			risky = append(risky, p.IDs()...)
		case len(p.Of) == 0: // small ones come to turn by themselves
			rest = append(rest, p.ID)
		}
	}
	return rest, risky
}

// push puts the two halves of x in front: those that lead and the others, or each
// with as many.
func (h *halves) push(x half) {
	mid := (len(x.ids) + 1) / 2
	if x.lead > 0 && x.lead < len(x.ids) {
		mid = x.lead
	}
	*h = append(halves{{ids: x.ids[:mid], harm: x.bad, first: true}, {ids: x.ids[mid:], harm: x.bad}}, *h...)
}

// divide replaces what is known to be bad and is more than one by its halves.
func (h *halves) divide() {
	if len(*h) > 0 && (*h)[0].bad && len((*h)[0].ids) > 1 {
		x := (*h)[0]
		*h = (*h)[1:]
		h.push(x)
	}
}

// splits reports whether a group that was not kept is to be tried in halves:
// if it did harm, or if it brought too little although more than the smallest
// effect is still plausible. Small plans cannot be shown in parts (ADR 5), so
// they are split only to find the one that harms.
func splits(st *store.Step) bool {
	if st.Kept || st.Ended.IsZero() || len(st.Plan.Parts) < 2 || someUndone(st.Plan.Parts) {
		return false
	}
	switch {
	case harmed(st.Verdict):
		return true
	case st.Verdict.Outcome == experiment.NoDifference:
		return !st.Plan.OfSmall()
	}
	return false
}

// byPromise are the IDs of parts, the one that may bring the most first. Small
// ones that were joined come to turn by themselves, together. If the parts of one
// family (an index and another) are expected to bring as much as a lead does, they
// come first, and lead is their number; else it is 0.
func byPromise(parts []remedy.Part) (ids []string, lead int) {
	sorted := slices.DeleteFunc(slices.Clone(parts), func(p remedy.Part) bool { return len(p.Of) > 0 })
	gain := func(p remedy.Part) float64 { return outlook{}.part(p.Remedy, p.Worth()) }
	slices.SortStableFunc(sorted, func(a, b remedy.Part) int { return cmp.Compare(gain(b), gain(a)) })
	of := map[string]float64{}
	for _, p := range sorted {
		of[family(p.Remedy)] += gain(p)
	}
	best := ""
	for _, p := range sorted {
		if f := family(p.Remedy); best == "" || of[f] > of[best] {
			best = f
		}
	}
	if of[best] > leadGain {
		slices.SortStableFunc(sorted, func(a, b remedy.Part) int {
			switch first, second := family(a.Remedy) == best, family(b.Remedy) == best; {
			case first == second:
				return 0
			case first:
				return -1
			}
			return 1
		})
	}
	for _, p := range sorted {
		if of[best] > leadGain && family(p.Remedy) == best {
			lead++
		}
		ids = append(ids, p.ID)
	}
	return ids, lead
}

// next is the plan of the half that is to be tried now, nil if none waits. Of a
// half whose plans are no longer called for nothing is left.
func (h *halves) next(in remedy.Input, plans []remedy.Plan) *remedy.Plan {
	for len(*h) > 0 {
		var found []remedy.Plan
		for _, p := range plans {
			if slices.Contains((*h)[0].ids, p.ID) {
				found = append(found, p)
			}
		}
		if len(found) == 1 {
			return &found[0]
		}
		if len(found) > 1 {
			p, _ := remedy.Group(in, found)
			if len(p.Parts) == 1 {
				return &found[0]
			}
			if len(p.Parts) > 1 {
				return &p
			}
		}
		*h = (*h)[1:]
	}
	return nil
}
