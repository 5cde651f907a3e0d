package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"kasoku/bench/load/peer"
	"kasoku/bench/load/ratio"
	"kasoku/bench/load/target"
)

// issueMicros is the CPU per request of wrk2 at 5,000 requests/s that the issue
// names, in µs. No registry has wrk2, and another machine's microseconds are no
// bar for this one's, so the figure is only shown beside it.
const issueMicros = 20

// rateRounds is how much longer a run of part b lasts: at 5,000 requests/s a
// program's start is a larger part of what a second costs.
const rateRounds = 3

// rateTolerance is how far from the rate a tool may be to be compared at all:
// one that sends less saves CPU by it.
const rateTolerance = 0.02

// fixedRate is part b: CPU per request where the rate is given.
func (b *bench) fixedRate(ctx context.Context) error {
	job := peer.Job{URL: b.nginx.URL(target.Page), Users: b.users, Duration: rateRounds * b.duration, Rate: b.rate}
	var entries []entry
	for _, t := range b.tools {
		if !t.Open {
			continue
		}
		j := job
		if t.Name == "kasoku" {
			j.Check = pageCheck()
		}
		entries = append(entries, entry{t.Name, t, j})
	}
	all, err := b.rounds(ctx, "b", entries)
	if err != nil {
		return err
	}
	b.printRates(entries, all)

	own := all.values("kasoku", (*sample).cpu)
	best := b.cheapest(all)
	why := b.why(all, "kasoku", "kasoku")
	if best == "" && ratio.Of(own).N > 0 {
		why = "no other tool kept the rate"
	}
	b.figures.judge("b", "CPU per request ÷ that of the cheapest other"+named(best), cheaper, ratio.Pairs(own, all.values(best, (*sample).cpu)), 3, true, why)
	b.figures.add("b", fmt.Sprintf("CPU µs/request (the issue says %d of wrk2, elsewhere)", issueMicros), "", ratio.Of(own).Text(1), "", false)
	for _, t := range b.tools {
		if t.Open && t.Name != "kasoku" && t.Name != best {
			b.figures.add("b", "CPU per request ÷ "+t.Name+"'s", "", ratio.Pairs(own, all.values(t.Name, (*sample).cpu)).Text(3), "", false)
		}
	}
	reached := b.reached(all, "kasoku")
	b.figures.judge("b", "rate reached ÷ rate asked for", bar{value: 1 - rateTolerance, least: true}, reached, 3, true, b.why(all, "kasoku", "kasoku"))
	b.addInside("b", all)
	b.figures.add("b", "lateness p99; most, median of the rounds", "", all.lateness("kasoku"), "", false)
	b.judgeAnswers("b", all)
	return nil
}

// addInside adds what Kasoku's window alone costs: a tool's CPU time holds its
// start, which in a run of a second is a larger part than in use.
func (b *bench) addInside(part string, all series) {
	inside := ratio.Of(all.values("kasoku", func(s *sample) float64 {
		return float64(s.Report.WindowCPU) / float64(time.Microsecond) / float64(s.Report.Requests)
	}))
	b.figures.add(part, "CPU µs/request without start-up and end, by its own count", "", inside.Text(2), "", false)
}

// reached is a tool's rate, of that asked for.
func (b *bench) reached(all series, label string) ratio.Summary {
	return ratio.Of(all.values(label, func(s *sample) float64 { return s.rate() / float64(b.rate) }))
}

// cheapest is the other tool with the lowest median of CPU per request among
// those that keep the rate; "" if there is none.
func (b *bench) cheapest(all series) string {
	best, least := "", 0.0
	for _, t := range b.tools {
		if !t.Open || t.Name == "kasoku" {
			continue
		}
		r, cpu := b.reached(all, t.Name), all.summary(t.Name, (*sample).cpu)
		if r.N > 0 && r.Median >= 1-rateTolerance && (best == "" || cpu.Median < least) {
			best, least = t.Name, cpu.Median
		}
	}
	return best
}

func named(tool string) string {
	if tool == "" {
		return ""
	}
	return " (" + tool + ")"
}

func (b *bench) printRates(entries []entry, all series) {
	fmt.Fprintf(b.stdout, "\nb) %d requests/s, %d bytes, runs of %s; %s; kasoku and oha count latency from the planned time\n",
		b.rate, target.PageSize, rateRounds*b.duration, legend)
	rows := [][]string{{"tool", "requests/s", "CPU µs/request", "kasoku's ÷ its", "latency p99, µs", "lateness p99; most", "notes"}}
	own := all.values("kasoku", (*sample).cpu)
	for _, e := range entries {
		rows = append(rows, []string{e.label, all.summary(e.label, (*sample).rate).Text(0), all.summary(e.label, (*sample).cpu).Text(1),
			ratio.Pairs(own, all.values(e.label, (*sample).cpu)).Text(3),
			all.summary(e.label, func(s *sample) float64 {
				if s.Report.P99 == 0 {
					return math.NaN() // it does not tell
				}
				return float64(s.Report.P99) / float64(time.Microsecond)
			}).Text(0),
			all.lateness(e.label), all.notes(e.label)})
	}
	printTable(b.stdout, rows)
}

// lateness is the median over the rounds of its p99 and maximum; "not told"
// by tools that do not say.
func (s series) lateness(label string) string {
	late := func(figure func(*sample) time.Duration) (time.Duration, bool) {
		m := s.summary(label, func(x *sample) float64 { return float64(figure(x)) })
		return time.Duration(m.Median).Round(time.Microsecond), m.N > 0 && m.Max > 0
	}
	p99, known := late(func(x *sample) time.Duration { return x.Report.Lateness99 })
	most, also := late(func(x *sample) time.Duration { return x.Report.LatenessMax })
	if !known && !also {
		return "not told"
	}
	return fmt.Sprintf("%s; %s", p99, most)
}
