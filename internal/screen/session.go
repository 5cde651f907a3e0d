// Package screen draws a session on a terminal.
//
// In: tune.Live. Out: at most eight lines for ui.Show.
package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// Session returns a watcher that draws on u, which must draw (ui.UI.Draws).
func Session(u *ui.UI) func(tune.Live) {
	said := "" // the heading that stands above
	return func(l tune.Live) {
		if l.Said != nil && l.Said.Level == "step" {
			said = l.Said.Text
		}
		if l.Doing == said {
			l.Doing = ""
		}
		u.Show(Lines(l, u.Columns()), "")
	}
}

// Lines show l in width columns: what is tried and why, how far it is, what it
// shows, the run under way, throughput, CPU, the score so far and the time left.
// What there is nothing of has no line.
func Lines(l tune.Live, width int) []string {
	var out []string
	add := func(line string) {
		if line != "" {
			out = append(out, ui.Truncate(line, width))
		}
	}
	add(doing(l))
	if t := l.Trying; t != nil {
		add(labelled("why", width, strings.ReplaceAll(t.Why, "\n", " ")))
		add(labelled("pairs", width, pairs(t)...))
		add(labelled("effect", width, effect(t)...))
	}
	add(labelled("run", width, running(l)...))
	add(throughput(l, width))
	add(processors(l, width))
	label := "score"
	if !scored(l) {
		label = "time"
	}
	add(labelled(label, width, score(l)...))
	return out
}

// labelWidth of the longest label and the space after it.
const labelWidth = 8

// labelled is a line with a label: the first of texts that fits, else what fits
// of the last, shortest one. "" without texts.
func labelled(label string, width int, texts ...string) string {
	if len(texts) == 0 || texts[0] == "" {
		return ""
	}
	i := slices.IndexFunc(texts, func(t string) bool { return labelWidth+ui.Width(t) <= width })
	if i < 0 {
		i = len(texts) - 1
	}
	return ui.Pad(label, labelWidth) + texts[i]
}

// doing is the title.
func doing(l tune.Live) string {
	switch {
	case l.Ending:
		return "Interrupted: putting back what is under way"
	case l.Trying != nil:
		return fmt.Sprintf("%d. %s", l.Trying.Seq, l.Trying.Title)
	}
	return l.Doing
}

// pairs says how far an experiment is.
func pairs(t *tune.Trying) []string {
	done := fmt.Sprintf("%d of at most %d", t.Verdict.Pairs, t.MostPairs)
	if t.NextLook == 0 {
		return []string{done}
	}
	next := fmt.Sprintf(", next analysis at %d", t.NextLook)
	looked := ", no interim analysis yet"
	switch {
	case t.Looks == 1:
		looked = ", 1 interim analysis"
	case t.Looks > 1:
		looked = fmt.Sprintf(", %d interim analyses", t.Looks)
	}
	return []string{done + looked + next, done + next, fmt.Sprintf("%d of ≤ %d%s", t.Verdict.Pairs, t.MostPairs, next), done}
}

// effect is what an experiment shows so far.
func effect(t *tune.Trying) []string {
	v := t.Verdict
	switch {
	case v.Pairs == 0 && t.Bound > 1:
		most := "at most " + ui.Factor(t.Bound)
		return []string{"not known yet; " + most, most}
	case v.Pairs == 0:
		return []string{"not known yet"}
	}
	scores := fmt.Sprintf(", %s against %s points/s", ui.Count(v.CandidateScore), ui.Count(v.BaselineScore))
	if v.Pairs == 1 {
		return []string{ui.Percent(v.Effect) + scores, ui.Percent(v.Effect)}
	}
	interval := fmt.Sprintf("%s (95 %%: %s to %s)", ui.Percent(v.Effect), ui.Percent(v.Low), ui.Percent(v.High))
	return []string{interval + scores, interval, fmt.Sprintf("%s (%s…%s)", ui.Percent(v.Effect), ui.Percent(v.Low), ui.Percent(v.High))}
}

// running is the run under way.
func running(l tune.Live) []string {
	p := l.Load
	what := l.Label
	if t := l.Trying; t != nil {
		switch {
		case t.Side != "":
			what = string(t.Side)
		case l.Label == "" && !l.Ending:
			return []string{"between two runs"}
		}
	}
	if what == "" {
		return nil
	}
	if what += ", "; what == l.Doing+", " {
		what = "" // the title says it
	}
	if p == nil || p.Phase == load.PhaseSetup {
		return []string{what + "being prepared"}
	}
	at := fmt.Sprintf("%s%s %.0f s", what, p.Phase, p.Elapsed.Seconds())
	switch {
	case p.Phase == load.PhaseTeardown:
		at = what + string(p.Phase)
	case p.Length > 0:
		at = fmt.Sprintf("%s%s %.0f of %.0f s", what, p.Phase, p.Elapsed.Seconds(), p.Length.Seconds())
	}
	long := at
	if p.P99 > 0 {
		long += fmt.Sprintf("   p50 %s, p99 %s", ui.Duration(p.P50), ui.Duration(p.P99))
	}
	if p.Failed > 0 {
		failed := fmt.Sprintf("   %s failed", ui.Count(float64(p.Failed)))
		return []string{long + failed, at + failed, at}
	}
	return []string{long, at}
}

// numberWidth of what stands before a curve.
const numberWidth = 7

// throughput is a curve of right answers per second.
func throughput(l tune.Live, width int) string {
	if l.Load == nil && len(l.Rates) == 0 || slices.Max(append([]float64{0}, l.Rates...)) == 0 {
		return ""
	}
	now := "–" // between runs
	if rate := l.Rates[len(l.Rates)-1]; rate > 0 {
		now = ui.Count(rate)
	}
	room := width - labelWidth - numberWidth - 1
	return ui.Pad("req/s", labelWidth) + ui.Pad(now, numberWidth) + " " + ui.Sparkline(l.Rates, room)
}

// processors is a curve of each host's CPU, as many as there is room for.
func processors(l tune.Live, width int) string {
	hosts := slices.Sorted(maps.Keys(l.CPU))
	if len(hosts) == 0 {
		return ""
	}
	// The busiest of the latest seconds first, so that what does not fit is idle.
	const seconds = 10
	mean := func(host string) float64 {
		sum, points := 0.0, l.CPU[host][max(0, len(l.CPU[host])-seconds):]
		for _, p := range points {
			sum += p
		}
		return sum / float64(max(1, len(points)))
	}
	if len(hosts) == 1 {
		points := l.CPU[hosts[0]]
		return ui.Pad("CPU", labelWidth) + ui.Pad(ui.Share(points[len(points)-1]), numberWidth) + " " +
			ui.Bars(points, width-labelWidth-numberWidth-1, 1)
	}
	slices.SortStableFunc(hosts, func(a, b string) int {
		switch x, y := mean(a), mean(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	const least = 24 // columns for a name, a number and some bars
	shown := max(1, min(len(hosts), (width-labelWidth)/least))
	each := (width - labelWidth) / shown
	line := ui.Pad("CPU", labelWidth)
	slices.Sort(hosts[:shown]) // each keeps its place
	for _, h := range hosts[:shown] {
		points := l.CPU[h]
		text := ui.Truncate(h, 10) + " " + ui.Share(points[len(points)-1]) + " "
		line += ui.Pad(text+ui.Bars(points, each-ui.Width(text)-2, 1), each)
	}
	return line
}

// scored: both scores are known.
func scored(l tune.Live) bool { return l.AsFound > store.NoScore && l.Score > store.NoScore }

// score is that of what is in place, and the time left.
func score(l tune.Live) []string {
	left, short := clock(l)
	if !scored(l) {
		return []string{left, short}
	}
	factor := ui.Factor(l.Score / l.AsFound)
	points := fmt.Sprintf("%s as found (%s points/s)", factor, ui.Count(l.Score))
	if left == "" {
		return []string{points, factor}
	}
	return []string{points + "; " + left, factor + " as found; " + short, factor + "; " + short}
}

// clock is the time left, or used; of a run without a session what is left of
// that, "" if it is not known.
func clock(l tune.Live) (long, short string) {
	switch {
	case l.Session == 0 && l.Load != nil && l.Load.Left() > 0:
		short = fmt.Sprintf("%.0f s left", l.Load.Left().Seconds())
		if l.Load.Phase == load.PhaseWarmup {
			short = "at most " + short
		}
		return short + " of this run", short
	case l.Session == 0 || l.Started.IsZero():
		return "", ""
	case l.Deadline.IsZero():
		used := l.At.Sub(l.Started).Round(time.Second).String()
		return "for " + used, used
	case l.At.After(l.Deadline):
		return "the budget is used", "budget used"
	}
	left := l.Deadline.Sub(l.At).Round(time.Second).String()
	return left + " of the budget left", left + " left"
}
