package report

import (
	"fmt"
	"html/template"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// layout of a picture: wide for a desk and paper, narrow for a phone. Both are
// in the page; the style sheet shows one.
type layout struct {
	class   string
	width   float64
	label   float64 // width of the label column; 0: labels stand above their row
	row     float64 // height of a row
	tickGap float64 // least distance of axis labels
}

var (
	wideLayout   = layout{class: "wide", width: 880, label: 330, row: 29, tickGap: 56}
	narrowLayout = layout{class: "narrow", width: 350, row: 47, tickGap: 44}
)

// rowY is the y of the plot line of a row that begins at top.
func (l layout) rowY(top float64) float64 {
	if l.label > 0 {
		return top + l.row/2
	}
	return top + 33
}

// rowLabel draws a row's label. It comes after the lines that it may cross:
// the style sheet gives it a halo.
func (l layout) rowLabel(c *canvas, top float64, class, text string) {
	if l.label > 0 {
		c.text(0, top+l.row/2+4.5, class, "start", fit(text, l.label-16))
		return
	}
	c.text(0, top+16, class, "start", fit(text, l.width))
}

// pictures renders one drawing in both layouts.
func pictures(draw func(layout) string) template.HTML {
	return template.HTML(draw(wideLayout) + draw(narrowLayout)) //nolint:gosec // canvas escapes every text
}

// mark is one row of the timeline.
type mark struct {
	label string
	title string // on hover
	score float64
	text  string // beside the mark
	// whole: a measurement of the service itself, not a step.
	whole, kept bool
	seq         int    // of its step
	fault       bool   // has no score: it failed or broke answers
	open        bool   // no verdict yet
	target      string // ID of the step's place on the page
}

// timelineMarks are the rows: as found, every step, the end.
func timelineMarks(m *Model) []mark {
	out := []mark{}
	if m.Score.AsFound > 0 {
		out = append(out, mark{label: "As found", score: m.Score.AsFound, whole: true, text: ui.Count(m.Score.AsFound),
			title: fmt.Sprintf("As found: %s with %d users", m.Score.Points(m.Score.AsFound), m.Session.AsFoundWorkload)})
	}
	for _, s := range m.Steps {
		v := s.Verdict
		x := mark{seq: s.Seq, label: fmt.Sprintf("%d  %s", s.Seq, s.Plan.Title), score: v.CandidateScore, kept: s.Kept,
			title: fmt.Sprintf("%d. %s\n%s: %s\n%s", s.Seq, s.Plan.Title, v.Words(), v.Reason, Effect(v)), target: stepID(s)}
		switch {
		case s.Kept && v.CandidateScore > 0 && v.Pairs > 0:
			x.text = ui.Count(v.CandidateScore) + "  " + ui.Percent(v.Effect)
		case v.CandidateScore > 0 && v.Outcome != experiment.Broke:
			x.text = ui.Count(v.CandidateScore)
		case v.Outcome == "":
			x.fault, x.open, x.text = true, true, "not finished"
			if s.Seq == m.UnderWay() {
				x.text = "under way"
			}
			x.title = fmt.Sprintf("%d. %s\n%s", s.Seq, s.Plan.Title, x.text)
		default:
			x.fault, x.text = true, string(v.Outcome)
		}
		out = append(out, x)
	}
	if m.Many() {
		out = foldMarks(out, func(x mark) bool { return !x.kept && !x.whole && !x.open })
	}
	end := func(label string, score float64) {
		out = append(out, mark{label: label, score: score, whole: true, text: ui.Count(score), title: label + ": " + m.Score.Points(score)})
	}
	if m.Score.Measured && m.Score.Final > 0 {
		end("At the end", m.Score.Final)
		if c := m.Session.Compared; c != nil && c.By != store.BySteps && m.Score.Factor > 0 {
			out[len(out)-1].text += "  " + ui.Factor(m.Score.Factor)
		}
	}
	if m.Score.AfterRestart > 0 {
		end("After "+m.Score.Restarted(), m.Score.AfterRestart)
	}
	return out
}

// mostRows of a picture: about two screens. A longer session is read by what it kept.
const mostRows = 40

// Many: the session has more steps than a reader goes through one by one.
func (m *Model) Many() bool { return len(m.Steps) > mostRows }

// Folded are the judged steps that were put back, if there are Many; Shown are the others.
func (m *Model) Folded() []Step { return m.some(func(s Step) bool { return m.folds(s) }) }

// Shown are the steps that Folded leaves.
func (m *Model) Shown() []Step { return m.some(func(s Step) bool { return !m.folds(s) }) }

func (m *Model) folds(s Step) bool { return m.Many() && !s.Kept && s.Verdict.Outcome != "" }

// foldMarks makes one row of several in a row that folds names.
func foldMarks(marks []mark, folds func(mark) bool) []mark {
	var out []mark
	for i := 0; i < len(marks); {
		n := 0
		for i+n < len(marks) && folds(marks[i+n]) {
			n++
		}
		if n < 2 {
			out = append(out, marks[i])
			i++
			continue
		}
		label := fmt.Sprintf("%d–%d  %d changes put back", marks[i].seq, marks[i+n-1].seq, n)
		out = append(out, mark{label: label, title: label, fault: true, open: true})
		i += n
	}
	return out
}

// stepID is where the page tells of a step; "" for second looks, which are told
// with the steps that were looked at.
func stepID(s Step) string {
	if len(s.LeavesOut) > 0 {
		return ""
	}
	return fmt.Sprintf("step-%d", s.Seq)
}

// timeline draws the score of the session from top to bottom: a solid line
// steps to every kept change; what was put back is hollow beside it.
func timeline(m *Model) template.HTML {
	marks := timelineMarks(m)
	if len(marks) < 2 {
		return ""
	}
	return pictures(func(l layout) string { return drawTimeline(marks, l) })
}

func drawTimeline(marks []mark, l layout) string {
	const top = 24
	c := &canvas{w: l.width, h: top + l.row*float64(len(marks)) + 6}
	var values []float64
	widest := 0.0
	for _, k := range marks {
		if !k.fault {
			values = append(values, k.score)
		}
		widest = max(widest, textWidth(k.text))
	}
	// Room on the right for the widest text beside a mark.
	s := valueScale(values, l.label+10, l.width-widest-14)
	c.axis(s, top, c.h-4, l.tickGap, tickText)
	drawLevels(c, l, s, marks, top)
	level := s.x(marks[0].score)
	for i, k := range marks {
		class := "label"
		if k.kept || k.whole {
			class = "label strong"
		}
		c.link(k.target, k.title, func() {
			at := top + l.row*float64(i)
			l.rowLabel(c, at, class, k.label)
			drawMark(c, l, k, level, s.x(k.score), l.rowY(at))
			if k.moves() {
				level = s.x(k.score)
			}
		})
	}
	scaleName := "linear scale"
	if s.log {
		scaleName = "logarithmic scale"
	}
	return c.svg(l.class, "Score of the session step by step, points per second, "+scaleName)
}

// moves: the solid line goes on from its score.
func (k mark) moves() bool { return k.kept && !k.fault || k.whole }

// drawLevels draws the solid line from row to row, below all marks and labels
// that it crosses.
func drawLevels(c *canvas, l layout, s scale, marks []mark, top float64) {
	level, prevY := s.x(marks[0].score), l.rowY(top)
	for i, k := range marks {
		y := l.rowY(top + l.row*float64(i))
		c.line(level, prevY, level, y, "level")
		if prevY = y; k.moves() {
			level = s.x(k.score)
		}
	}
}

// drawMark draws one row's mark and text beside the solid line at level.
func drawMark(c *canvas, l layout, k mark, level, x, y float64) {
	switch {
	case k.open:
		c.text(level+10, y+4.5, "value soft", "start", k.text)
		return
	case k.fault:
		c.cross(level+12, y, 4, "fault")
		c.text(level+22, y+4.5, "value bad", "start", k.text)
		return
	case k.whole:
		c.line(level, y, x, y, "level")
		c.rect(x-4.5, y-4.5, 9, 9, "mark-whole")
	case k.kept:
		c.line(level, y, x, y, "level")
		c.circle(x, y, 5, "mark-kept")
	default:
		c.line(level, y, x, y, "side")
		c.circle(x, y, 4.5, "mark-back")
	}
	class := "value"
	if !k.kept && !k.whole {
		class = "value soft"
	}
	// The text keeps clear of the line: a lower score has it on the left if
	// there is room, else right of the line.
	at, anchor := max(x, level)+10, "start"
	if left := x - 10 - textWidth(k.text); x < level-1 && left > l.label+4 {
		at, anchor = x-10, "end"
	}
	c.text(at, y+4.5, class, anchor, k.text)
}
