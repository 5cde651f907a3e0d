package main

import (
	"fmt"
	"io"
	"time"

	"kasoku/internal/stat"
)

// barRatio is what Kasoku must reach of what a person does, on each application.
const barRatio = 0.75

// figure is one line of the table. Bar is "" where none is set.
type figure struct {
	Name, Value, Bar string
	Short            bool
}

// judge puts the figures of one application beside their bars.
func judge(r *Result) []figure {
	var out []figure
	add := func(name, value, bar string, short bool) {
		out = append(out, figure{name, value, bar, bar != "" && short})
	}
	found, hand, kasoku := score(r.Runs, asFound), score(r.Runs, byHand), score(r.Runs, byKasoku)
	add("as found", fmt.Sprintf("%.2f points/s", found), "", false)
	add("by hand", times(hand, found), "", false)
	add("Kasoku", times(kasoku, found), "", false)
	ratio := 0.0
	if hand > 0 {
		ratio = kasoku / hand
	}
	add("Kasoku ÷ hand", fmt.Sprintf("%.2f", ratio), fmt.Sprintf("≥ %.2f", barRatio), ratio < barRatio)
	for _, side := range []string{byHand, byKasoku} {
		wrong, all := answers(r.Runs, side)
		add("wrong answers, "+side, fmt.Sprintf("%d of %d", wrong, all), "0", wrong > 0 || all == 0)
	}
	if s := r.Session; s != nil {
		kept := 0
		for _, x := range s.Steps {
			if x.Kept {
				kept++
			}
		}
		add("kasoku tune", fmt.Sprintf("%s, %d of %d steps kept, ×%.2f said", s.Took.Round(time.Second), kept, len(s.Steps), s.Gain), "", false)
		for _, x := range s.Steps {
			if x.Kept && x.Expected > 0 {
				add("  a kept step", fmt.Sprintf("×%.2f, expected ×%.2f", 1+x.Effect, x.Expected), "", false)
			}
		}
	}
	if u := r.Undo; u == nil {
		add("undo --all", "not done", "exact", true)
	} else {
		add("undo --all", fmt.Sprintf("exit %d, %d differences", u.Exit, len(u.Differences)), "exact", u.Exit != 0 || len(u.Differences) > 0)
	}
	return out
}

// times is a score beside that as found.
func times(score, found float64) string {
	if found <= 0 {
		return fmt.Sprintf("%.2f points/s", score)
	}
	return fmt.Sprintf("%.2f points/s, ×%.2f", score, score/found)
}

// score is the geometric mean of a side's runs; 0 if there is none, or one with
// nothing right.
func score(runs []Run, side string) float64 {
	var all []float64
	for _, r := range runs {
		if r.Side == side {
			if r.Score <= 0 {
				return 0
			}
			all = append(all, r.Score)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stat.GeoMean(all)
}

func answers(runs []Run, side string) (wrong, all int64) {
	for _, r := range runs {
		if r.Side == side {
			wrong += r.Wrong
			all += r.Requests
		}
	}
	return wrong, all
}

// printTable prints every application's figures and reports whether one fell short.
func printTable(w io.Writer, results []*Result) (short bool) {
	for _, r := range results {
		fmt.Fprintf(w, "%s (%s, tree %s, %s, budget %s)\n", r.App, r.Started.UTC().Format("2006-01-02"), r.Tree, r.Machine, r.Budget)
		for _, f := range judge(r) {
			word := ""
			if f.Bar != "" {
				word = "ok"
				if f.Short {
					word, short = "SHORT", true
				}
			}
			fmt.Fprintf(w, "  %-26s %-44s %-8s %s\n", f.Name, f.Value, f.Bar, word)
		}
		if u := r.Undo; u != nil {
			for _, d := range u.Differences {
				fmt.Fprintf(w, "    %s\n", d)
			}
		}
	}
	return short
}
