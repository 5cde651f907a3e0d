package web

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// BenchmarkPublish is what a moment costs who measures, with five viewers that
// do not keep up: a copy and a look at each.
func BenchmarkPublish(b *testing.B) {
	h := NewHub()
	for range 5 {
		h.join()
	}
	l := during(1, 2)
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(l)
	}
}

// BenchmarkShow is what an event costs to make, once for all viewers.
func BenchmarkShow(b *testing.B) {
	l := during(1, 3)
	said := []tune.Said{*l.Said}
	b.ReportAllocs()
	for b.Loop() {
		show(l, said, l.Started)
	}
}

// slowestPage is the bar of BenchmarkPages: what people take as at once.
const slowestPage = 200 * time.Millisecond

// BenchmarkPages answers every page from a store of 10,000 runs with evidence,
// and fails if one takes longer than slowestPage; KASOKU_BENCH_RUNS is another
// number.
func BenchmarkPages(b *testing.B) {
	n := 10_000
	if v := os.Getenv("KASOKU_BENCH_RUNS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			b.Fatal(err)
		}
	}
	p := newSample(b)
	must(b, p.fill(n))
	web := serve(b, p, nil)
	for _, path := range p.paths() {
		b.Run(strings.ReplaceAll(path, "/", "|"), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				from := time.Now()
				if status, page := web.get(path); status != 200 {
					b.Fatalf("%d %s", status, page)
				}
				took = append(took, time.Since(from))
			}
			slices.Sort(took)
			worst := took[len(took)-1]
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
			if worst > slowestPage {
				b.Errorf("%s took %s, more than %s", path, worst, slowestPage)
			}
		})
	}
}

// fill adds n runs, in sessions of 200, with the evidence of a real one.
func (p *sample) fill(n int) error {
	like, err := p.store.Run(p.after)
	if err != nil {
		return err
	}
	var s *store.Session
	for i := range n {
		if i%200 == 0 {
			s = &store.Session{Command: "tune", Stack: "bookshop", Started: begun.Add(-time.Duration(n-i) * time.Minute), State: "done", AsFound: 100, Final: 200}
			if err := p.store.SaveSession(s); err != nil {
				return err
			}
		}
		r := *like
		r.ID, r.Session, r.Step, r.Kind, r.Side, r.Score = 0, s.ID, int64(i/20+100), store.Scored, "", 100+float64(i%7)
		r.Started = begun.Add(-time.Duration(n-i) * time.Minute)
		if err := p.store.SaveRun(&r); err != nil {
			return err
		}
	}
	return nil
}
