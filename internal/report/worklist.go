package report

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// addWork lists what only source code can mend. Single requests are followed in
// few diagnostic runs, so the newest one of the session that did is taken; the
// functions are those of the same run. Where none was followed, as with somebody
// else's benchmark, the newest run with findings about the source is.
func (m *Model) addWork(st *store.Store, runs []store.Run) error {
	m.Work = []diagnose.Work{}
	for _, r := range runs { // newest first
		if r.Kind != store.Diagnostic {
			continue
		}
		run, err := st.Run(r.ID)
		if err != nil {
			return err
		}
		if run.Evidence == nil {
			continue
		}
		followed := run.Evidence.Requests != nil
		if !followed && len(m.Work) > 0 {
			continue
		}
		if list := diagnose.WorkList(run.Evidence, run.Diagnosis); len(list) > 0 {
			m.Work, m.WorkRun = list, run.ID
		}
		if followed {
			return nil
		}
	}
	return nil
}

// Locate fills in the lines of the work that has none yet. find is asked for the lines that
// make a statement, "app/user.php:120", the likeliest first.
func (m *Model) Locate(find func(statement string) []string) {
	for i := range m.Work {
		if w := &m.Work[i]; w.Statement != "" && len(w.Sources) == 0 {
			w.Sources = find(w.Statement)
		}
	}
}

// Starts fills in where programs are started. find is asked for the lines that start one by
// its name.
func (m *Model) Starts(find func(program string) []string) {
	for i := range m.Work {
		w := &m.Work[i]
		if len(w.Sources) > 0 {
			continue
		}
		for _, name := range w.Programs {
			for _, at := range find(name) {
				if !slices.Contains(w.Sources, at) {
					w.Sources = append(w.Sources, at)
				}
			}
		}
	}
}

// Drivers fills in where the driver's option stands, for work that it mends: one change in
// place of one for each statement.
func (m *Model) Drivers(lines, edits []string) {
	for i := range m.Work {
		w := &m.Work[i]
		if !w.OfDriver() || len(lines) == 0 {
			continue
		}
		better := make([]string, len(lines))
		for k, at := range lines {
			better[k] = at + ": " + edits[k]
		}
		w.Sources, w.Better = slices.Clone(lines), strings.Join(better, "; ")
	}
}

// onText says where it is done, how often, and what it takes.
func onText(w diagnose.Work) []string {
	var out []string
	for _, o := range w.On {
		text := o.Route
		if o.PerRequest > 0 {
			text += fmt.Sprintf(": %s per request", timesText(o.PerRequest))
			if float64(o.Most) > o.PerRequest {
				text += fmt.Sprintf(" (at most %d)", o.Most)
			}
			text += fmt.Sprintf(", %s", wouldDo(o.Could))
			if o.With < o.Requests {
				text += fmt.Sprintf("; in %d of %d requests", o.With, o.Requests)
			}
		}
		if o.Took > 0 {
			text += fmt.Sprintf("; takes %s", ui.Duration(o.Took))
		}
		if o.Share > 0 {
			text += fmt.Sprintf("; the route has %s of all requests' time", ui.Share(o.Share))
		}
		out = append(out, text)
	}
	return out
}

func timesText(n float64) string {
	if n == 1 {
		return "once"
	}
	return ui.Number(n) + " times"
}

func wouldDo(n float64) string {
	if n == 0 {
		return "none is needed"
	}
	return ui.Number(n) + " would do"
}

// shareText says what share of its service's time it has; "" if unknown.
func shareText(w diagnose.Work) string {
	switch {
	case w.FunctionShare > 0:
		return fmt.Sprintf("%s of %s's samples", ui.Share(w.FunctionShare), w.Service)
	case w.StatementShare > 0:
		return fmt.Sprintf("%s of %s's statement time", ui.Share(w.StatementShare), w.Service)
	}
	return ""
}

// mostWork items are told in full on a page of text.
const mostWork = 12

// mdWork writes the list for people who tick things off.
func (p *page) mdWork(m *Model) {
	if len(m.Work) == 0 {
		return
	}
	p.line("\n### To do in the source code\n")
	p.line("From run %d, highest bound first.\n", m.WorkRun)
	for i, w := range m.Work {
		if i == mostWork {
			p.line("- … %s: `kasoku report -o report.json`, field `work`", plural(len(m.Work)-i, "more", "more"))
			break
		}
		title := "- [ ] **" + mdText(w.Title) + "**"
		if w.Bound > 1 {
			title += " (" + ui.Bound(w.Bound) + ")"
		}
		if len(w.Sources) > 0 {
			title += " at " + mdCodes(w.Sources)
		}
		p.line("%s", title)
		for _, on := range onText(w) {
			p.line("  - %s", mdText(on))
		}
		if w.Statement != "" {
			p.line("  - now: %s%s", mdCode(oneLine(w.Statement)), mdText(note(shareText(w))))
		} else if w.Text != "" {
			p.line("  - %s", mdText(w.Text))
		}
		for _, also := range w.Also {
			p.line("  - and: %s", mdCode(oneLine(also)))
		}
		p.mdForm(w)
	}
}

func (p *page) mdForm(w diagnose.Work) {
	if w.Form.Text != "" && w.Form.Text != w.Statement {
		for line := range strings.SplitSeq(w.Form.Text, "\n") {
			p.line("  - better: %s", mdCode(line))
		}
	} else if w.Better != "" {
		p.line("  - better: %s", mdText(w.Better))
	}
	for _, n := range w.Form.Notes {
		p.line("  - mind: %s", mdText(n))
	}
}

func mdCodes(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = mdCode(s)
	}
	return strings.Join(out, ", ")
}

// textWork prints the list on the terminal.
func (p *page) textWork(m *Model) {
	if len(m.Work) == 0 {
		return
	}
	p.line("")
	p.line("To do in the source code (run %d; kasoku report has all of it):", m.WorkRun)
	for i, w := range m.Work {
		if i == Most {
			p.line("  … %d more", len(m.Work)-i)
			break
		}
		bound := ""
		if w.Bound > 1 {
			bound = "   " + ui.Bound(w.Bound)
		}
		p.line("  %2d. %s%s", i+1, w.Title, bound)
		for j, on := range onText(w) {
			if j == 2 && len(w.On) > 3 {
				p.line("      … %d more routes", len(w.On)-j)
				break
			}
			p.line("      %s", on)
		}
		if len(w.Sources) > 0 {
			p.line("      at      %s", strings.Join(w.Sources, ", "))
		}
		if w.Statement != "" {
			p.line("      now     %s%s", oneLine(w.Statement), note(shareText(w)))
		}
		if len(w.Also) > 0 {
			p.line("              and %d more", len(w.Also))
		}
		if w.Form.Text != "" && w.Form.Text != w.Statement {
			p.line("      better  %s", strings.ReplaceAll(w.Form.Text, "\n", "\n              "))
		} else if w.Better != "" {
			p.line("      better  %s", w.Better)
		}
	}
}
