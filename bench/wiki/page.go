package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/prove"
	"kasoku/internal/ui"
)

// page is docs/measured/wiki.md.
func page(r *Result, figures []figure) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# The wiki, tuned\n\nFor whoever wants to know what Kasoku reached on a real MediaWiki.\n")
	line("Written by `make case-wiki BUDGET=%.0fm ARGS=\"-write docs/measured/wiki.md\"` on %s; content: %s (%d pages, %d revisions, %d of one page). "+
		"Four disposable hosts on one machine (%s) with [the wiki](../../cases/wiki/README.md) as found on the first; `kasoku tune --budget %s`, unattended; "+
		"all steps took %s, bringing the hosts up %s before that. Tree: %s.\n",
		r.Budget.Minutes(), r.Started.UTC().Format("2006-01-02"), r.Size, r.Content.Pages, r.Content.Revisions, r.Content.Longest, r.Machine, ui.Duration(r.Budget), r.Took.Round(time.Second), r.UpTook.Round(time.Second), cmp.Or(r.Tree, "unknown"))
	line("| figure | measured | bar | |\n|---|---|---|---|")
	for _, f := range figures {
		word := ""
		if f.Bar != "" {
			word = map[bool]string{true: "short", false: "ok"}[f.Short]
		}
		line("| %s | %s | %s | %s |", cell(f.Name), cell(f.Value), cell(f.Bar), word)
	}
	writeTimes(&b, r)
	writeSession(&b, r.Session)
	writeChecks(&b, r.Checks)
	writeHosts(&b, r)
	return b.String()
}

// writeTimes compares each address before and after.
func writeTimes(b *strings.Builder, r *Result) {
	if r.Found == nil || r.Tuned == nil {
		return
	}
	fmt.Fprintf(b, "\n## Addresses\n\nMean response time within the scenario (4 users), %d runs before and %d after. The score is the number of rounds of 14 addresses a minute; the main page alone was asked for by %d readers without cookies at a time.\n\n| address | as found | tuned | factor |\n|---|---|---|---|\n",
		len(r.Found.Scores), len(r.Tuned.Scores), mainPageUsers)
	row := func(name string, was, is time.Duration) {
		if was > 0 && is > 0 {
			fmt.Fprintf(b, "| %s | %s | %s | ×%.1f |\n", cell(name), ui.Duration(was), ui.Duration(is), float64(was)/float64(is))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Found.Routes)) {
		row(name, r.Found.Routes[name], r.Tuned.Routes[name])
	}
	row("main page alone", r.Found.MainPageMean, r.Tuned.MainPageMean)
}

func writeSession(b *strings.Builder, s *Session) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "\n## What Kasoku did\n\nIt ended because %s\n\n| step | verdict | effect | took |\n|---|---|---|---|\n", sentence(s.Stopped))
	for _, x := range s.Steps {
		verdict, effect := x.Outcome, "–"
		if x.Kept {
			verdict = "kept"
		}
		if x.Low != 0 || x.High != 0 {
			effect = fmt.Sprintf("%s (%s to %s)", ui.Percent(x.Effect), ui.Percent(x.Low), ui.Percent(x.High))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(x.Title), verdict, effect, x.Took.Round(time.Second))
	}
	fmt.Fprintf(b, "\nWhat binds at the end: %s\n", sentence(s.Binds))
	if len(s.Findings) > 0 {
		fmt.Fprint(b, "\nWhat is left, best first:\n\n")
	}
	for i, f := range s.Findings {
		if i == mostFindings {
			fmt.Fprintf(b, "- and %d more\n", len(s.Findings)-i)
			break
		}
		fmt.Fprintf(b, "- %s (%s)\n", f.Title, ui.Bound(f.Bound))
	}
	if len(s.Refusals) > 0 {
		fmt.Fprint(b, "\nNot planned:\n\n")
	}
	for _, text := range s.Refusals {
		fmt.Fprintf(b, "- %s\n", text)
	}
}

// mostFindings are listed.
const mostFindings = 12

func writeChecks(b *strings.Builder, checks []prove.Result) {
	if checks == nil {
		return
	}
	fmt.Fprint(b, "\n## Regulation checks\n\n`kasoku prove`, on what was left ([what they are](../reference/checks.md)):\n\n| check | outcome | seen |\n|---|---|---|\n")
	for _, c := range checks {
		fmt.Fprintf(b, "| %s | %s | %s |\n", c.Check, c.Outcome, cell(c.Text))
	}
	lead := "\n"
	for _, c := range checks {
		for _, p := range c.Problems {
			fmt.Fprintf(b, "%s- %s: %s", lead, c.Check, p.What)
			if lead = ""; p.By != "" {
				fmt.Fprintf(b, " (%s)", p.By)
			}
			fmt.Fprintln(b)
		}
	}
}

func writeHosts(b *strings.Builder, r *Result) {
	fmt.Fprint(b, "\n## One host against four\n")
	if s := r.Session; s != nil && len(s.Hosts) > 0 {
		fmt.Fprint(b, "\nWhat Kasoku says of hosts at the end:\n\n")
		for _, text := range s.Hosts {
			fmt.Fprintf(b, "- %s\n", text)
		}
	}
	if r.Levels == nil {
		return
	}
	fmt.Fprintf(b, "\nMeasured: the tuned PHP and MediaWiki on one to four hosts behind a balancer (Apache with mod_proxy_balancer on the first), the database on the first, readers of pages (no files, no edits), %d users for each host, windows of %s, up to four hosts and down again, more than once. "+
		"Hosts of one machine share its CPUs, so each may use %g of one here; without a cap a further one brings nothing.\n\n| hosts | right answers per second | p95 | wrong |\n|---|---|---|---|\n",
		usersPerHost, r.Window, r.CPUs)
	for _, l := range r.Levels {
		name := fmt.Sprint(l.Hosts)
		if l.Hosts == 0 {
			name = "1, no balancer"
		}
		fmt.Fprintf(b, "| %s | %.2f | %s | %d |\n", name, l.PerSecond, ui.Duration(l.P95), l.Wrong)
	}
	k := r.Capacity
	if k == nil || k.Foretold == nil || k.Foretold.Law == nil {
		return
	}
	law := k.Foretold.Law
	text, _ := foretold(r, k.Foretold)
	fmt.Fprintf(b, "\n`kasoku capacity` from one to three hosts: λ = %.3g/s, σ = %.3g, κ = %.3g. Asked for %.2f/s, which is %.0f %% more than three carry: %s.\n",
		law.Lambda, law.Sigma, law.Kappa, k.Rate, 100*(beyond-1), text)
	for _, w := range k.Foretold.Warnings {
		fmt.Fprintf(b, "\n- it warns: %s", w)
	}
	fmt.Fprintln(b)
}

// cell keeps a table's cell on one line.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}

// sentence ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return "nothing was told."
	}
	return strings.TrimSuffix(text, ".") + "."
}
