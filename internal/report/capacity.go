package report

import (
	"fmt"
	"io"
	"strings"

	"kasoku/internal/capacity"
	"kasoku/internal/ui"
)

// CapacityText prints how many hosts carry a load, and what that rests on.
func CapacityText(w io.Writer, p *capacity.Plan) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, ui.Clean(fmt.Sprintf(format, args...)))
	}
	q := p.Question
	if p.Rate > 0 {
		asked := fmt.Sprintf("%s right answers per second", ui.Count(p.Rate))
		if q.Users > 0 {
			asked += fmt.Sprintf(", which %s users ask for", ui.Count(float64(q.Users)))
		}
		line("load", "%s", asked)
	}
	kept := ui.Share(q.Headroom) + " of what hosts can do is left free"
	if q.Objective != "" {
		kept = q.Objective + "; " + kept
	}
	line("objective", "%s", kept)
	needText(line, p)
	lawText(line, p)
	b.WriteString("\n")
	if err := curveTable(&b, p); err != nil {
		return err
	}
	if len(p.Costs) > 0 {
		b.WriteString("\n")
		if err := costTable(&b, p); err != nil {
			return err
		}
	}
	if len(p.Dropped)+len(p.Warnings) > 0 {
		b.WriteString("\n")
	}
	for _, d := range p.Dropped {
		line("left out", "%s: %s", d.Source, d.Why)
	}
	for _, text := range p.Warnings {
		line("WARNING", "%s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// needed is what N of an axis are called; users are carried by hosts.
func needed(p *capacity.Plan, n int) string {
	if p.Axis == capacity.Workers {
		return plural(n, "worker", "workers")
	}
	return plural(n, "host", "hosts")
}

func needText(line func(string, string, ...any), p *capacity.Plan) {
	percent := ui.Share(p.Question.Confidence)
	if op := p.Operating; op != nil {
		line("used as", "%s with %s: %s/s (%s)%s", plural(p.Hosts, "host", "hosts"), plural(op.Users, "user", "users"), ui.Count(op.PerSecond), intervalText(op.Interval), "; "+op.Limit)
	}
	n := p.Need
	switch {
	case n == nil:
		return
	case n.N == 0:
		line("needed", "no number of %s carries it", p.Axis)
		return
	}
	line("needed", "%s, %s interval %s", needed(p, n.N), percent, intervalText(n.Interval))
	if p.Operating == nil {
		line("", "they do %s/s (%s) at most, of which %s/s are used", ui.Count(n.PerSecond), intervalText(n.PerSecondInterval), ui.Count(p.Rate))
		return
	}
	line("", "used so they do %s/s (%s)", ui.Count(n.PerSecond), intervalText(n.PerSecondInterval))
}

func lawText(line func(string, string, ...any), p *capacity.Plan) {
	if l := p.Law; l != nil {
		fit := fmt.Sprintf("lie %s off it", ui.Share(l.Residual))
		sigma, kappa := smallInterval(l.SigmaInterval), smallInterval(l.KappaInterval)
		if l.DF < 1 {
			fit, sigma, kappa = "give it and no more", "interval not known", "interval not known"
		}
		if l.WithoutKappa {
			kappa = "taken as it"
		}
		line("law", "X(N) = %s N / (1 + %s (N−1) + %s N (N−1)); %s of %s %s", ui.Count(l.Lambda), small(l.Sigma), small(l.Kappa),
			plural(l.Measurements, "measurement", "measurements"), plural(l.Levels, "level", "levels"), fit)
		line("", "contention σ %s (%s), coherence κ %s (%s)", small(l.Sigma), sigma, small(l.Kappa), kappa)
		if l.PeakN > 0 {
			line("peak", "%s/s with %s %s", ui.Count(l.PeakPerSecond), ui.Count(float64(int(l.PeakN+0.5))), p.Axis)
		}
	}
	if c := p.Check; c != nil {
		held := "as it says"
		if !c.Held {
			held = "NOT as it says"
		}
		line("checked", "without the levels of %d, the others predict %s/s (%s) there; measured: %s/s, %s", c.N, ui.Count(c.Predicted), intervalText(c.Interval), ui.Count(c.Measured), held)
	}
}

func curveTable(w io.Writer, p *capacity.Plan) error {
	var rows [][]string
	for _, c := range p.Curve {
		measured := "–"
		if c.Measured > 0 {
			measured = ui.Count(c.Measured)
		}
		rows = append(rows, []string{fmt.Sprint(c.N), measured, ui.Count(c.PerSecond), intervalText(c.Interval), ui.Count(c.PerSecond * (1 - p.Question.Headroom))})
	}
	return ui.Table(w, []string{string(p.Axis), "measured/s", "curve/s", ui.Share(p.Question.Confidence) + " interval", "to plan with/s"}, rows)
}

func costTable(w io.Writer, p *capacity.Plan) error {
	var rows [][]string
	for _, c := range p.Costs {
		needed := "–"
		if c.Needed > 0 {
			needed = fmt.Sprintf("%d (%s)", c.Needed, intervalText(c.NeededInterval))
		}
		rows = append(rows, []string{c.Host, c.Resource, strings.Join(c.Services, ", "), ui.Seconds(c.PerRequest), fmt.Sprintf("%.3g", c.Capacity), ui.Count(c.Allows), needed})
	}
	return ui.Table(w, []string{"host", "resource", "services", "per request", "of", "allows/s", "needed"}, rows)
}

// intervalText writes both ends, or that there is no upper one.
func intervalText(i capacity.Interval) string {
	switch {
	case i.Open && i.Low <= 0:
		return "not known"
	case i.Open:
		return ui.Count(i.Low) + " or more"
	}
	return ui.Count(i.Low) + " to " + ui.Count(i.High)
}

// small writes σ and κ with three digits.
func small(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%.3g", v)
}

func smallInterval(i capacity.Interval) string { return small(i.Low) + " to " + small(i.High) }
