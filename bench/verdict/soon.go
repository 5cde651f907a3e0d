package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kasoku/internal/experiment"
)

// greatEffects are to be decided within so many pairs, in soonBar of the experiments.
var greatEffects = []struct {
	effect float64
	pairs  int
}{{1, 2}, {0.3, 3}}

const soonBar = 0.90

// soon: how early effects that are great are decided, where the session knows how far
// runs differ, and how often one that is none is kept so.
func (o simOptions) soon(ctx context.Context, traces []*trace, rule experiment.Rule) (bool, error) {
	ok := true
	for _, g := range greatEffects {
		within := method{fmt.Sprintf("Kasoku, in %d pairs", g.pairs), func(p *replay, coin *rand.Rand) bool {
			v, err := experiment.Run(context.Background(), knowing(rule, p, coin), p, nil)
			return err == nil && v.Outcome == experiment.Improved && v.Pairs <= g.pairs
		}}
		fmt.Printf("\nKept within %d pairs with a true effect of ×%g, %% of %d\n", g.pairs, 1+g.effect, o.power)
		header(traces)
		var cells []*cell
		for _, t := range traces {
			cells = append(cells, &cell{trace: t, method: within, effect: g.effect, n: o.power})
		}
		if err := fillAll(ctx, cells, o.seed); err != nil {
			return false, err
		}
		row(within.name, cells, func(*cell) bool { return true }, (*cell).share, 100)
		calm := sum(cells, func(c *cell) bool { return !c.trace.loud && !c.trace.cold })
		if calm.n > 0 {
			ok = bar(fmt.Sprintf("×%g within %d pairs, over all recordings that are neither loud nor cold", 1+g.effect, g.pairs), calm.share(), soonBar, true) && ok
		}
	}
	fmt.Printf("\nFalse keeps where six pairs fit, %% of %d\n", o.n)
	header(traces)
	for _, m := range []method{{fewProduct, kasokuFew(rule)}, {fewProduct + ", brief", kasokuFewBrief(rule)}} {
		all, err := o.fillRow(ctx, traces, m, 0, o.n)
		if err != nil {
			return false, err
		}
		ok = bar(m.name+": false keeps over all recordings", all.share(), falseKeepBar, false) && ok
	}
	return ok, nil
}

// kasokuFewBrief is kasokuFew for a candidate that promises much.
func kasokuFewBrief(rule experiment.Rule) func(*replay, *rand.Rand) bool {
	return func(p *replay, coin *rand.Rand) bool {
		r := knowing(rule, p, coin) // by whole windows
		p.brief = briefPairs
		return kasoku(r)(p, coin)
	}
}

// knowing is the rule of a session in whose time six pairs fit, after three to six runs
// as found.
func knowing(rule experiment.Rule, p *replay, coin *rand.Rand) experiment.Rule {
	var before []experiment.Sample
	for range 3 + coin.IntN(4) {
		if score, ok := p.fit(experiment.Baseline); ok {
			before = append(before, experiment.Sample{Side: experiment.Baseline, Score: score})
		}
	}
	rule.Seed, rule.Spread, rule.MaxPairs, rule.Fitted = coin.Uint64(), experiment.SpreadOf(before), fittingPairs, true
	return rule
}
