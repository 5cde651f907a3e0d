package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"kasoku/internal/stat"
)

// Bars: a person's configuration is not better by more than 5 %, if no other bar
// is given, and neither mysqltuner nor a random search is better at all.
const (
	barHand  = 0.95
	barOther = 1.0
)

// contestant is one named copy of the case.
type contestant struct {
	name   string
	place  *place
	scores []float64
}

// compare measures all copies in rounds of random order and prints their
// scores. The one named "kasoku" is compared with the others, by hand with the
// bar hand; "found" may be missing.
func compare(ctx context.Context, args []string, rounds int, window time.Duration, users int, seed uint64, hand float64) error {
	var all []*contestant
	for _, a := range args {
		name, dir, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("%q: write NAME=DIR", a)
		}
		p, err := open(ctx, dir, window, false)
		if err != nil {
			return err
		}
		defer p.close()
		all = append(all, &contestant{name: name, place: p})
	}
	coin := rand.New(rand.NewPCG(seed, 1))
	for round := range rounds {
		for _, i := range coin.Perm(len(all)) {
			got, err := all[i].place.score(ctx, "compare", users)
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			if got == 0 && all[i].name == "hand" {
				return fmt.Errorf("hand: wrong answers; there is nothing to compare with")
			}
			all[i].scores = append(all[i].scores, max(got, 1e-6))
		}
		fmt.Printf("round %d of %d\n", round+1, rounds)
	}
	return table(all, hand)
}

func table(all []*contestant, hand float64) error {
	found, kasoku := pick(all, "found"), pick(all, "kasoku")
	if kasoku == nil {
		return fmt.Errorf("name one copy kasoku")
	}
	fmt.Printf("\n%-18s %10s %16s %9s   %s\n", "", "points/s", "", "× found", "kasoku ÷ it (bar)")
	var err error
	for _, c := range all {
		lo, hi := c.scores[0], c.scores[0]
		for _, s := range c.scores {
			lo, hi = min(lo, s), max(hi, s)
		}
		times := "–"
		if found != nil {
			times = fmt.Sprintf("%.1f", ratio(c, found))
		}
		line := fmt.Sprintf("%-18s %10.0f %16s %9s", c.name, stat.GeoMean(c.scores), fmt.Sprintf("(%.0f–%.0f)", lo, hi), times)
		if bar, judged := map[string]float64{"hand": hand, "mysqltuner": barOther, "random": barOther}[c.name]; judged {
			r := ratio(kasoku, c)
			word := "ok"
			if r < bar {
				word, err = "SHORT", errShort
			}
			line += fmt.Sprintf("   %.3f (≥ %.2f) %s", r, bar, word)
		}
		fmt.Println(line)
	}
	return err
}

func pick(all []*contestant, name string) *contestant {
	for _, c := range all {
		if c.name == name {
			return c
		}
	}
	return nil
}

// ratio is the geometric mean over rounds of a's score by b's.
func ratio(a, b *contestant) float64 {
	var rs []float64
	for i := range a.scores {
		rs = append(rs, a.scores[i]/b.scores[i])
	}
	return stat.GeoMean(rs)
}
