package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"kasoku/internal/experiment"
	"kasoku/internal/ui"
)

// proofLayouts are the sizes of a step's own picture.
var (
	wideProof   = layout{class: "wide", width: 640, tickGap: 56}
	narrowProof = layout{class: "narrow", width: 330, tickGap: 44}
)

// proof draws what a verdict rests on: the ratio of every pair of runs, and
// below it the effect with its 95 % interval. Nothing where no pair was
// measured.
func proof(s Step, smallest float64) template.HTML {
	pairs := pairRatios(s.Verdict)
	if s.Verdict.Pairs == 0 || len(pairs) == 0 && !hasInterval(s.Verdict) {
		return ""
	}
	draw := func(l layout) string { return drawProof(s, pairs, smallest, l) }
	return template.HTML(draw(wideProof) + draw(narrowProof)) //nolint:gosec // canvas escapes every text
}

// pairRatios are candidate / baseline of every pair, in their order.
func pairRatios(v experiment.Verdict) []float64 {
	var out []float64
	for _, p := range experiment.PairsOf(v.Samples) {
		if p.Baseline.Score > 0 && p.Candidate.Score > 0 {
			out = append(out, p.Candidate.Score/p.Baseline.Score)
		}
	}
	return out
}

func drawProof(st Step, pairs []float64, smallest float64, l layout) string {
	const top, pairsY = 22.0, 36.0
	effectY := pairsY
	if len(pairs) > 0 {
		effectY += 22
	}
	height := effectY + 12
	v := st.Verdict
	lo, hi := 0.95, 1.05
	for _, r := range append([]float64{ratio(v.Effect)}, pairs...) {
		r = math.Max(1.0/forestRange, math.Min(forestRange, r))
		lo, hi = math.Min(lo, r), math.Max(hi, r)
	}
	if hasInterval(v) {
		lo, hi = math.Min(lo, ratio(v.Low)), math.Max(hi, ratio(v.High))
	}
	room := math.Pow(hi/lo, 0.05)
	label := 62.0
	s := scale{lo / room, hi * room, label, l.width - 8, true}
	c := &canvas{w: l.width, h: height}
	drawRatioAxis(c, s, top, height-2, l.tickGap)
	c.line(s.x(1), top, s.x(1), height-2, "zero")
	c.line(s.x(1+smallest), top, s.x(1+smallest), height-2, "smallest")
	if len(pairs) > 0 {
		c.text(0, pairsY+4, "tick", "start", "each pair")
	}
	c.text(0, effectY+4, "tick", "start", "effect")
	for i, r := range pairs {
		c.group(fmt.Sprintf("pair %d: %s", i+1, ui.Percent(r-1)), func() { c.circle(s.x(r), pairsY, 3.5, "pair") })
	}
	c.group(fmt.Sprintf("%s: %s", v.Words(), Effect(v)), func() { drawInterval(c, s, v, effectY) })
	return c.svg(l.class, fmt.Sprintf("Step %d: ratio of every pair of runs, and the effect %s", st.Seq, Effect(v)))
}

// noise is how much the scores of runs of one and the same configuration
// differ: the median over all experiments of the coefficient of variation of
// their baselines. 0 where no experiment has two fit baselines.
func noise(steps []Step) float64 {
	var all []float64
	for _, s := range steps {
		var sum, square, n float64
		for _, x := range s.Verdict.Samples {
			if x.Side == experiment.Baseline && x.Unfit == "" && x.Score > 0 {
				sum, square, n = sum+x.Score, square+x.Score*x.Score, n+1
			}
		}
		if n < 2 {
			continue
		}
		mean := sum / n
		all = append(all, math.Sqrt(max(0, (square-n*mean*mean)/(n-1)))/mean)
	}
	return median(all)
}

// median of the values, 0 of none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
