package database

import (
	"fmt"
	"maps"
	"math/bits"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// probesTell is the least bound of a finding whose size is searched: probes
// differ by a few percent, and what is at stake must stand out (tune's
// probeDrop). Below it the computed size is tried.
const probesTell = 1.10

// mostSizes is how many sizes a search has at most; a longer way is gone in
// larger steps.
const mostSizes = 6

// bounds are the knob's in this plan: as far as a search goes and of the size
// that it asks for, if one asks.
func (v view) bounds(k knob, rule string) knob {
	if v.asked == 0 || k.upTo == 0 {
		return k
	}
	k.least, k.most, k.why = 0, k.upTo, "as a search probes it"
	if first, ok := v.first(rule); ok && first.variable == k.variable {
		n := v.asked
		k.size, k.step = func(view) int64 { return n }, 1
	}
	return k
}

// first is the knob of a rule whose size is searched; the others of the rule
// follow it.
func (v view) first(rule string) (knob, bool) {
	for _, k := range knobs {
		if k.rule == rule && v.has(k.variable) && !k.over(v) && k.size != nil && k.size(v) > 0 {
			return k, k.upTo > 0
		}
	}
	return knob{}, false
}

// sizes are those that a search of this knob tries, bytes: from the power of two
// that is at least twice the present size to the largest that upTo and memory allow,
// each twice the one before, or 4, 8, … times, so that they are mostSizes at most.
func (v view) sizes(k knob) (out []int64, err error) {
	low := max(2*v.counts(k), 16*kib)
	low = int64(1) << bits.Len64(uint64(low-1))
	top := int64(1) << (bits.Len64(uint64(k.upTo)) - 1)
	for ; top > low; top >>= 1 {
		then, _, problem := v.at(k, top)
		if problem == nil && then.counts(k) == top {
			break
		}
		if err = problem; err == nil {
			err = fmt.Errorf("memory has room for %s", k.written(then.counts(k)))
		}
	}
	if top <= low {
		return nil, err
	}
	steps := bits.Len64(uint64(top/low)) - 1
	shift := (steps + mostSizes - 2) / (mostSizes - 1)
	for n := low; n < top; n <<= shift {
		out = append(out, n)
	}
	return append(out, top), nil
}

// counts is the size that counts now: of the two bounds of a temporary table the
// smaller one.
func (v view) counts(k knob) int64 {
	if k.variable == "tmp_table_size" && !v.tempTable() {
		return min(v.now(k.variable), v.now("max_heap_table_size"))
	}
	return v.now(k.variable)
}

// at settles what the rule asks for with n bytes of its first knob.
func (v view) at(k knob, n int64) (then view, chosen []choice, err error) {
	then = v
	then.asked, then.set = n, maps.Clone(v.set)
	spare := planning.SpareMemory(v.in, v.svc)
	room := spare
	chosen, notes := choose(then, k.rule, &spare)
	if len(chosen) == 0 {
		return then, nil, fmt.Errorf("%s: %s = %s cannot be set: %v", v.svc.Name, k.variable, k.written(n), notes)
	}
	// Of two bounds the larger one may be there already, so that setting the other
	// costs nothing by itself.
	more, memory := then.each()-v.each(), planning.MachineOf(v.in, v.svc).Memory
	if more*v.atOnce() > max(room, 0) || memory > 0 && then.most() > max(memory, v.most()) {
		return then, nil, fmt.Errorf("%s: %s = %s: memory has no room for %s more of each connection", v.svc.Name, k.variable, k.written(n), mib(more))
	}
	return then, chosen, nil
}

// planSize searches the size of a buffer, where the sign says that it is too
// small, not how much is enough, and enough is at stake for probes to tell.
func planSize(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	k, ok := v.first(f.Rule)
	if !ok {
		return nil, fmt.Errorf("%s: this version has no size to search", f.Service)
	}
	if f.Bound < probesTell {
		return nil, fmt.Errorf("%s: a gain of at most %.0f %% is less than probes tell apart; the size of %s is computed", f.Service, 100*(f.Bound-1), k.variable)
	}
	if why := v.persisted(k.variable); why != "" {
		return nil, fmt.Errorf("%s: %s", f.Service, why)
	}
	sizes, err := v.sizes(k)
	if len(sizes) < 2 {
		return nil, fmt.Errorf("%s: memory, and the %s that a search goes up to, leave fewer than two sizes of %s; it is computed (%v)", f.Service, k.written(k.upTo), k.variable, err)
	}
	var values []int
	for _, n := range sizes {
		values = append(values, int(n/kib))
	}
	plan := func(kibs int) (planning.Plan, error) {
		then, chosen, err := v.at(k, int64(kibs)*kib)
		if err != nil {
			return planning.Plan{}, err
		}
		plans, err := then.plan("mariadb.buffer-size", "Size", f.Text, chosen, nil)
		if err != nil {
			return planning.Plan{}, err
		}
		return plans[0], nil
	}
	p, err := plan(values[0])
	if err != nil {
		return nil, err
	}
	now := int(v.counts(k) / kib)
	p.ID = fmt.Sprintf("mariadb.buffer-size:%s:%s:%d", f.Service, k.variable, now)
	p.Title = fmt.Sprintf("Find the size of %s in %s, KiB", k.variable, f.Service)
	p.Why = fmt.Sprintf("%s – sizes from %s to %s are probed", f.Text, k.written(sizes[0]), k.written(sizes[len(sizes)-1]))
	p.Back = v.computed(k)
	p.Search = &planning.Search{Name: k.variable + ", KiB", Current: now, Values: values, Threshold: true, At: func(kibs int) ([]change.Change, error) {
		p, err := plan(kibs)
		return p.Changes, err
	}}
	return []planning.Plan{p}, nil
}

// computed is the ID of the plan that computes the size: what a search has found is
// not to be set to it unjudged. "" if it computes none.
func (v view) computed(k knob) string {
	v.set = maps.Clone(v.set)
	spare := planning.SpareMemory(v.in, v.svc)
	chosen, notes := choose(v, k.rule, &spare)
	plans, err := v.plan("mariadb.buffers", "", "", chosen, notes)
	if err != nil {
		return ""
	}
	return plans[0].ID
}
