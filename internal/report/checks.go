package report

import (
	"fmt"
	"io"
	"strings"

	"kasoku/internal/prove"
	"kasoku/internal/ui"
)

// ChecksText prints the regulation checks for the terminal.
func ChecksText(w io.Writer, all []prove.Result) error {
	p := &page{w: w}
	p.textChecks(all)
	return p.err
}

func (p *page) textChecks(all []prove.Result) {
	for _, r := range all {
		p.line("  %-10s %-10s %s", r.Check, r.Outcome, ui.Clean(r.Text))
		for _, x := range r.Problems {
			p.line("    - %s", checkProblem(x))
		}
		if more := r.Failures - len(r.Problems); more > 0 {
			p.line("    … and %d more", more)
		}
		for _, n := range r.Notes {
			p.line("    note: %s", ui.Clean(n))
		}
	}
}

// checkProblem is one thing that failed, in one line.
func checkProblem(x prove.Problem) string {
	text := ui.Clean(x.What)
	if x.By != "" {
		text += "; by " + ui.Clean(x.By)
	}
	return text
}

// brokenText says which checks failed; "" if none did.
func brokenText(all []prove.Result) string {
	broken := prove.Broken(all)
	if len(broken) == 0 {
		return ""
	}
	return fmt.Sprintf("The regulation does not hold: %s failed.", strings.Join(broken, ", "))
}

// mdChecks is a section of its own where checks were made.
func (p *mdPage) mdChecks(all []prove.Result) {
	if len(all) == 0 {
		return
	}
	p.line("\n## Does the regulation hold\n")
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{r.Check, string(r.Outcome), asText(r.Text), ui.Duration(r.Took)})
	}
	p.mdTable([]string{"Check", "Outcome", "What was seen", "Took"}, rows)
	for _, r := range all {
		for _, x := range r.Problems {
			p.line("- %s failed: %s", r.Check, mdText(checkProblem(x)))
		}
		if more := r.Failures - len(r.Problems); more > 0 {
			p.line("- %s failed in %d further ways", r.Check, more)
		}
		for _, n := range r.Notes {
			p.line("- %s: %s", r.Check, mdText(n))
		}
	}
}
