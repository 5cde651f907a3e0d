package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/report"
)

// result is what became of one trial.
type result struct {
	trial
	verdict experiment.Verdict
	kept    bool
	took    time.Duration // with putting sides in place and keeping
	// patience is the number of pairs after which it made way for others; 0: none waited.
	patience int
}

const tableHead = `| part | change | from | verdict | kept | effect | 95 % | pairs | runs | seconds |
|---|---|---|---|---|---|---|---|---|---|`

// String is the result's row of the table. An interval needs two pairs.
func (r result) String() string {
	v, effect, interval := r.verdict, "–", "–"
	if v.Pairs > 0 {
		effect = fmt.Sprintf("%+.1f %%", 100*v.Effect)
	}
	if v.Pairs > 1 {
		interval = fmt.Sprintf("%+.1f to %+.1f", 100*v.Low, 100*v.High)
	}
	kept := "no"
	if r.kept {
		kept = "yes"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %d | %d | %.0f |", r.part, r.title, r.base, v.Outcome, kept, effect, interval,
		v.Pairs, v.Runs, r.took.Seconds())
}

// figure is how many of a part were kept beside how many are to be.
type figure struct {
	what         string
	kept, of, to int
}

func (f figure) held() bool { return f.kept == f.to }

func (f figure) String() string {
	word := "ok    "
	if !f.held() {
		word = "MISSED"
	}
	return fmt.Sprintf("%s %s: %d of %d kept (bar: %d)", word, f.what, f.kept, f.of, f.to)
}

// figures of the parts that were tried. Of the good ones all are to be kept, of
// the others none.
func figures(results []result) []figure {
	var out []figure
	for _, p := range []struct{ part, what string }{{partAA, "a comment changed"}, {partHarm, "harmful changes"}, {partGood, "known-good changes"}} {
		f := figure{what: p.what}
		for _, r := range results {
			if r.part != p.part {
				continue
			}
			f.of++
			if r.kept {
				f.kept++
			}
		}
		if p.part == partGood {
			f.to = f.of
		}
		if f.of > 0 {
			out = append(out, f)
		}
	}
	return out
}

// tell prints the figures and reports whether all bars are held.
func (r *realRun) tell(w io.Writer) bool {
	held := len(r.results) > 0
	fmt.Fprintln(w)
	for _, f := range figures(r.results) {
		fmt.Fprintln(w, f)
		held = held && f.held()
	}
	var took time.Duration
	for _, x := range r.results {
		took += x.took
	}
	fmt.Fprintf(w, "%d of %d experiments in %s\n", len(r.results), r.all, took.Round(time.Second))
	return held
}

// save keeps table, reasons and figures in a file.
func (r *realRun) save(name string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Verdicts on the real bank login\n\nFor whoever wants to see single verdicts on a real service, with and without a true effect.\n\n%s, %d CPUs, windows of %s (as found: the scenario's).\n\n%s\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), r.options.window, tableHead)
	for _, x := range r.results {
		fmt.Fprintln(&b, x)
	}
	r.tell(&b)
	patient, most := map[int]int{}, map[int]int{}
	for _, x := range r.results {
		patient[x.patience]++
		most[x.verdict.MaxPairs]++
	}
	for _, pairs := range slices.Sorted(maps.Keys(most)) {
		fmt.Fprintf(&b, "\n%d of them had at most %d pairs (`-pairs %d`).\n", most[pairs], pairs, pairs)
	}
	for _, pairs := range slices.Sorted(maps.Keys(patient)) {
		if pairs > 0 {
			fmt.Fprintf(&b, "\n%d of them had the patience of %d pairs that an experiment of `kasoku tune` has while others wait (`-patience %d`).\n", patient[pairs], pairs, pairs)
		}
	}
	b.WriteString("\nWhy each ended, and what else changed:\n\n")
	for _, x := range r.results {
		fmt.Fprintf(&b, "- %s: %s\n", x.title, strings.ReplaceAll(x.verdict.Reason, "\n", " "))
		for _, s := range report.Shifts(x.verdict) {
			fmt.Fprintf(&b, "  - %s\n", s)
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}
