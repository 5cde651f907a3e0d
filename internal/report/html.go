package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/history"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

//go:embed page.html
var pageSource string

//go:embed style.css
var styleSource string

// htmlPage escapes by context (html/template). Only the style sheet, which is this
// package's own, and the pictures, whose texts canvas escapes, are trusted.
var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"flames":   flameSection,
	"css":      func() template.CSS { return template.CSS(styleSource) },
	"timeline": timeline, "forest": forest, "cpu": cpuBars, "segment": segment, "timeBars": timeBars, "timeSegment": timeSegment,
	"resourceBars": resourceBars, "routeMoves": routeMoves, "statementMoves": statementMoves, "proof": proof, "view": viewStep,
	"outlook": outlookOf, "onText": onText, "shareText": shareText, "outcome": outcomeText, "inc": func(i int) int { return i + 1 },
	"level": func(p float64) string { return together(ui.Number(100*p) + " %") },
	"count": ui.Count, "factor": ui.Factor, "bound": ui.Bound,
	"percent":   func(e float64) string { return together(ui.Percent(e)) },
	"share":     func(p float64) string { return together(ui.Share(p)) },
	"seconds":   func(s float64) string { return together(ui.Seconds(s)) },
	"duration":  func(d time.Duration) string { return together(ui.Duration(d)) },
	"effect":    func(v experiment.Verdict) string { return keepUnits(Effect(v)) },
	"unplanned": Unplanned,
	"shifts": func(v experiment.Verdict) []string {
		out := Shifts(v)
		for i := range out {
			out[i] = keepUnits(out[i])
		}
		return out
	},
	"apdex":  apdexText,
	"change": effectOf, "diffTitle": diffTitle, "shown": func(v stepView) []store.Diff { return shownDiffs(v.Step) },
	"levels": levelsTitle, "changed": changeLine, "spark": func(s history.Series) string { return s.Spark(sparkWidth) },
	"join": func(s []string) string { return strings.Join(s, ", ") },
	"clip": clip, "sql": oneLine, "day": day, "plural": plural, "tone": tone,
	"lines": diffLines, "open": openDiff, "demands": demandRows,
	"facts": facts, "answers": answers, "big": bigFindings, "small": smallFindings, "setup": setupRows, "sure": sure, "byHand": byHand, "undo": undoText, "coded": coded, "keep": keepUnits,
}).Parse(pageSource))

// together keeps a number and its unit on one line.
func together(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }

// keepUnits keeps the numbers of a sentence and their units on one line.
func keepUnits(s string) string {
	return strings.NewReplacer(" %", "\u00a0%", " points/s", "\u00a0points/s").Replace(s)
}

// codedText is a piece of a sentence; Code stood between back quotes.
type codedText struct {
	Text string
	Code bool
}

// coded splits a sentence. Where a back quote has no partner, who knows which is
// whose: then all is text.
func coded(s string) []codedText {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return []codedText{{Text: s}}
	}
	var out []codedText
	for i, t := range parts {
		if t != "" {
			out = append(out, codedText{t, i%2 == 1})
		}
	}
	return out
}

// shownDiffs leaves out those that say the same as a command "by hand".
func shownDiffs(s Step) []store.Diff {
	return slices.DeleteFunc(slices.Clone(s.Diffs), func(d store.Diff) bool {
		return s.Kept && slices.Contains(s.Commands, strings.TrimRight(d.Text, ";\n "))
	})
}

// diffTitle is what changes; of SQL its first line, since a service has many.
func diffTitle(d store.Diff) string {
	if d.Kind != "sql" {
		return d.Title
	}
	first, _, _ := strings.Cut(d.Text, "\n")
	return d.Title + ": " + ui.Truncate(ui.Clean(first), mostText)
}

// diffLine is one line of a diff with its class: add, del, hunk or none.
type diffLine struct{ Class, Text string }

// diffLines are at most most lines of a diff; the export has the whole.
func diffLines(d store.Diff, most int) []diffLine {
	text := strings.TrimRight(ui.Clean(d.Text), "\n")
	if text == "" {
		return nil
	}
	var out []diffLine
	for i, l := range strings.Split(text, "\n") {
		if i == most {
			return append(out, diffLine{"hunk", fmt.Sprintf("… %d more lines", strings.Count(text, "\n")+1-i)})
		}
		out = append(out, diffLine{diffClass(d.Kind, l), l})
	}
	return out
}

// diffClass tells a line of a unified diff by its first characters; SQL and
// commands have no such lines.
func diffClass(kind, line string) string {
	switch {
	case kind != "file":
		return ""
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}

// openDiff: short diffs of kept changes are read, the others looked up. SQL
// stands above already, as what to do by hand.
func openDiff(d store.Diff, kept bool) bool {
	const short = 40 // lines: most of a screen
	return kept && d.Kind != "sql" && strings.Count(d.Text, "\n") <= short
}

// demandRow is one resource before and after.
type demandRow struct {
	Resource      string
	Before, After *diagnose.Demand
}

func demandRows(m *Model) []demandRow {
	var out []demandRow
	if m.Before == nil {
		return nil
	}
	for _, d := range m.Before.Demands {
		r := demandRow{Resource: d.Resource, Before: &d}
		if m.After != nil {
			r.After = demand(m.After.Demands, d.Resource)
		}
		out = append(out, r)
	}
	if m.After != nil {
		for _, d := range m.After.Demands {
			if demand(m.Before.Demands, d.Resource) == nil {
				out = append(out, demandRow{Resource: d.Resource, After: &d})
			}
		}
	}
	return out
}

// tone of an outcome's word.
func tone(o experiment.Outcome) string {
	switch o {
	case experiment.Regressed, experiment.Broke, experiment.Failed, experiment.Tampered:
		return "bad"
	case experiment.Improved:
		return "good"
	case experiment.NoDifference, experiment.Inconclusive: // soft
	}
	return "soft"
}

// mostBody is how much of a wrong answer's body is shown, in bytes: enough for
// an error page's message.
const mostBody = 1500

func clip(body string) string {
	if len(body) <= mostBody {
		return ui.Clean(body)
	}
	return ui.Clean(strings.ToValidUTF8(body[:mostBody], "")) + fmt.Sprintf("\n… %d more bytes", len(body)-mostBody)
}

// mostSQL is how much of a statement's fingerprint is shown, in columns.
const mostSQL = 400

// oneLine puts a statement on one line.
func oneLine(s string) string {
	return ui.Truncate(strings.Join(strings.Fields(ui.Clean(s)), " "), mostSQL)
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04 MST")
}
