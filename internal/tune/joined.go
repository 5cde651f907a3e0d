package tune

import (
	"math"
	"math/bits"
	"slices"

	"kasoku/internal/remedy"
)

// mostParts of a group: if one of eight does harm, it is found in at most six
// further experiments (two for each halving), which is still fewer than eight. Small
// ones behind a lead come on top: they are in no half.
const mostParts = 8

// choices are what may be tried next, best promise first: small plans joined
// (ADR 5), others joined where that is expected to save time, the small ones as
// one part of it where another leads (ADR 15), the rest alone. What made way for
// others goes on alone: joined it would begin anew.
// Last come the parts of such a group, alone: the time left may allow one of
// them where it does not allow all.
func choices(in remedy.Input, plans []remedy.Plan, o outlook) []remedy.Plan {
	out := remedy.Together(in, plans)
	o.order(out)
	group, _ := remedy.Group(in, o.members(out)) // what is left over is tried alone
	if len(group.Parts) < 2 {
		return out
	}
	var rest, parts []remedy.Plan
	for _, p := range out {
		if hasPart(group, p.ID) {
			parts = append(parts, p)
		} else {
			rest = append(rest, p)
		}
	}
	out = append(rest, group)
	o.order(out)
	return append(out, parts...)
}

// members are those of plans that are worth trying as one. Small ones that are
// joined already come in only behind one that leads: they cost nothing there, and
// are taken for themselves where it is not kept. They also come in where the time
// left is not enough for an experiment of their own.
func (o outlook) members(plans []remedy.Plan) []remedy.Plan {
	var pool, small []remedy.Plan
	for _, p := range plans {
		switch _, begun := o.opened[key(p)]; {
		case begun || !remedy.Joinable(p) || o.gain(p) <= 0:
		case p.OfSmall():
			small = append(small, p)
		default:
			pool = append(pool, p)
		}
	}
	n := o.worthJoining(pool)
	if n == 0 && len(pool) > 0 && len(small) > 0 {
		n = 1 // it is joined by the small ones alone
	}
	if pool = pool[:n]; slices.ContainsFunc(pool, leads) || o.noTimeForBoth(pool, small) {
		pool = append(pool, small...)
	}
	return pool
}

// noTimeForBoth reports whether the time left is enough for one experiment only, of
// those that are joined and of the small ones. Small ones would wait for a turn
// that does not come.
func (o outlook) noTimeForBoth(pool, small []remedy.Plan) bool {
	if o.left <= 0 || len(pool) == 0 || len(small) == 0 {
		return false
	}
	took := o.time(asOne(pool))
	for _, p := range small {
		took += o.time(p)
	}
	return took > o.left
}

// leadGain is the gain, as log of a factor, from which a part is taken to be able
// to account alone for what its group brought.
var leadGain = math.Log(1.5)

// leads reports whether a plan is expected to bring that much by itself.
func leads(p remedy.Plan) bool {
	return !p.OfSmall() && outlook{}.part(p.Remedy, p.Worth()) > leadGain
}

// led reports whether another part of the group is expected to bring so much that
// the group's verdict says nothing about this one.
func led(group remedy.Plan, part string) bool {
	return slices.ContainsFunc(group.Parts, func(p remedy.Part) bool {
		return p.ID != part && !p.Small && outlook{}.part(p.Remedy, p.Worth()) > leadGain
	})
}

func hasPart(group remedy.Plan, id string) bool {
	for _, p := range group.Parts {
		if p.ID == id {
			return true
		}
	}
	return false
}

// worthJoining is how many plans of pool, from the first on, are best joined: as
// many as save the most time; 0 if none. What is saved is the time of the
// experiments one by one, less that of the one for all, less what splitting is
// expected to take for those that do harm.
func (o outlook) worthJoining(pool []remedy.Plan) int {
	best, most := 0, 0.0
	for n := 2; n <= min(len(pool), mostParts); n++ {
		alone := 0.0
		for _, p := range pool[:n] {
			alone += float64(o.time(p))
		}
		// Each one that harms is looked for by itself; all halves of all halves
		// are 2n − 2.
		splitting := math.Min(o.harm*float64(n*splitSteps(n)), float64(2*n-2)) * alone / float64(n)
		if saved := alone - float64(o.time(asOne(pool[:n]))) - splitting; saved > most {
			best, most = n, saved
		}
	}
	return best
}

// asOne is what trying plans as one would take and bring: a group that is not planned.
func asOne(plans []remedy.Plan) remedy.Plan {
	together := remedy.Plan{Remedy: remedy.GroupID}
	for _, p := range plans {
		together.Changes = append(together.Changes, p.Changes...)
		together.Build += p.Build
		together.Parts = append(together.Parts, remedy.Part{Remedy: p.Remedy, Rule: p.Rule, Bound: p.Bound, Reach: p.Reach, Spares: p.Spares, Service: p.Service, Spent: p.Spent, Limit: p.Limit})
	}
	return together
}

// splitSteps is the most experiments that finding one harmful part of n takes:
// for each halving one for either half.
func splitSteps(n int) int { return 2 * bits.Len(uint(n-1)) }

// dearLoad is the part of the time left above which another load waits for all that changes
// the service.
const dearLoad = 0.1

// dearLoadLast puts plans of another load behind all others where trying them takes much of
// the time left: they change nothing for those who use the service, and where runs are long
// their probes alone take what the others need.
func (o outlook) dearLoadLast(plans []remedy.Plan) []remedy.Plan {
	dear := func(p remedy.Plan) bool {
		return p.Workload > 0 && o.left > 0 && float64(o.time(p)) > dearLoad*float64(o.left)
	}
	var first, last []remedy.Plan
	for _, p := range plans {
		if dear(p) {
			last = append(last, p)
		} else {
			first = append(first, p)
		}
	}
	return append(first, last...)
}
