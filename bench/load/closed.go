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

// closedModel is part a: CPU per request on a 1 KB file. Kasoku checks status,
// length and content; the others do what they do by themselves.
func (b *bench) closedModel(ctx context.Context) error {
	job := peer.Job{URL: b.nginx.URL(target.Page), Users: b.users, Duration: b.duration}
	checked := job
	checked.Check = &peer.Check{Status: 200, Size: target.PageSize, Contains: target.Marker}
	entries := append([]entry{{"kasoku", b.tool("kasoku"), checked}}, b.wrkEntries(job)...)
	for _, t := range b.tools {
		if t.Closed && t.Name != "wrk" && t.Name != "kasoku" {
			entries = append(entries, entry{t.Name, t, job})
		}
	}
	all, err := b.rounds(ctx, "a", entries)
	if err != nil {
		return err
	}
	wrk := ratio.Lower(all.values(wrkLabels[0], (*sample).cpu), all.values(wrkLabels[1], (*sample).cpu))
	fmt.Fprintf(b.stdout, "\na) %d connections, closed, %d bytes; median (range) of the rounds\n", b.users, target.PageSize)
	rows := [][]string{{"tool", "requests/s", "CPU µs/request", "÷ wrk's", "notes"}}
	for _, e := range entries {
		rows = append(rows, []string{e.label, all.summary(e.label, (*sample).rate).Text(0), all.summary(e.label, (*sample).cpu).Text(2),
			ratio.Pairs(all.values(e.label, (*sample).cpu), wrk).Text(3), all.notes(e.label)})
	}
	printTable(b.stdout, rows)

	own := all.values("kasoku", (*sample).cpu)
	b.figures.judge("a", "CPU per request ÷ wrk's (the cheaper of -t1, -t2)", bar{value: wrkBar}, ratio.Pairs(own, wrk), 3, true, b.why(all, "wrk", wrkLabels[0]))
	for _, t := range peer.Tools(b.kasoku) {
		if t.Closed && t.Name != "wrk" && t.Name != "kasoku" {
			b.figures.judge("a", "CPU per request ÷ "+t.Name+"'s", bar{value: 1, below: true},
				ratio.Pairs(own, all.values(t.Name, (*sample).cpu)), 3, t.Required, b.why(all, t.Name, t.Name))
		}
	}
	b.judgeAnswers("a", all)
	return nil
}

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
	return "no round has both"
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
	fmt.Fprintf(b.stdout, "\nc) peak rate, %d connections, %d bytes; median (range) of the rounds\n", b.users, target.TinySize)
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
