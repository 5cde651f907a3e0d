package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kasoku/internal/diagnose"
	"kasoku/internal/ui"
)

// mostMarkdown is the longest text in characters: GitHub takes no more in a
// pull request's description or comment ("body is too long (maximum is 65536
// characters)", its API's answer).
const mostMarkdown = 65_536

// mdLimits bound what the text holds of lists without a natural end.
type mdLimits struct {
	Seen      bool // tables of what the last run saw
	DiffLines int  // of one diff
	Evidence  bool // findings and warnings beyond the first
}

// mdSizes are tried in this order until the text is short enough.
var mdSizes = []mdLimits{{true, 400, true}, {false, 400, true}, {false, 40, true}, {false, 12, false}, {false, 0, false}}

// Markdown writes the report for a pull request or a wiki (GitHub's dialect),
// in the order of the HTML page and without pictures: what everybody reads
// stands open, the rest in <details>.
func Markdown(w io.Writer, m *Model) error {
	var b bytes.Buffer
	for _, l := range mdSizes {
		b.Reset()
		p := &mdPage{page{w: &b}, l}
		p.whole(m)
		if p.err != nil {
			return fmt.Errorf("report: write Markdown: %w", p.err)
		}
		if utf8.RuneCount(b.Bytes()) <= mostMarkdown {
			break
		}
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("report: write Markdown: %w", err)
	}
	return nil
}

// mdPage is a text with its limits.
type mdPage struct {
	page
	limits mdLimits
}

func (p *mdPage) whole(m *Model) {
	p.line("# %s", mdText(m.Headline))
	p.line("")
	p.line("Kasoku, %s, session %d, %s", mdText(m.Session.Stack), m.Session.ID, day(m.Session.Started))
	for _, c := range m.Caveats {
		p.line("\n> %s", mdCoded(c))
	}
	p.mdFacts(m)
	p.mdChecks(m.Session.Checks)
	p.line("\n## What was kept")
	p.mdKeptTable(m)
	for _, s := range m.Kept() {
		p.mdKept(s)
	}
	if len(m.Kept()) == 0 {
		p.line("\nNothing. The target is as it was found.")
	}
	p.line("\n## What was tried and put back")
	p.mdRejectedTable(m)
	for _, s := range m.Rejected() {
		p.mdRejected(s)
	}
	if len(m.Rejected()) == 0 {
		p.line("\nNothing.")
	}
	if len(m.Session.Refusals) > 0 {
		p.fold(fmt.Sprintf("Refused by the regulation (%d)", len(m.Session.Refusals)), func() {
			for _, r := range m.Session.Refusals {
				p.line("- %s: %s", mdText(r.Plan.Title), mdText(r.Why))
			}
		})
	}
	p.mdLeft(m)
	p.mdEvidence(m)
	if sections := m.Seen.Sections(); len(sections) > 0 && p.limits.Seen {
		p.fold(fmt.Sprintf("What the last diagnostic run saw (run %d)", m.Seen.Run), func() {
			p.line("Run %d (%s). `kasoku show %d --all` prints every row.", m.Seen.Run, mdText(m.Seen.Label), m.Seen.Run)
			for _, s := range sections {
				p.mdSection(s)
			}
		})
	}
	p.mdLevels(m)
	p.mdSure(m)
	p.line("\n## To look closer, repeat or undo\n")
	for _, c := range m.Reproduce {
		p.line("- %s: %s", mdCode(c.Text), mdText(c.Why))
	}
	var rows [][]string
	for _, f := range setupRows(m) {
		rows = append(rows, []string{asText(f.Name), asText(f.Text())})
	}
	p.line("\n### What it was measured with")
	p.mdTable([]string{"", ""}, rows)
	p.line("")
	for _, f := range answers(m) {
		p.line("- **%s:** %s", f.Name, mdCoded(f.Text()))
	}
}

// fold writes what is read by those who ask for it. The empty lines are needed
// for Markdown within HTML (GFM 4.6).
func (p *mdPage) fold(title string, body func()) {
	// Within the line of a tag Markdown's escapes mean nothing.
	p.line("\n<details><summary>%s</summary>\n", mdEntities.Replace(strings.Join(strings.Fields(ui.Clean(title)), " ")))
	body()
	p.line("\n</details>")
}

// mdKeptTable is what a reviewer reads first.
func (p *mdPage) mdKeptTable(m *Model) {
	var rows [][]string
	for _, s := range m.Kept() {
		undo := "–"
		if s.Tx != 0 {
			undo = fmt.Sprintf("`kasoku undo %d`", s.Tx)
		}
		rows = append(rows, []string{fmt.Sprint(s.Seq), asText(s.Plan.Title), Effect(s.Verdict), asText(tradedText(s)), undo})
	}
	p.mdTable([]string{"#", "Change", "Effect (95 %)", "Traded", "Undo"}, rows)
}

func (p *mdPage) mdRejectedTable(m *Model) {
	var rows [][]string
	for _, s := range m.Rejected() {
		why := s.SecondLook
		if why == "" {
			why = s.Verdict.Reason
		}
		rows = append(rows, []string{fmt.Sprint(s.Seq), asText(s.Plan.Title), asText(outcomeText(s)), Effect(s.Verdict), asText(why)})
	}
	p.mdTable([]string{"#", "Change", "Outcome", "Effect (95 %)", "Why"}, rows)
}

// tradedText is what a step gave up, in words.
func tradedText(s Step) string {
	if len(s.Trades) == 0 {
		return "nothing"
	}
	var all []string
	for _, t := range s.Trades {
		all = append(all, t.Text)
	}
	return strings.Join(all, "; ")
}

func (p *mdPage) mdFacts(m *Model) {
	var rows [][]string
	for _, f := range facts(m) {
		rows = append(rows, []string{f.Name, f.Text()})
	}
	for _, r := range [][]string{{m.Session.Bottleneck(), asText(m.Session.BindsText)}, {"Why it ended", asText(m.Session.Stopped)}} {
		if r[1] != "" {
			rows = append(rows, r)
		}
	}
	p.mdTable([]string{"", ""}, rows)
}

func (p *mdPage) mdKept(s Step) {
	p.fold(fmt.Sprintf("%d. %s: why, proof, how", s.Seq, s.Plan.Title), func() {
		p.mdWhy("Why", s)
		p.line("- Effect: **%s**, %s, %s, %s; %s", mdText(Effect(s.Verdict)), plural(s.Verdict.Pairs, "pair", "pairs"), plural(s.Verdict.Runs, "run", "runs"), ui.Duration(s.Verdict.Took), mdText(s.Verdict.Reason))
		p.mdShifts(s)
		if s.SecondLook != "" {
			p.line("- Leave-one-out: %s", mdText(s.SecondLook))
		}
		p.line("- Traded: %s", mdText(tradedText(s)))
		for _, c := range s.Commands {
			p.line("- By hand: %s", mdCode(c))
		}
		if len(s.Commands) == 0 {
			p.line("- By hand: %s", byHand(s))
		}
		p.line("- Undo: %s", undoText(s))
		p.mdDiffs(s)
	})
}

// mdWhy says why a step was tried: each of its changes by itself, if it made several.
func (p *mdPage) mdWhy(name string, s Step) {
	if len(s.Parts) == 0 {
		if s.Plan.Why != "" {
			p.line("- %s: %s", name, mdText(s.Plan.Why))
		}
		return
	}
	var rows [][]string
	for _, x := range s.Parts {
		rows = append(rows, []string{asText(x.Title), asText(x.Reason), x.PredictedText(), x.MeasuredText()})
	}
	p.mdTable([]string{"Change", name, "Predicted", "Measured alone"}, rows)
	p.line("")
}

func (p *page) mdShifts(s Step) {
	for _, text := range Shifts(s.Verdict) {
		p.line("- Also changed: %s", mdText(text))
	}
}

func (p *mdPage) mdRejected(s Step) {
	p.fold(fmt.Sprintf("%d. %s: %s", s.Seq, s.Plan.Title, outcomeText(s)), func() {
		p.mdWhy("Why tried", s)
		if s.Verdict.Pairs > 0 {
			p.line("- Effect: %s, %s", mdText(Effect(s.Verdict)), plural(s.Verdict.Pairs, "pair", "pairs"))
		}
		p.mdShifts(s)
		for _, x := range s.Wrong {
			p.line("- Request: %s", mdCode(x.Request))
			p.line("- Expected: %s", mdText(x.Expected))
			p.line("- Got: %s", mdText(x.Got))
			if x.Body != "" && p.limits.DiffLines > 0 {
				p.mdBlock("", clip(x.Body))
			}
		}
	})
}

// mdDiffs writes what a kept step changed; SQL stands above already, as what to
// do by hand. What was put back is in force nowhere: the HTML page has its diffs.
func (p *mdPage) mdDiffs(s Step) {
	for _, d := range shownDiffs(s) {
		if d.Kind == "sql" && len(s.Commands) > 0 {
			continue
		}
		if p.limits.DiffLines == 0 {
			p.line("- Changed: %s (the diff: `kasoku report -o report.html`)", mdCode(d.Title))
			continue
		}
		lang := map[string]string{"file": "diff", "sql": "sql"}[d.Kind]
		var text []string
		for _, l := range diffLines(d, p.limits.DiffLines) {
			text = append(text, l.Text)
		}
		p.mdBlock(lang, strings.Join(text, "\n"))
	}
}

func (p *mdPage) mdEvidence(m *Model) {
	p.line("\n## Before and after")
	if m.Before == nil {
		p.line("\nNo diagnostic run was stored.")
		return
	}
	var times, cpu, routes, statements [][]string
	for _, t := range m.Times {
		name := t.Name
		if t.Part == partStatement {
			name = mdCode(oneLine(name))
		}
		times = append(times, []string{name, ui.Seconds(t.Before), ui.Seconds(t.After), effectOf(t.Before, t.After)})
	}
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
	p.mdTable([]string{"Time of a right answer", "before", "after", "change"}, times)
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

// openFindings stand open; the others are folded.
const openFindings = 5

func (p *mdPage) mdLeft(m *Model) {
	p.line("\n## The bottleneck now, and what would be next\n")
	if last := (pageView{Model: m}).Last(); last != nil {
		p.line("%s", mdText(last.BindsText))
		if next := outlookOf(last.Next); len(next) > 0 {
			p.line("")
			for i, text := range next {
				p.line("%d. %s", i+1, mdText(text))
			}
		}
	}
	p.mdWork(m)
	if len(m.Findings) > 0 {
		p.line("\n### Findings of the last diagnostic run\n")
	}
	finding := func(f diagnose.Finding) {
		at := ""
		if f.Source != "" {
			at = " at " + mdCode(f.Source)
		}
		p.line("- **%s** (%s)%s: %s", mdText(f.Title), ui.Bound(f.Bound), at, mdText(strings.TrimSpace(f.Text+" "+Unplanned(f))))
	}
	big := bigFindings(m.Findings)
	open := min(openFindings, len(big))
	for _, f := range big[:open] {
		finding(f)
	}
	if rest := append(big[open:len(big):len(big)], smallFindings(m.Findings)...); len(rest)+len(m.NotJudged) > 0 && p.limits.Evidence {
		p.fold(fmt.Sprintf("%s, %d not judged", plural(len(rest), "more finding", "more findings"), len(m.NotJudged)), func() {
			for _, f := range rest {
				finding(f)
			}
			for _, n := range m.NotJudged {
				p.line("- not judged: %s: %s", mdCode(n.Rule), mdText(n.Why))
			}
		})
	}
	if len(m.Findings)+len(m.NotJudged) == 0 {
		p.line("No findings.")
	}
}

func (p *mdPage) mdSure(m *Model) {
	p.line("\n## How sure this is\n")
	for _, f := range sure(m) {
		p.line("- %s: %s", f.Name, mdText(f.Text()))
	}
	if len(m.Warnings) > 0 && p.limits.Evidence {
		p.fold(fmt.Sprintf("Warnings (%d)", len(m.Warnings)), func() {
			for _, x := range m.Warnings {
				p.line("- %s: %s", mdText(x.Where), mdText(x.Text))
			}
		})
	}
}
