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
	k.least, k.most = 0, k.upTo
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
// that is at least twice the present size on, each twice the one before (or 4, 8,
// … times, where mostSizes would not come to upTo), as far as memory allows.
func (v view) sizes(k knob) []int64 {
	low := max(2*v.counts(k), 16*kib)
	low = int64(1) << bits.Len64(uint64(low-1))
	shift := 1
	for k.upTo>>(shift*(mostSizes-1)) > low {
		shift++
	}
	var out []int64
	for n := low; n <= k.upTo; n <<= shift {
		if then, _, err := v.at(k, n); err != nil || then.counts(k) != n {
			break // memory has no room for it, and for none that is larger
		}
		out = append(out, n)
	}
	return out
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
	v.asked, v.set = n, maps.Clone(v.set)
	spare := planning.SpareMemory(v.in, v.svc)
	chosen, notes := choose(v, k.rule, &spare)
	if len(chosen) == 0 {
		return v, nil, fmt.Errorf("%s: %s = %s cannot be set: %v", v.svc.Name, k.variable, k.written(n), notes)
	}
	return v, chosen, nil
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
	sizes := v.sizes(k)
	if len(sizes) < 2 {
		return nil, fmt.Errorf("%s: memory, and the %s that a search goes up to, leave fewer than two sizes of %s; it is computed", f.Service, k.written(k.upTo), k.variable)
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
	p.Search = &planning.Search{Name: k.variable + ", KiB", Current: now, Values: values, At: func(kibs int) ([]change.Change, error) {
		p, err := plan(kibs)
		return p.Changes, err
	}}
	return []planning.Plan{p}, nil
}
