package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// page is a writer that remembers its first error, so that a page of text is
// written without a check after each line.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		// Answers' bodies and error texts come from the target.
		_, p.err = fmt.Fprintln(p.w, ui.Clean(change.Redact(fmt.Sprintf(format, args...))))
	}
}

func (p *page) table(head []string, rows [][]string) {
	if p.err == nil {
		change.RedactAll(&rows)
		p.err = ui.Table(p.w, head, rows)
	}
}

// Most rows of each table that a page of text shows; All shows every one.
const (
	Most = 10
	All  = 0
)

// told is a time that somebody measured; nothing takes none at all.
func told(d time.Duration) string {
	if d == 0 {
		return ui.Unknown
	}
	return ui.Duration(d)
}

// RunText prints a run as one page, or with limit All everything about it:
// score, what is not to be trusted, what binds, what to do, where the time
// goes, what the machine did. scored gives the score and what the machine
// used, full the rest; they may be the same run.
func RunText(w io.Writer, scored, full *store.Run, limit int) error {
	p := &page{w: w}
	l := scored.Evidence.Load
	p.line("run %d  %s  %s", scored.ID, scored.Label, scored.Started.Format(time.DateTime))
	users := fmt.Sprintf("   %d users", l.Workload)
	if l.UsersAssumed {
		users = ""
	}
	p.line("score %s %s   %s requests/s%s   %s", ui.Number(scored.Score), l.Unit(), ui.Number(l.RequestsPerSecond), users, l.Window)
	p.line("right %d   wrong %d   time-outs %d   errors %d   latency p50 %s  p95 %s  p99 %s  max %s",
		l.Succeeded, l.Mismatches, l.Timeouts, l.Errors, told(l.Latency.P50), told(l.Latency.P95), told(l.Latency.P99), told(l.Latency.Max))
	if text := warmupText(l); text != "" {
		p.line("%s", text)
	}
	if l.ScoreText != "" {
		p.line("goodput %s/s   Apdex %s   %s", ui.Number(l.Goodput), apdexText(l.Apdex), l.ScoreText)
	}
	if full.Diagnosis != nil {
		p.line("")
		p.line("Bottleneck: %s", full.Diagnosis.BindsText)
	}
	if scored != full {
		p.line("%s", besides(scored, full))
	}
	for _, s := range Sections(joined(scored, full), limit) {
		// What went well needs no lines on a page for a busy person.
		switch {
		case limit != All && s.ID == "health":
			p.line("\n%s covered the run: kasoku show %d --all", plural(len(s.Rows)+s.More, "further source", "further sources"), full.ID)
			continue
		case limit != All && s.ID == "counters":
			continue
		}
		p.section(s, full.ID, limit == All)
	}
	return p.err
}

// besides says which run tells what the scored one does not.
func besides(scored, full *store.Run) string {
	text := fmt.Sprintf("Run %d, right after it and with instruments, tells what single requests and statements do; its score is not used.", full.ID)
	if d := full.Diagnosis; d != nil && d.Reference == 0 {
		text += fmt.Sprintf(" The bottleneck is of that run, too, because run %d is no evidence.", scored.ID)
	}
	return text
}

// joined is the full run with what the scored one tells better: without
// instruments nothing but the load uses the machine.
func joined(scored, full *store.Run) *store.Run {
	if scored == full {
		return full
	}
	run, ev := *full, *full.Evidence
	ev.Load, ev.System, ev.Hosts, ev.Services = scored.Evidence.Load, scored.Evidence.System, scored.Evidence.Hosts, scored.Evidence.Services
	run.Unfit, run.Evidence = scored.Unfit, &ev
	return &run
}

// wholeFindings are printed with their text and evidence, further ones by a
// line: what could bring most comes first.
const wholeFindings = 12

// outlook says in sentences where the throughput curve bends, what binds after
// what, and which run the numbers are of.
func outlook(d *diagnose.Diagnosis) []string {
	var out []string
	if d.Knee != nil {
		out = append(out, fmt.Sprintf("knee: beyond %.1f users more only wait; at most %s/s. %s", d.Knee.Users, ui.Number(d.Knee.Throughput), d.Knee.Formula))
	}
	for i, n := range d.Next {
		if i == 3 {
			break
		}
		word := "then"
		if i == 0 {
			word = "first to be full"
		}
		out = append(out, fmt.Sprintf("%s: %s (%s)", word, n.Text, ui.Factor(n.Factor)))
	}
	if d.Reference != 0 {
		out = append(out, fmt.Sprintf("throughput, CPU and counters are of scored run %d, without instruments", d.Reference))
	} else {
		out = append(out, "throughput, CPU and counters are of the diagnosed run itself, with its instruments: no scored run right before it is fit as evidence")
	}
	return out
}

// DiagnosisText prints a run's diagnosis.
func DiagnosisText(w io.Writer, run *store.Run) error {
	p := &page{w: w}
	d := run.Diagnosis
	p.line("run %d: %s", run.ID, d.BindsText)
	var rows [][]string
	for _, r := range d.Demands {
		rows = append(rows, []string{r.Resource, fmt.Sprintf("%.1f %%", 100*r.Utilization), ui.Duration(time.Duration(r.PerRequest * 1e9)), ui.Number(r.MaxThroughput)})
	}
	for _, n := range software(d) {
		rows = append(rows, []string{n.Resource, fmt.Sprintf("%.1f %%", min(100, 100/n.Factor)), orDash(time.Duration(n.PerRequest * 1e9)), ui.Number(n.MaxThroughput)})
	}
	p.line("")
	p.table([]string{"resource", "in use", "per request", "at most req/s"}, rows)
	p.line("")
	for _, text := range outlook(d) {
		p.line("%s", text)
	}
	for i, f := range d.Findings[:min(len(d.Findings), wholeFindings)] {
		p.line("\n%d. %s (%s)", i+1, f.Title, promise(f))
		p.line("   %s", f.Text)
		p.line("   bound: %s", f.Formula)
		if why := Unplanned(f); why != "" {
			p.line("   %s", why)
		}
		if f.Source != "" {
			p.line("   at %s", f.Source)
		}
		for j, e := range f.Evidence {
			if j == 5 {
				p.line("   … %d more", len(f.Evidence)-j)
				break
			}
			p.line("   - %s", shorten(e, 160))
		}
	}
	p.furtherFindings(d.Findings)
	if len(d.NotJudged) > 0 {
		p.line("")
	}
	for _, n := range d.NotJudged {
		p.line("not judged: %s: %s", n.Rule, n.Why)
	}
	return p.err
}

// Unplanned says why Kasoku plans nothing for a finding; "" if it does, or has nothing
// that answers it.
func Unplanned(f diagnose.Finding) string {
	if f.Unplanned == "" {
		return ""
	}
	return "Nothing is planned for it: " + strings.TrimSuffix(f.Unplanned, ".") + "."
}

// furtherFindings prints a line for each finding that is not printed whole, or
// one for several in a row with the same title.
func (p *page) furtherFindings(all []diagnose.Finding) {
	for i := wholeFindings; i < len(all); {
		if i == wholeFindings {
			p.line("")
		}
		f, last := all[i], i
		for last+1 < len(all) && all[last+1].Title == f.Title && all[last+1].Rule == f.Rule {
			last++
		}
		number := fmt.Sprint(i + 1)
		if last > i {
			number += fmt.Sprintf("–%d", last+1)
		}
		p.line("%s. %s (%s) [%s]", number, f.Title, promise(f), f.Rule)
		i = last + 1
	}
}

// promise is what a finding is expected to bring, where that is known, and its bound.
func promise(f diagnose.Finding) string {
	if f.Expected <= 0 {
		return ui.Bound(f.Bound)
	}
	return "expected: about " + ui.Factor(f.Expected) + ", " + ui.Bound(f.Bound)
}

// StepText prints one experiment.
func StepText(w io.Writer, st *store.Step) error {
	p := &page{w: w}
	v := st.Verdict
	p.line("%s", strings.TrimRight(fmt.Sprintf("%s: %s %s", st.Plan.Title, v.Words(), Effect(v)), " "))
	p.line("%s", v.Reason)
	if v.Pairs > 0 {
		p.line("scores: baseline %s, candidate %s; %d pairs, %d runs, %s%s", ui.Number(v.BaselineScore), ui.Number(v.CandidateScore), v.Pairs, v.Runs, v.Took.Round(time.Second), switching(v))
	}
	for _, text := range Shifts(v) {
		p.line("also changed: %s", text)
	}
	for _, warn := range v.Warnings {
		p.line("note: %s", warn.Text)
	}
	if st.Kept {
		p.line("kept (kasoku undo %d)", st.Tx)
	} else {
		p.line("put back")
	}
	for _, d := range st.Diffs {
		p.line("%s", strings.TrimRight(d.Text, "\n"))
	}
	return p.err
}

// Effect prints a verdict's effect with its 95 % interval.
func Effect(v experiment.Verdict) string {
	if v.Pairs == 0 {
		return ""
	}
	if !hasInterval(v) {
		if v.Effect == 0 { // it failed before there was one
			return ""
		}
		return ui.Percent(v.Effect)
	}
	return fmt.Sprintf("%s (%s … %s)", ui.Percent(v.Effect), ui.Percent(v.Low), ui.Percent(v.High))
}

// apdexText of an index; runs of older versions have none.
func apdexText(a *float64) string {
	if a == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *a)
}

// apdexOf a route, with its T as the specification wants.
func apdexOf(r load.RouteResult) string {
	if r.Apdex == nil {
		return "–"
	}
	return fmt.Sprintf("%s [%s]", apdexText(r.Apdex), ui.Duration(r.ApdexT))
}

func share(part, of float64) string {
	if of <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*part/of)
}

func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
