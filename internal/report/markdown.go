package report

import (
	"fmt"
	"io"
	"strings"

	"kasoku/internal/ui"
)

// Markdown writes the report for a pull request or a wiki (GitHub's dialect),
// in the order of the HTML page and without pictures.
func Markdown(w io.Writer, m *Model) error {
	p := &page{w: w}
	p.line("# %s", mdText(m.Headline))
	p.line("")
	p.line("Kasoku, %s, session %d, %s", mdText(m.Session.Stack), m.Session.ID, day(m.Session.Started))
	for _, c := range m.Caveats {
		p.line("\n> %s", mdText(c))
	}
	p.mdFacts(m)
	p.line("\n## What was kept")
	for _, s := range m.Kept() {
		p.mdKept(s)
	}
	if len(m.Kept()) == 0 {
		p.line("\nNothing. The target is as it was found.")
	}
	p.line("\n## What was tried and put back")
	for _, s := range m.Rejected() {
		p.mdRejected(s)
	}
	if len(m.Rejected()) == 0 {
		p.line("\nNothing.")
	}
	if len(m.Session.Refusals) > 0 {
		p.line("\n## Refused by the regulation\n")
		for _, r := range m.Session.Refusals {
			p.line("- %s: %s", mdText(r.Plan.Title), mdText(r.Why))
		}
	}
	p.mdEvidence(m)
	p.mdLeft(m)
	if sections := m.Seen.Sections(); len(sections) > 0 {
		p.line("\n## What the last diagnostic run saw\n\nRun %d (%s). `kasoku show %d --all` prints every row.", m.Seen.Run, mdText(m.Seen.Label), m.Seen.Run)
		for _, s := range sections {
			p.mdSection(s)
		}
	}
	p.mdLevels(m)
	p.mdSure(m)
	p.line("\n## To look closer, repeat or undo\n")
	for _, c := range m.Reproduce {
		p.line("- %s: %s", mdCode(c.Text), mdText(c.Why))
	}
	if p.err != nil {
		return fmt.Errorf("report: write Markdown: %w", p.err)
	}
	return nil
}

func (p *page) mdFacts(m *Model) {
	s := m.Score
	rows := [][]string{{"As found", points(s.AsFound)}, {"At the end", points(s.Final)}}
	if s.Factor > 0 {
		rows = append(rows, []string{"Factor", ui.Factor(s.Factor)})
	}
	if s.AfterRestart > 0 {
		rows = append(rows, []string{"After " + s.Restarted(), points(s.AfterRestart) + " (" + ui.Percent(s.RestartEffect) + ")"})
	}
	rows = append(rows, []string{"Time taken", fmt.Sprintf("%s, %d runs", ui.Duration(m.Took), m.Runs.Total)},
		[]string{"What binds now", m.Session.BindsText}, []string{"Why it ended", m.Session.Stopped})
	p.mdTable([]string{"", ""}, rows)
}

func (p *page) mdKept(s Step) {
	p.line("\n### %d. %s\n", s.Seq, mdText(s.Plan.Title))
	p.line("- Why: %s", mdText(s.Plan.Why))
	p.line("- Effect: **%s**, %d pairs, %d runs, %s", mdText(Effect(s.Verdict)), s.Verdict.Pairs, s.Verdict.Runs, ui.Duration(s.Verdict.Took))
	p.mdShifts(s)
	if s.SecondLook != "" {
		p.line("- Looked at again: %s", mdText(s.SecondLook))
	}
	traded := "nothing"
	for i, t := range s.Trades {
		if i == 0 {
			traded = ""
		} else {
			traded += "; "
		}
		traded += t.Text
	}
	p.line("- Traded: %s", mdText(traded))
	for _, c := range s.Commands {
		p.line("- By hand: %s", mdCode(c))
	}
	if s.Tx != 0 {
		p.line("- Undo: `kasoku undo %d`", s.Tx)
	}
	p.mdDiffs(s)
}

func (p *page) mdShifts(s Step) {
	for _, text := range Shifts(s.Verdict) {
		p.line("- Also changed: %s", mdText(text))
	}
}

func (p *page) mdRejected(s Step) {
	p.line("\n### %d. %s: %s\n", s.Seq, mdText(s.Plan.Title), mdText(outcomeText(s)))
	if s.Verdict.Pairs > 0 {
		p.line("- Effect: %s, %d pairs", mdText(Effect(s.Verdict)), s.Verdict.Pairs)
	}
	p.mdShifts(s)
	if s.SecondLook != "" {
		p.line("- Taken out because: %s", mdText(s.SecondLook))
	} else {
		p.line("- Put back because: %s", mdText(s.Verdict.Reason))
	}
	for _, x := range s.Wrong {
		p.line("- Request: %s", mdCode(x.Request))
		p.line("- Expected: %s", mdText(x.Expected))
		p.line("- Got: %s", mdText(x.Got))
		if x.Body != "" {
			p.mdBlock("", clip(x.Body))
		}
	}
}

func (p *page) mdDiffs(s Step) {
	for _, d := range shownDiffs(s) {
		lang := map[string]string{"file": "diff", "sql": "sql"}[d.Kind]
		p.mdBlock(lang, ui.Clean(d.Text))
	}
}

func (p *page) mdEvidence(m *Model) {
	p.line("\n## Before and after")
	if m.Before == nil {
		p.line("\nNo diagnostic run was stored.")
		return
	}
	var cpu, routes, statements [][]string
	for _, c := range m.CPU {
		cpu = append(cpu, []string{c.Name, ui.Seconds(c.Before), ui.Seconds(c.After), effectOf(c.Before, c.After)})
	}
	for _, r := range m.Routes {
		b, a := routeText(r.Before), routeText(r.After)
		routes = append(routes, []string{mdCode(r.Route), b[0], a[0], b[1], a[1], b[2], a[2], b[3], a[3]})
	}
	for _, s := range m.Statements {
		b, a := statementText(s.Before), statementText(s.After)
		statements = append(statements, []string{mdCode(oneLine(s.Fingerprint)), b[0], a[0], b[1], a[1], b[2], a[2]})
	}
	p.mdTable([]string{"CPU per right answer", "before", "after", "change"}, cpu)
	p.mdTable([]string{"Route", "requests/s", "after", "p50", "after", "p99", "after", "Apdex", "after"}, routes)
	p.mdTable([]string{"Statement", "calls per answer", "after", "time per call", "after", "rows read per call", "after"}, statements)
}

func routeText(s *RouteStats) [4]string {
	if s == nil {
		return [4]string{"–", "–", "–", "–"}
	}
	return [4]string{ui.Count(s.PerSecond), ui.Duration(s.P50), ui.Duration(s.P99), apdexText(s.Apdex)}
}

func statementText(s *StatementStats) [3]string {
	if s == nil {
		return [3]string{"–", "–", "–"}
	}
	return [3]string{ui.Count(s.CallsPerRequest), ui.Seconds(s.TimePerCall), ui.Count(s.RowsPerCall)}
}

func (p *page) mdLeft(m *Model) {
	p.line("\n## What is left\n")
	for _, f := range m.Findings {
		p.line("- **%s** (%s): %s", mdText(f.Title), ui.Bound(f.Bound), mdText(f.Text))
	}
	for _, n := range m.NotJudged {
		p.line("- not judged: %s: %s", mdCode(n.Rule), mdText(n.Why))
	}
	if len(m.Findings)+len(m.NotJudged) == 0 {
		p.line("No findings.")
	}
}

func (p *page) mdSure(m *Model) {
	p.line("\n## How sure this is\n")
	p.line("Randomized pairs of baseline and candidate, group-sequential test: false-keep rate %s for each experiment, at most %d pairs, smallest effect %s. %d runs: %d scored, %d diagnostic, %d probes, %d unfit and repeated.",
		ui.Share(m.Rule.Alpha), m.Rule.MaxPairs, ui.Percent(m.Rule.SmallestEffect), m.Runs.Total, m.Runs.Scored, m.Runs.Diagnostic, m.Runs.Probe, m.Runs.Unfit)
	for _, x := range m.Warnings {
		p.line("- %s: %s", mdText(x.Where), mdText(x.Text))
	}
}

// mdTable writes a table; cells that are not code are escaped.
func (p *page) mdTable(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.line("\n| %s |", strings.Join(head, " | "))
	p.line("|%s", strings.Repeat(" --- |", len(head)))
	for _, r := range rows {
		for i, c := range r {
			if strings.HasPrefix(c, "`") {
				// Within a table a bar ends the cell even in code (GFM 4.10).
				r[i] = strings.ReplaceAll(c, "|", `\|`)
			} else {
				r[i] = mdText(c)
			}
		}
		p.line("| %s |", strings.Join(r, " | "))
	}
}

// mdBlock writes a fenced block whose fence the text cannot close.
func (p *page) mdBlock(lang, text string) {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	p.line("\n%s%s\n%s\n%s\n", fence, lang, strings.TrimRight(text, "\n"), fence)
}

// mdCode is a code span (CommonMark 6.1): as many back quotes as the text does
// not hold.
func mdCode(s string) string {
	s = strings.Join(strings.Fields(ui.Clean(s)), " ")
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdEscape is every character that means something within a line, as
// backslash escape (CommonMark 2.4) or, for HTML, as entity. "#", "+", "-" and
// digits matter only at the beginning of a line, where no text is put.
var mdEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "!", `\!`, "@", "&#64;")

// mdText is one line of plain text.
func mdText(s string) string {
	return mdEscape.Replace(strings.Join(strings.Fields(ui.Clean(s)), " "))
}

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r == of {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
