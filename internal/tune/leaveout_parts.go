package tune

import (
	"context"
	"slices"
	"sort"

	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// leaveOutParts looks at the parts of kept groups, one by one, the one with the
// least promise first: it says what each brings, and takes out one that harms
// behind the others' gain. Small plans are looked at as one: each is below the
// noise (ADR 5).
func (t *Tuner) leaveOutParts(ctx context.Context) error {
	for asked := map[string]bool{}; ; {
		steps, err := t.Store.Steps(t.session.ID)
		if err != nil {
			return err
		}
		step, part := partToLeaveOut(steps, asked)
		if part == nil || t.noTimeToLookAgain() {
			return nil
		}
		asked[part.ID] = true // also if it cannot be taken out alone
		if err := t.leaveOutGroup(ctx, []store.Step{*step}, part); err != nil {
			return err
		}
	}
}

// partToLeaveOut is the next part that was not looked at yet, nil if there is
// none. What is left of a group when all but one were taken out was judged as
// the group.
func partToLeaveOut(steps []store.Step, asked map[string]bool) (*store.Step, *remedy.Part) {
	type candidate struct {
		step *store.Step
		part *remedy.Part
	}
	var all []candidate
	for i := range steps {
		s := &steps[i]
		if !changesTarget(*s) || len(s.Plan.Parts) < 2 || s.Plan.OfSmall() {
			continue
		}
		for k := range s.Plan.Parts {
			p := &s.Plan.Parts[k]
			if p.LookedAgain == 0 && !p.Tied && !asked[p.ID] {
				all = append(all, candidate{s, p})
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].part, all[j].part
		return (a.Bound-1)*a.Reach < (b.Bound-1)*b.Reach
	})
	return all[0].step, all[0].part
}

// noteLook writes what a second look saw into the step, or the part of it, that
// it was about, and reports whether that was news. look.Tx is set if that was
// taken out.
func noteLook(s *store.Step, look *store.Step) bool {
	if look.LeavesOutPart == "" {
		news := s.LookedAgain != look.Seq
		s.LookedAgain, s.LeftOut = look.Seq, look.Tx != 0
		return news
	}
	i := slices.IndexFunc(s.Plan.Parts, func(p remedy.Part) bool { return p.ID == look.LeavesOutPart })
	if i < 0 || s.Plan.Parts[i].LookedAgain == look.Seq {
		return false
	}
	p := &s.Plan.Parts[i]
	p.LookedAgain, p.Gain, p.LeftOut = look.Seq, look.Verdict.Effect, look.Tx != 0
	return true
}
