package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/prove"
	"kasoku/internal/stat"
)

// barMainPage is the factor that the case's issue asks for on the main page.
const barMainPage = 10.0

// figure is one line of the table. Bar is "" where none is set.
type figure struct {
	Name, Value, Bar string
	Short            bool
}

// judge puts the figures beside their bars.
func judge(r *Result) []figure {
	var out []figure
	add := func(name, value, bar string, short bool) {
		out = append(out, figure{name, value, bar, bar != "" && short})
	}
	if f, t := r.Found, r.Tuned; f != nil && t != nil {
		by := t.MainPage / f.MainPage
		add("main page, tuned ÷ as found", fmt.Sprintf("×%.1f (%.1f/s → %.1f/s)", by, f.MainPage, t.MainPage), fmt.Sprintf("≥ %.0f", barMainPage), !(by >= barMainPage))
		a, b := stat.GeoMean(f.Scores), stat.GeoMean(t.Scores)
		add("whole score, tuned ÷ as found", fmt.Sprintf("×%.1f (%.2f → %.2f rounds a minute)", b/a, a, b), "", false)
		add("wrong answers after tuning", fmt.Sprintf("%d of %d", t.Wrong, t.Requests), "0", t.Wrong > 0 || t.Requests == 0)
	}
	if s := r.Session; s != nil {
		kept := 0
		for _, x := range s.Steps {
			if x.Kept {
				kept++
			}
		}
		add("time that Kasoku took", fmt.Sprintf("%s, %d of %d steps kept", s.Took.Round(time.Second), kept, len(s.Steps)), "", false)
	}
	add("regulation checks that held", heldText(r.Checks), "4", held(r.Checks) < 4)
	if r.Levels != nil {
		one, alone, four := perSecond(r.Levels, 1), perSecond(r.Levels, 0), perSecond(r.Levels, hostCount)
		add("four hosts ÷ one, both behind the balancer", fmt.Sprintf("×%.2f (%.2f/s → %.2f/s)", four/one, one, four), "", false)
		add("four hosts ÷ one without it", fmt.Sprintf("×%.2f (%.2f/s)", four/alone, alone), "", false)
		wrong := int64(0)
		for _, l := range r.Levels {
			wrong += l.Wrong
		}
		add("wrong answers on several hosts", fmt.Sprint(wrong), "0", wrong > 0)
	}
	if k := r.Capacity; k != nil {
		text, short := "not foretold", true
		if k.Checked != nil {
			text = fmt.Sprintf("%.2f/s foretold (%.2f–%.2f), %.2f/s measured", k.Checked.Predicted, k.Checked.Interval.Low, k.Checked.Interval.High, k.Checked.Measured)
			short = !k.Checked.Held
		}
		add("the fourth host, from one to three", text, "within the interval, or 5 %", short)
		text, ok := foretold(r, k.Foretold)
		add(fmt.Sprintf("hosts for %.2f/s, from one to three", k.Rate), text, "the number, or a closed interval, has what four do", !ok)
		text, ok = foretold(r, k.Known)
		add(fmt.Sprintf("hosts for %.2f/s, from one to four", k.Rate), text, "a closed interval has what four do", !ok || k.Known.Need.Interval.Open)
	}
	return out
}

// foretold compares the number of hosts that were said to carry the load, which
// three do not, with what four did. ok: its interval agrees, or where that is
// open, and would agree with nearly everything, the number itself.
func foretold(r *Result, plan *capacity.Plan) (text string, ok bool) {
	k, four := r.Capacity, perSecond(r.Levels, hostCount)
	if plan == nil || plan.Need == nil {
		return "no answer", false
	}
	need := plan.Need
	said, low, high := fmt.Sprint(need.N), float64(need.N), float64(need.N)
	if need.N == 0 {
		said, low, high = "no number", math.Inf(1), math.Inf(1)
	}
	switch i := need.Interval; {
	case i.Low > 0 && i.Open:
		said += fmt.Sprintf(" (from %g on)", i.Low)
	case i.Low > 0:
		low, high = i.Low, max(i.High, high)
		said += fmt.Sprintf(" (%g to %g)", low, high)
	}
	text = fmt.Sprintf("%s foretold; four carry %.2f/s", said, four)
	if four >= k.Rate {
		return text, low <= hostCount && high >= hostCount
	}
	return text, high > hostCount
}

func held(checks []prove.Result) int {
	n := 0
	for _, c := range checks {
		if c.Outcome == prove.Held {
			n++
		}
	}
	return n
}

func heldText(checks []prove.Result) string {
	text := fmt.Sprintf("%d of %d", held(checks), len(checks))
	for _, c := range checks {
		if c.Outcome != prove.Held {
			text += fmt.Sprintf("; %s: %s", c.Check, c.Outcome)
		}
	}
	return text
}

// printFigures reports whether one fell short.
func printFigures(w io.Writer, all []figure) (short bool) {
	for _, f := range all {
		word := ""
		if f.Bar != "" {
			word = "ok"
			if f.Short {
				word, short = "SHORT", true
			}
		}
		fmt.Fprintf(w, "%-44s %-52s %-28s %s\n", f.Name, f.Value, f.Bar, word)
	}
	return short
}
