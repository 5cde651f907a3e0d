package main

import (
	"context"
	"fmt"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/ratio"
	"kasoku/bench/load/target"
)

// wrkBar is the most CPU per request that Kasoku may use, of wrk's.
const wrkBar = 0.85

// wrkLabels are wrk with one and with two threads.
var wrkLabels = [2]string{"wrk -t1", "wrk -t2"}

// wrkEntries are wrk with one and with two threads; none if it is missing.
func (b *bench) wrkEntries(job peer.Job) []entry {
	t := b.tool("wrk")
	if t == nil {
		return nil
	}
	var out []entry
	for i, label := range wrkLabels {
		job.Threads = i + 1
		out = append(out, entry{label, t, job})
	}
	return out
}

// pageCheck is what Kasoku verifies of the 1 KB file.
func pageCheck() *peer.Check {
	return &peer.Check{Status: 200, Size: target.PageSize, Contains: target.Marker}
}

// contest is one of the parts that compare CPU per request in the closed model.
type contest struct {
	part, title string
	job         peer.Job
	check       peer.Check
	takes       func(*peer.Tool) bool // besides wrk
	wrk         bool
	// most CPU per request, of wrk's and of another tool's; nil: no bar, the
	// ratio is only shown.
	bar   *bar
	other func(*peer.Tool) *bar
}

// cheaper is the bar of most tools: less CPU than they take.
var cheaper = bar{value: 1, below: true}

// closedModel is part a: CPU per request on a 1 KB file. Kasoku checks status,
// length and content; the others do what they do by themselves.
func (b *bench) closedModel(ctx context.Context) error {
	return b.contest(ctx, contest{part: "a", title: fmt.Sprintf("%d bytes", target.PageSize), job: peer.Job{URL: b.nginx.URL(target.Page)},
		check: *pageCheck(), takes: func(t *peer.Tool) bool { return true }, wrk: true, bar: &bar{value: wrkBar}, other: barOf})
}

// barOf is the bar of part a for a tool beside wrk. h2load, which came later,
// has none.
func barOf(t *peer.Tool) *bar {
	if t.Name == "h2load" {
		return nil
	}
	return &cheaper
}

// post is part post: a JSON body there, a JSON answer back.
func (b *bench) post(ctx context.Context) error {
	return b.contest(ctx, contest{part: "post", title: fmt.Sprintf("POST of %d bytes of JSON, answered by %d", len(target.Body), len(target.Answer)),
		job:   peer.Job{URL: b.nginx.URL(target.Post), Post: target.Body},
		check: peer.Check{Status: 200, Size: len(target.Answer), Contains: target.Marker},
		takes: func(t *peer.Tool) bool { return !t.Far }, wrk: true, bar: &cheaper, other: barOf})
}

// tls is part tls. Kasoku's engine is another there (docs/adr/0006), made to be
// right and not to be cheap, so there is no bar.
func (b *bench) tls(ctx context.Context) error {
	return b.contest(ctx, contest{part: "tls", title: fmt.Sprintf("%d bytes by TLS", target.PageSize), job: peer.Job{URL: b.nginx.TLS(target.Page)},
		check: *pageCheck(), takes: func(t *peer.Tool) bool { return !t.Far }, wrk: true})
}

// http2 is part h2; as tls.
func (b *bench) http2(ctx context.Context) error {
	return b.contest(ctx, contest{part: "h2", title: fmt.Sprintf("%d bytes by HTTP/2 over TLS, one stream at a time", target.PageSize),
		job: peer.Job{URL: b.nginx.HTTP2(target.Page), HTTP2: true}, check: *pageCheck(), takes: func(t *peer.Tool) bool { return t.HTTP2 }})
}

// contest runs one.
func (b *bench) contest(ctx context.Context, c contest) error {
	job := c.job
	job.Users, job.Duration = b.users, b.duration
	checked := job
	checked.Check = &c.check
	entries := []entry{{"kasoku", b.tool("kasoku"), checked}}
	if c.wrk {
		entries = append(entries, b.wrkEntries(job)...)
	}
	others := func(t *peer.Tool) bool { return t.Closed && t.Name != "wrk" && t.Name != "kasoku" && c.takes(t) }
	for _, t := range b.tools {
		if others(t) {
			entries = append(entries, entry{t.Name, t, job})
		}
	}
	all, err := b.rounds(ctx, c.part, entries)
	if err != nil {
		return err
	}
	own := all.values("kasoku", (*sample).cpu)
	fmt.Fprintf(b.stdout, "\n%s) %d connections, closed, %s; %s\n", c.part, b.users, c.title, legend)
	rows := [][]string{{"tool", "requests/s", "CPU µs/request", "kasoku's ÷ its", "notes"}}
	for _, e := range entries {
		rows = append(rows, []string{e.label, all.summary(e.label, (*sample).rate).Text(0), all.summary(e.label, (*sample).cpu).Text(2),
			ratio.Pairs(own, all.values(e.label, (*sample).cpu)).Text(3), all.notes(e.label)})
	}
	printTable(b.stdout, rows)
	b.judgeContest(c, all, others)
	return nil
}

// legend says what a table's figures are.
const legend = "median [95 % interval] or (range) of the rounds"

// judgeContest adds its figures.
func (b *bench) judgeContest(c contest, all series, others func(*peer.Tool) bool) {
	own := all.values("kasoku", (*sample).cpu)
	judge := func(name string, limit *bar, peers []float64, required bool, why string) {
		s := ratio.Pairs(own, peers)
		if limit == nil {
			if s.N > 0 {
				b.figures.add(c.part, name, "", s.Text(3), "", false)
			}
			return
		}
		b.figures.judge(c.part, name, *limit, s, 3, required, why)
	}
	if c.wrk {
		judge("CPU per request ÷ wrk's (the cheaper of -t1, -t2)", c.bar,
			ratio.Lower(all.values(wrkLabels[0], (*sample).cpu), all.values(wrkLabels[1], (*sample).cpu)), true, b.why(all, "wrk", wrkLabels[0]))
	}
	for _, t := range peer.Tools(b.kasoku) {
		if !others(t) {
			continue
		}
		var limit *bar
		if c.other != nil {
			limit = c.other(t)
		}
		judge("CPU per request ÷ "+t.Name+"'s", limit, all.values(t.Name, (*sample).cpu), t.Required, b.why(all, t.Name, t.Name))
	}
	b.addInside(c.part, all)
	b.judgeAnswers(c.part, all)
}

// noQuietRound: the tools are there, but others disturbed each of their rounds.
const noQuietRound = "no round has both undisturbed"

// why says why there is no ratio to a tool.
func (b *bench) why(all series, tool, label string) string {
	switch {
	case all.broken("kasoku") != "":
		return "kasoku failed: " + brief(all.broken("kasoku"))
	case b.missing[tool]:
		return tool + " is not installed"
	case all.broken(label) != "":
		return tool + " failed: " + brief(all.broken(label))
	}
	return noQuietRound
}

// brief cuts a text to what fits into a table.
func brief(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// judgeAnswers holds against Kasoku every wrong answer, and every run that
// failed or whose count nginx does not confirm.
func (b *bench) judgeAnswers(part string, all series) {
	var requests int64
	s := met
	for _, x := range all["kasoku"] {
		requests += x.Report.Requests
		if x.Err != "" || x.Report.Failed > 0 || x.miscounted() {
			s = short
		}
	}
	text := fmt.Sprintf("%d right", requests)
	if n := all.notes("kasoku"); s == short {
		text = n
	}
	b.figures.add(part, "all answers right, as many as nginx counts", "0 wrong", text, s, true)
}

// peakRate is part c: as many requests of a tiny file as possible.
func (b *bench) peakRate(ctx context.Context) error {
	job := peer.Job{URL: b.nginx.URL(target.Tiny), Users: b.users, Duration: b.duration}
	entries := append([]entry{{"kasoku", b.tool("kasoku"), job}}, b.wrkEntries(job)...)
	all, err := b.rounds(ctx, "c", entries)
	if err != nil {
		return err
	}
	wrk := ratio.Higher(all.values(wrkLabels[0], (*sample).rate), all.values(wrkLabels[1], (*sample).rate))
	fmt.Fprintf(b.stdout, "\nc) peak rate, %d connections, %d bytes; %s\n", b.users, target.TinySize, legend)
	rows := [][]string{{"tool", "requests/s", "÷ wrk's", "CPU µs/request", "notes"}}
	for _, e := range entries {
		rows = append(rows, []string{e.label, all.summary(e.label, (*sample).rate).Text(0), ratio.Pairs(all.values(e.label, (*sample).rate), wrk).Text(3),
			all.summary(e.label, (*sample).cpu).Text(2), all.notes(e.label)})
	}
	printTable(b.stdout, rows)
	b.figures.judge("c", "requests/s ÷ wrk's (the faster of -t1, -t2)", bar{value: 1, least: true},
		ratio.Pairs(all.values("kasoku", (*sample).rate), wrk), 3, true, b.why(all, "wrk", wrkLabels[0]))
	b.judgeAnswers("c", all)
	return nil
}
