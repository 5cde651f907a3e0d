package database

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// choice is what was settled for one knob.
type choice struct {
	knob
	set
	from string
}

// what names the change for people.
func (c choice) what() string { return fmt.Sprintf("%s %s → %s", c.variable, c.from, c.option) }

// choose settles the knobs of a rule one after the other, each within what
// memory the ones before it left. Notes say why one was left out.
func choose(v view, rule string, spare *int64) (out []choice, notes []string) {
	for _, k := range knobs {
		if k.rule != rule || !v.has(k.variable) || k.over(v) {
			continue
		}
		if why := v.persisted(k.variable); why != "" {
			notes = append(notes, why)
			continue
		}
		if k.size == nil {
			if now := v.db.Variables[k.variable]; !sameValue(now, k.to) {
				out = append(out, choice{k, set{name: k.variable, value: k.to, option: k.to, key: k.key, session: k.session}, now})
			}
			continue
		}
		k = v.bounds(k, rule)
		n, why := k.sized(v, *spare)
		if why != "" {
			notes = append(notes, why)
		}
		now := v.now(k.variable)
		if n == 0 || n == now {
			continue
		}
		*spare -= k.cost(v, n)
		v.set[k.variable] = n
		out = append(out, choice{k, set{name: k.variable, value: strconv.FormatInt(n, 10), option: k.written(n), key: k.key, session: k.session}, k.written(now)})
	}
	return out, notes
}

// over reports whether this version ignores the variable.
func (k knob) over(v view) bool {
	if v.db.MariaDB {
		return k.maria.since(v.db)
	}
	return k.mysql.since(v.db)
}

// written is a number as option files have it: sizes in MiB or KiB where they
// are whole.
func (k knob) written(n int64) string {
	switch {
	case k.unit != 1 && k.variable != "max_heap_table_size" || n < kib || n%kib != 0:
		return strconv.FormatInt(n, 10)
	case n%mb == 0:
		return strconv.FormatInt(n/mb, 10) + "M"
	}
	return strconv.FormatInt(n/kib, 10) + "K"
}

// sized is the number that is wanted, within bounds and memory; 0 if it is not
// better than now.
func (k knob) sized(v view, spare int64) (n int64, why string) {
	now := v.now(k.variable)
	want := k.size(v)
	if want <= 0 {
		return 0, ""
	}
	want = min(roundUp(max(want, k.least), max(k.step, 1)), k.most)
	if k.less {
		return since(want < now, want), ""
	}
	if want <= now {
		return 0, ""
	}
	if cost := k.cost(v, want); cost > 0 && cost > spare {
		per := max(cost/(want-now), 1)
		fits, ok := k.fits(now, max(spare, 0)/per)
		if !ok {
			return 0, fmt.Sprintf("%s = %s would take %s more and %s are left beyond the regulation's headroom", k.variable, k.written(want), mib(cost), mib(max(spare, 0)))
		}
		want = fits
	}
	return k.product(v, want)
}

// fits is what there is room for, if that is at least half as much again.
func (k knob) fits(now, room int64) (int64, bool) {
	n := now + room
	n -= n % max(k.step, 1)
	return n, n > now && n >= now*3/2 && n >= k.least
}

// cost is the memory that n takes more than now: for what each connection may
// take, twice as many connections as were open at most.
func (k knob) cost(v view, n int64) int64 {
	more := n - v.now(k.variable)
	switch {
	case k.unit < 0: // connections, each with all buffers
		return more * v.each()
	case k.each:
		return more * k.unit * v.atOnce()
	}
	return more * k.unit
}

// atOnce is how many connections are thought to take their buffers at a time.
func (v view) atOnce() int64 {
	return min(2*v.connections(), max(v.now("max_connections"), v.connections()))
}

// product holds what the buffers of all connections that are allowed may take
// against the memory that there is for the server, unless it was more already: n, or
// what fits.
func (k knob) product(v view, n int64) (int64, string) {
	memory, now := v.memory(), v.now(k.variable)
	if !k.each || memory <= 0 || v.most() > memory {
		return n, ""
	}
	after := v.with(k.variable, n)
	if then := after.most(); then > memory {
		per := max((then-v.most())/(n-now), 1)
		fits, ok := k.fits(now, (memory-v.most())/per)
		if !ok {
			return 0, fmt.Sprintf("%s = %s would allow %d connections × %s + shared buffers = %s, more than the %s that the host has for it: lower max_connections first",
				k.variable, k.written(n), after.now("max_connections"), mib(after.each()), mib(then), mib(memory))
		}
		return fits, ""
	}
	return n, ""
}

// sameValue compares values as servers print them.
func sameValue(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x == y
	}
	return strings.EqualFold(a, b) || diagnose.On(a) && diagnose.On(b)
}

// settings plans the knobs of the finding's rule.
func settings(id, title string) func(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	return func(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
		v, err := newView(in, f)
		if err != nil {
			return nil, err
		}
		if p, err := planSize(in, f); err == nil && len(p) > 0 {
			return nil, fmt.Errorf("%s: the size is not computed but searched (mariadb.buffer-size)", f.Service)
		}
		spare := planning.SpareMemory(in, v.svc)
		chosen, notes := choose(v, f.Rule, &spare)
		plans, err := v.plan(id, title, f.Text, chosen, notes)
		for i := range plans {
			plans[i].Reach = planning.SaidReach(f)
		}
		return plans, err
	}
}

// plan makes one plan of what was chosen.
func (v view) plan(id, title, text string, chosen []choice, notes []string) ([]planning.Plan, error) {
	if len(chosen) == 0 {
		if len(notes) == 0 {
			notes = []string{"its settings are at what they would be set to, or this version has none of them"}
		}
		return nil, fmt.Errorf("%s: %s", v.svc.Name, strings.Join(notes, "; "))
	}
	p := planning.Plan{}
	var sets []set
	var what, short, why []string
	for _, c := range chosen {
		sets = append(sets, c.set)
		what, short = append(what, c.what()), append(short, c.variable+"="+c.option)
		why = append(why, fmt.Sprintf("%s: %s", c.variable, c.why))
		if c.trade != "" && !slices.Contains(p.Trades, c.trade) {
			p.Trades = append(p.Trades, c.trade)
		}
	}
	if slices.ContainsFunc(chosen, func(c choice) bool { return c.each }) {
		why = append(why, fmt.Sprintf("%d connections × %s + shared buffers would be %s of the %s that the host has for it", v.now("max_connections"), mib(v.each()), mib(v.most()), mib(v.memory())))
	}
	p.Why = strings.Join(append([]string{text}, append(why, notes...)...), " – ")
	p.ID = id + ":" + v.svc.Name + ":" + strings.Join(short, ",")
	p.Title = fmt.Sprintf("%s of %s: %s", title, v.svc.Name, strings.Join(what, ", "))
	var err error
	p.Changes, err = planVariables(v.in, v.svc.Name, sets, p.Why)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{p}, nil
}

// planDefaults is a good my.cnf where there is hardly any: all settings that a
// finding of this run asks for and that give nothing up, with one restart.
func planDefaults(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	spare := planning.SpareMemory(in, v.svc)
	var chosen []choice
	var notes, whys []string
	var parts []planning.Part
	for _, other := range in.Diagnosis.Findings {
		if other.Service != f.Service {
			continue
		}
		var some []choice
		var said []string
		switch other.Rule {
		case "db.memory":
			v.f = other
			some, said = chooseMemory(v, &spare)
		case "db.name-resolve":
			if c, err := chooseNames(v); err == nil {
				some = []choice{c}
			} else {
				said = []string{err.Error()}
			}
		default:
			some, said = choose(v, other.Rule, &spare)
		}
		notes = append(notes, said...)
		before := len(chosen)
		for _, c := range some {
			twice := slices.ContainsFunc(chosen, func(o choice) bool { return o.variable == c.variable })
			if c.trade == regulation.Trade("") && !twice {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) > before {
			whys = append(whys, other.Text)
			parts = append(parts, planning.Part{Bound: other.Bound, Spares: other.Spares, Reach: cmp.Or(planning.SaidReach(other), settingReach(other.Rule))})
		}
	}
	plans, err := v.plan("mariadb.defaults", "A my.cnf", strings.Join(append([]string{f.Text}, whys...), " "), chosen, notes)
	for i := range plans {
		w := planning.Joint(f.Bound, f.Spares, parts)
		plans[i].Bound, plans[i].Reach, plans[i].Spares = w.Bound, w.Reach, w.Spares
	}
	return plans, err
}

// settingReach is the reach of the remedy that answers a rule by itself.
func settingReach(rule string) float64 {
	if rule == "db.memory" {
		return memoryReach
	}
	for _, r := range settingRemedies {
		if slices.Contains(r.Rules, rule) {
			return r.Reach
		}
	}
	return defaultsReach
}

const (
	memoryReach = 0.2
	// defaultsReach is of a setting that has no remedy by itself.
	defaultsReach = 0.3
)
