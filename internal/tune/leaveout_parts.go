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
		left := partsToLeaveOut(steps, asked)
		if len(left) == 0 || t.noTimeToLookAgain() {
			return nil
		}
		t.schedule.looks = len(left)
		asked[left[0].part.ID] = true // also if it cannot be taken out alone
		if err := t.leaveOutGroup(ctx, []store.Step{*left[0].step}, left[0].part); err != nil {
			return err
		}
	}
}

// keptPart is a part of a step that was kept as a group.
type keptPart struct {
	step *store.Step
	part *remedy.Part
}

// partsToLeaveOut are the parts that were not looked at yet, the next one first.
// What is left of a group when all but one were taken out was judged as the group.
func partsToLeaveOut(steps []store.Step, asked map[string]bool) []keptPart {
	var all []keptPart
	for i := range steps {
		s := &steps[i]
		if !changesTarget(*s) || len(s.Plan.Parts) < 2 || s.Plan.OfSmall() {
			continue
		}
		for k := range s.Plan.Parts {
			p := &s.Plan.Parts[k]
			if p.LookedAgain == 0 && !p.Tied && !asked[p.ID] {
				all = append(all, keptPart{s, p})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].part, all[j].part
		return a.Worth().Expected() < b.Worth().Expected()
	})
	return all
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
