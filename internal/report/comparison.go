package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// Comparing says in one sentence what came of a comparison.
func Comparing(c *tune.Comparison) string {
	v, head, base := c.Verdict, c.Head.Name(), c.Base.Name()
	switch v.Outcome {
	case experiment.Improved:
		return fmt.Sprintf("%s is faster than %s: %s.", head, base, Effect(v))
	case experiment.Regressed:
		return fmt.Sprintf("%s is slower than %s: %s.%s", head, base, Effect(v), onlyTail(v))
	case tune.NotRegressed:
		return fmt.Sprintf("%s is not slower than %s by more than %s: %s.", head, base, ui.Share(c.MaxRegression), Effect(v))
	case experiment.NoDifference:
		text := fmt.Sprintf("No difference between %s and %s was shown: %s.", head, base, Effect(v))
		if loss, ok := tune.RuledOut(v); ok {
			text += fmt.Sprintf(" Slower by more than %.1f %% is ruled out; slower by less is not.", 100*loss)
		}
		return text
	case experiment.Tampered:
		return fmt.Sprintf("Refused, because what is compared touches its judge: %s.", v.Reason)
	case experiment.Broke:
		return fmt.Sprintf("%s answers wrongly: %s.", head, v.Reason)
	case experiment.Failed:
		return fmt.Sprintf("%s could not be put in place: %s.", head, v.Reason)
	case experiment.Inconclusive: // below
	}
	text := fmt.Sprintf("Whether %s is slower than %s cannot be told", head, base)
	if e := Effect(v); e != "" {
		text += ", it may be anything within " + e
	}
	return text + ": " + v.Reason + "."
}

// onlyTail: it has regressed although its score rose.
func onlyTail(v experiment.Verdict) string {
	if v.Effect <= 0 {
		return ""
	}
	return " " + strings.ToUpper(v.Reason[:1]) + v.Reason[1:] + "."
}

// comparisonTable has a row for each metric.
func comparisonTable(c *tune.Comparison) (head []string, rows [][]string) {
	for _, m := range c.Metrics {
		how, between := metricNames[m.Metric], "–"
		if m.Low != m.High {
			between = ui.Percent(m.Low) + " … " + ui.Percent(m.High)
		}
		rows = append(rows, []string{how.name, how.text(m.Baseline), how.text(m.Candidate), ui.Percent(m.Effect), between})
	}
	return []string{"", "base", "head", "change", "95 % interval"}, rows
}

// facts of a comparison below its table.
func comparisonFacts(c *tune.Comparison) string {
	v := c.Verdict
	text := fmt.Sprintf("%s of interleaved runs (%d runs), %s in all", plural(v.Pairs, "pair", "pairs"), v.Runs, ui.Duration(c.Took.Round(time.Second)))
	if c.Base.Build+c.Head.Build > 0 {
		text += fmt.Sprintf("; built in %s and %s", ui.Duration(c.Base.Build), ui.Duration(c.Head.Build))
	}
	if v.Reason != "" {
		text += "; " + v.Reason
	}
	return text + "."
}

// ComparisonText prints a comparison for the terminal.
func ComparisonText(w io.Writer, c *tune.Comparison) error {
	p := &page{w: w}
	p.line("%s", Comparing(c))
	p.line("")
	p.table(comparisonTable(c))
	p.line("\n%s", comparisonFacts(c))
	for _, side := range []struct {
		name string
		v    tune.Version
	}{{"base", c.Base}, {"head", c.Head}} {
		p.line("%s", strings.TrimSpace(side.name+" "+side.v.Name()+" "+side.v.Subject))
	}
	for _, warn := range c.Verdict.Warnings {
		p.line("note: %s", warn.Text)
	}
	p.line("the target is as it was; kasoku show step/%d has the runs", c.Step)
	return p.err
}

// mostNotes bounds the warnings of a summary: the runs have them all.
const mostNotes = 10

// ComparisonMarkdown writes a comparison for the summary page of a CI job.
func ComparisonMarkdown(w io.Writer, c *tune.Comparison) error {
	p := &page{w: w}
	p.line("### Kasoku: %s", mdText(string(c.Verdict.Outcome)))
	p.line("\n**%s**", mdText(Comparing(c)))
	head, rows := comparisonTable(c)
	p.mdTable(head, rows)
	p.line("\n%s", mdText(comparisonFacts(c)))
	p.line("")
	for _, side := range []struct {
		name string
		v    tune.Version
	}{{"base", c.Base}, {"head", c.Head}} {
		text := "- " + side.name + " " + mdCode(side.v.Name())
		if side.v.Subject != "" {
			text += ": " + mdText(side.v.Subject)
		}
		p.line("%s", text)
	}
	for i, warn := range c.Verdict.Warnings {
		if i == mostNotes {
			p.line("- … %d more notes", len(c.Verdict.Warnings)-i)
			break
		}
		p.line("- note: %s", mdText(warn.Text))
	}
	p.line("")
	return p.err
}

// FailedMarkdown writes that a comparison did not take place, with the last
// lines that a build or a service printed.
func FailedMarkdown(w io.Writer, err error) error {
	p := &page{w: w}
	p.line("### Kasoku: no comparison\n")
	first, rest, _ := strings.Cut(ui.Clean(change.Redact(err.Error())), "\n")
	p.line("**%s**", mdText(first))
	if rest = strings.TrimSpace(rest); rest != "" {
		fence := strings.Repeat("`", max(3, longestRun(rest, '`')+1))
		p.line("\n%s\n%s\n%s", fence, rest, fence)
	}
	p.line("")
	return p.err
}
