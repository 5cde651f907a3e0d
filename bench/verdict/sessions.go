package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kasoku/internal/experiment"
	"kasoku/internal/stat"
	"kasoku/internal/tune"
)

// sessionKind is what the candidates of a whole session are truly worth.
type sessionKind struct {
	name    string
	effects []float64
}

func sessionKinds() []sessionKind {
	nothing := make([]float64, 30)
	// A session begins with what brings most.
	some := append([]float64{3, 1, 0.5, 0.3, 0.2, 0.1, 0.08, 0.05, 0.04, 0.03}, make([]float64, 20)...)
	return []sessionKind{{"30 without effect", nothing}, {"10 with, then 20 without", some}}
}

// sessionCount is how sessions of one kind on one trace ended.
type sessionCount struct {
	sessions     int
	before       int // with any false keep before the second look
	after        int // and after it
	found, loss  int // true effects kept, and of these taken out again
	runs         int
	withoutLevel int // sessions with a false keep if each experiment had Rule.Alpha
}

// wholeSessions simulates sessions with the levels that they hand out, and the
// second look at what was kept.
func (o simOptions) wholeSessions(ctx context.Context, traces []*trace, rule experiment.Rule) (bool, error) {
	fmt.Printf("\nSessions with any false keep, %% of %d for each recording\n", o.sessions)
	fmt.Printf("%-*s %-26s %12s %12s %12s %12s %10s\n", labelWidth, "", "candidates", "each at 1 %", "by levels", "second look", "true kept", "runs")
	ok := true
	for _, kind := range sessionKinds() {
		var all sessionCount
		for _, t := range traces {
			var c sessionCount
			coin := rand.New(rand.NewPCG(o.seed, uint64(len(kind.name)+len(t.name))))
			for range o.sessions {
				if ctx.Err() != nil {
					return false, ctx.Err()
				}
				c.add(simulate(t, kind.effects, rule, coin))
			}
			c.print(t.name, kind)
			all.add(c)
		}
		all.print("all", kind)
		bound := experiment.SessionTimes * rule.Alpha
		ok = bar("sessions with a false keep, before the second look", float64(all.before)/float64(all.sessions), bound, false) && ok
	}
	return ok, nil
}

func (c *sessionCount) add(o sessionCount) {
	c.sessions += o.sessions
	c.before, c.after, c.withoutLevel = c.before+o.before, c.after+o.after, c.withoutLevel+o.withoutLevel
	c.found, c.loss, c.runs = c.found+o.found, c.loss+o.loss, c.runs+o.runs
}

func (c *sessionCount) print(name string, kind sessionKind) {
	true_ := 0
	for _, e := range kind.effects {
		if e > 0 {
			true_++
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(c.sessions) }
	kept := "–"
	if true_ > 0 {
		kept = fmt.Sprintf("%.1f/%d", float64(c.found-c.loss)/float64(c.sessions), true_)
	}
	fmt.Printf("%-*s %-26s %12.1f %12.1f %12.1f %12s %10.0f\n", labelWidth, name, kind.name,
		share(c.withoutLevel), share(c.before), share(c.after), kept, float64(c.runs)/float64(c.sessions))
}

// waits is a candidate of a session that is still to be judged.
type waits struct {
	effect float64
	level  float64             // of its experiment; 0: none was begun
	pairs  []experiment.Sample // that it has from before it made way for others
	kept   int                 // what the session had kept by then
}

// simulate one session on a stretch of the trace. As in package tune what shows
// nothing yet makes way for those that wait, and goes on later with its pairs, at
// its level; once something else was kept it begins anew.
func simulate(t *trace, effects []float64, rule experiment.Rule, coin *rand.Rand) sessionCount {
	c := sessionCount{sessions: 1}
	at := coin.IntN(len(t.runs))
	levels := experiment.Levels{Each: rule.Alpha}
	var weak, strong []float64 // what was kept, by its estimate
	last, kept := -1.0, 0
	var queue []waits
	for _, e := range effects {
		queue = append(queue, waits{effect: e})
	}
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		r := rule
		r.Seed = coin.Uint64()
		lost := len(x.pairs) > 0 && x.kept != kept
		if lost || x.level == 0 {
			x.level, x.pairs = levels.Next(), nil
		}
		r.Alpha, r.Earlier = x.level, x.pairs
		before := len(experiment.PairsOf(x.pairs))
		if len(queue) > 0 && !lost {
			r.Patience = tune.Patience(before)
		}
		p := &replay{trace: t, next: at, effect: x.effect}
		v, err := experiment.Run(context.Background(), r, p, nil)
		if err != nil {
			panic(err) // a replay has no errors
		}
		at, c.runs = p.next, c.runs+p.runs
		won := v.Outcome == experiment.Improved
		if v.Looked() {
			levels.Charge(x.level, won, before >= stat.FirstLook)
		}
		if v.Shared {
			x.pairs, x.kept = v.Samples, kept
			queue = append(queue, x)
		}
		if !won {
			continue
		}
		kept++
		if last = x.effect; x.effect > 0 {
			c.found++
		} else {
			c.before = 1
		}
		if v.Effect < weakEffect {
			weak = append(weak, x.effect)
		} else {
			strong = append(strong, x.effect)
		}
	}
	c.secondLook(t, weak, strong, last, rule, at, coin)
	c.withoutLevel = uncorrected(t, effects, rule, coin)
	return c
}

// weakEffect as in package tune: what brought less is looked at again together.
const weakEffect = 0.10

// secondLook leaves the weak ones out together and the strong ones one by one;
// what was kept last needs none.
func (c *sessionCount) secondLook(t *trace, weak, strong []float64, last float64, rule experiment.Rule, at int, coin *rand.Rand) {
	groups := [][]float64{weak}
	for _, e := range strong {
		groups = append(groups, []float64{e})
	}
	for _, g := range groups {
		worth, falsely, truly := 1.0, 0, 0
		for _, e := range g {
			if e == last && e > 0 {
				continue
			}
			worth *= 1 + e
			if e > 0 {
				truly++
			} else {
				falsely++
			}
		}
		if truly+falsely == 0 {
			continue
		}
		rule.Seed = coin.Uint64()
		p := &replay{trace: t, next: at, effect: worth - 1}
		v, err := experiment.Run(context.Background(), rule, p, nil)
		if err != nil {
			panic(err)
		}
		at, c.runs = p.next, c.runs+p.runs
		if v.NoLongerPays(rule.SmallestEffect) {
			c.loss += truly
		} else if falsely > 0 {
			c.after = 1
		}
	}
}

// uncorrected is 1 if the same session with the rule's own level for each
// experiment keeps anything falsely.
func uncorrected(t *trace, effects []float64, rule experiment.Rule, coin *rand.Rand) int {
	at := coin.IntN(len(t.runs))
	for _, e := range effects {
		if e > 0 {
			continue
		}
		rule.Seed = coin.Uint64()
		p := &replay{trace: t, next: at, effect: e}
		if v, err := experiment.Run(context.Background(), rule, p, nil); err == nil && v.Outcome == experiment.Improved {
			return 1
		}
		at = p.next
	}
	return 0
}
