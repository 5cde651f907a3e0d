package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

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
		_, p.err = fmt.Fprintln(p.w, ui.Clean(fmt.Sprintf(format, args...)))
	}
}

func (p *page) table(head []string, rows [][]string) {
	if p.err == nil {
		p.err = ui.Table(p.w, head, rows)
	}
}

// most is how many routes, statements and findings a page of text shows.
const most = 8

// RunText prints a run as one page: score, slowest routes, top statements,
// what each service used, what binds. scored gives the score, full the
// statements and the diagnosis; they may be the same run.
func RunText(w io.Writer, scored, full *store.Run) error {
	p := &page{w: w}
	l := scored.Evidence.Load
	p.line("run %d  %s  %s", scored.ID, scored.Label, scored.Started.Format(time.DateTime))
	p.line("score %s points/s   %s requests/s   %d users   %s", ui.Number(scored.Score), ui.Number(l.RequestsPerSecond), l.Workload, l.Window)
	p.line("right %d   wrong %d   time-outs %d   errors %d   latency p50 %s  p95 %s  p99 %s  max %s",
		l.Succeeded, l.Mismatches, l.Timeouts, l.Errors, ui.Duration(l.Latency.P50), ui.Duration(l.Latency.P95), ui.Duration(l.Latency.P99), ui.Duration(l.Latency.Max))
	if l.ScoreText != "" {
		p.line("goodput %s/s   Apdex %s   %s", ui.Number(l.Goodput), apdexText(l.Apdex), l.ScoreText)
	}
	if scored.Unfit != "" {
		p.line("This run is no evidence: %s", scored.Unfit)
	}
	p.routes(scored)
	p.statements(full)
	p.services(scored)
	p.mismatches(scored)
	for _, h := range full.Evidence.Health {
		if !h.OK {
			p.line("not covered: %s: %s", h.Source, h.Text)
		}
	}
	if full.Diagnosis != nil {
		p.line("")
		p.line("Binds: %s", full.Diagnosis.BindsText)
	}
	return p.err
}

func (p *page) routes(run *store.Run) {
	l := run.Evidence.Load
	var all time.Duration
	for _, r := range l.Routes {
		all += r.Total
	}
	var rows [][]string
	for i, r := range l.Routes {
		if i == most {
			break
		}
		rows = append(rows, []string{r.Route, fmt.Sprint(r.Requests), fmt.Sprint(r.Failed), share(r.Total.Seconds(), all.Seconds()),
			ui.Duration(r.Latency.P50), ui.Duration(r.Latency.P99), apdexOf(r)})
	}
	p.line("")
	p.table([]string{"route", "requests", "failed", "of time", "p50", "p99", "Apdex [T]"}, rows)
}

func (p *page) statements(run *store.Run) {
	ss := run.Evidence.Statements
	if len(ss) == 0 {
		return
	}
	var all time.Duration
	for _, s := range ss {
		all += s.Total
	}
	var rows [][]string
	for i, s := range ss {
		if i == most {
			break
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), fmt.Sprint(s.Count), share(s.Total.Seconds(), all.Seconds()),
			ui.Duration(s.Total / time.Duration(max(s.Count, 1))), fmt.Sprint(s.RowsExamined / max(s.Count, 1)), shorten(s.Fingerprint, 90)})
	}
	p.line("")
	p.table([]string{"#", "times", "of time", "mean", "rows read", "statement"}, rows)
}

func (p *page) services(run *store.Run) {
	ev := run.Evidence
	total := float64(ev.System.CPUs) * ev.Load.Window.Seconds()
	names := make([]string, 0, len(ev.Services))
	for n := range ev.Services {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return ev.Services[names[i]].CPU > ev.Services[names[j]].CPU })
	var rows [][]string
	for _, n := range names {
		u := ev.Services[n]
		rows = append(rows, []string{n, share(u.CPU, total), fmt.Sprint(u.Processes), fmt.Sprintf("%d MiB", u.RSS>>20)})
	}
	rows = append(rows, []string{"(generator)", share(ev.System.GeneratorCPU, total), "", ""},
		[]string{"(others)", share(ev.System.ForeignCPU, total), "", ""},
		[]string{"(idle)", share(ev.System.Idle+ev.System.IOWait, total), "", ""})
	p.line("")
	p.table([]string{"service", "of CPU", "processes", "memory"}, rows)
}

func (p *page) mismatches(run *store.Run) {
	for i, m := range run.Evidence.Load.Samples {
		if i == 3 {
			p.line("… %d more samples: kasoku show %d --json", len(run.Evidence.Load.Samples)-i, run.ID)
			return
		}
		p.line("wrong: %s: expected %s, got %s", m.Request, m.Expected, m.Got)
	}
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
	p.line("")
	p.table([]string{"resource", "in use", "per request", "at most req/s"}, rows)
	for i, f := range d.Findings {
		p.line("\n%d. %s (at most ×%.3g) [%s; %s]", i+1, f.Title, f.Bound, f.Rule, strings.Join(f.Measures, " "))
		p.line("   %s", f.Text)
		p.line("   bound: %s", f.Formula)
		for j, e := range f.Evidence {
			if j == 5 {
				p.line("   … %d more", len(f.Evidence)-j)
				break
			}
			p.line("   - %s", shorten(e, 160))
		}
	}
	if len(d.NotJudged) > 0 {
		p.line("")
	}
	for _, n := range d.NotJudged {
		p.line("not judged: %s: %s", n.Rule, n.Why)
	}
	return p.err
}

// StepText prints one experiment.
func StepText(w io.Writer, st *store.Step) error {
	p := &page{w: w}
	v := st.Verdict
	p.line("%s: %s %s", st.Plan.Title, v.Outcome, Effect(v))
	p.line("%s", v.Reason)
	if v.Pairs > 0 {
		p.line("baseline %s, candidate %s points/s; %d pairs, %d runs, %s", ui.Number(v.BaselineScore), ui.Number(v.CandidateScore), v.Pairs, v.Runs, v.Took.Round(time.Second))
	}
	for _, warn := range v.Warnings {
		p.line("note: %s", warn)
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
	if v.Pairs == 1 {
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
