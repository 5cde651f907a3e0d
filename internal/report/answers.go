package report

import (
	"fmt"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/ui"
)

// worthReading is the least bound of a finding that stands open: what could not bring
// 5 % would rarely be told from noise in a session's time.
const worthReading = 1.05

// bigFindings are those that stand open, smallFindings those that are folded; of a
// finding without a bound (0) nothing says that it is small.
func bigFindings(all []diagnose.Finding) []diagnose.Finding   { return findingsOf(all, true) }
func smallFindings(all []diagnose.Finding) []diagnose.Finding { return findingsOf(all, false) }

func findingsOf(all []diagnose.Finding, big bool) []diagnose.Finding {
	var out []diagnose.Finding
	for _, f := range all {
		if big == (f.Bound == 0 || f.Bound >= worthReading) {
			out = append(out, f)
		}
	}
	return out
}

// answers are what a reader asks first, beside how much faster it is: how sure that is,
// what it costs, what to do next and how to take it back.
func answers(m *Model) []fact {
	one := func(name, text string) fact { return fact{Name: name, Parts: []part{{Text: text}}} }
	var out []fact
	if text := sureText(m); text != "" {
		out = append(out, one("How sure", text))
	}
	if len(m.Kept()) > 0 {
		given := unquoted(tradesMade(m))
		if given == "" {
			given = "nothing"
		}
		out = append(out, one("Given up for it", given))
	}
	out = append(out, one("Next", nextText(m)))
	undo := "nothing is kept, so there is nothing to undo"
	if len(m.Kept()) > 0 {
		undo = "`kasoku undo --all` puts everything back as found; `kasoku undo` with the number of a change puts back that one"
	}
	return append(out, one("Undo", undo))
}

// sureText says what the result rests on; "" where nothing was kept.
func sureText(m *Model) string {
	switch text := unquoted(comparedText(m.compared())); {
	case len(m.Kept()) == 0:
		return ""
	case text != "":
		return text
	}
	return ""
}

// nextText says what somebody who wants more should do.
func nextText(m *Model) string {
	var out []string
	switch m.Session.State {
	case "running":
		return "wait for the end, or stop it with Ctrl-C, which puts the step under way back"
	case "interrupted", "failed":
		out = append(out, "`kasoku tune` goes on where it ended")
	}
	if n := len(m.Work); n > 0 {
		out = append(out, fmt.Sprintf("%s in the source code that no setting can mend, the first: %s", plural(n, "thing to do", "things to do"), unquoted(m.Work[0].Title)))
	}
	if big := bigFindings(m.Findings); len(big) > 0 {
		text := unquoted(big[0].Title)
		if big[0].Bound > 1 {
			text += " (" + ui.Bound(big[0].Bound) + ")"
		}
		out = append(out, "the largest finding that is left: "+text)
	}
	if len(out) == 0 {
		return "nothing that is known could bring 5 % more; `kasoku run` measures it again after a change of load or code"
	}
	return strings.Join(out, "; ")
}

// unquoted is a text of the target without back quotes, which would make code of it
// beside commands that stand between them.
func unquoted(s string) string { return strings.ReplaceAll(s, "`", "'") }
