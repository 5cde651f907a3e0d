package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// figures of a set of indexes.
type figures struct {
	set   []index
	rows  float64   // read by the workload, with entryRows for each entry written
	reads []float64 // by statement, for one execution
	bytes int64
}

// verdict of one seed.
type verdict struct {
	s                   *schema
	k                   *kept
	none, best, advised figures
	why                 []string
}

const (
	// within the best: rows read, and index bytes.
	within = 1.2
	// slackRows of each execution: a descent more or less.
	slackRows = 10.0
	// worseRows and worseShare: a statement reads more than without, beyond what two
	// ways of reading differ by.
	worseRows, worseShare = 50, 1.1
)

// judge one seed; start gives the server, which is not needed where all was measured.
func (c settings) judge(ctx context.Context, seed int64, start func() (*server, error)) (*verdict, error) {
	s, folder := draw(seed), c.folder
	k, err := readKept(folder, s, c.descent)
	if err != nil {
		return nil, err
	}
	var l *lab
	open := func() error {
		if l != nil {
			return nil
		}
		srv, err := start()
		if err == nil {
			l, err = load(ctx, srv, s, c.descent)
		}
		return err
	}
	defer func() {
		if l != nil {
			l.drop(context.WithoutCancel(ctx))
		}
	}()
	if !k.Searched {
		if err := open(); err != nil {
			return nil, err
		}
		if err := k.search(ctx, l); err != nil {
			return nil, err
		}
		if err := k.write(folder, seed); err != nil {
			return nil, err
		}
	}
	if k.Observed != observeVersion {
		if err := open(); err != nil {
			return nil, err
		}
		if err := l.observe(ctx, k); err != nil {
			return nil, err
		}
		if err := k.write(folder, seed); err != nil {
			return nil, err
		}
	}
	v := &verdict{s: s, k: k}
	v.advised.set, v.why = k.advise()
	if !k.knows(s, v.advised.set) {
		if err := open(); err != nil {
			return nil, err
		}
		if err := k.measure(ctx, l, v.advised.set); err != nil {
			return nil, err
		}
		if err := k.write(folder, seed); err != nil {
			return nil, err
		}
	}
	if k.figures(s, v.advised.set).rows < k.figures(s, k.Best).rows*(1-worth) {
		// The search missed a better set: it goes on from there.
		if err := open(); err != nil {
			return nil, err
		}
		if err := k.searchFrom(ctx, l, v.advised.set); err != nil {
			return nil, err
		}
		if err := k.write(folder, seed); err != nil {
			return nil, err
		}
	}
	v.none, v.best, v.advised = k.figures(s, nil), k.figures(s, k.Best), k.figures(s, v.advised.set)
	return v, nil
}

func (k *kept) search(ctx context.Context, l *lab) error {
	if err := l.observe(ctx, k); err != nil {
		return err
	}
	all := l.s.candidates()
	bytes, err := l.create(ctx, all)
	if err != nil {
		return err
	}
	for _, x := range all {
		k.Bytes[x.key()] = bytes[x.key()]
	}
	k.Best, err = (&searcher{l, k}).best(ctx, all)
	k.Searched = err == nil
	return err
}

// searchFrom takes a set for the beginning of the best: others are added, dropped and
// exchanged as for those that the search begins with.
func (k *kept) searchFrom(ctx context.Context, l *lab, set []index) error {
	all := l.s.candidates()
	for _, x := range set {
		if !slices.ContainsFunc(all, func(y index) bool { return y.key() == x.key() }) {
			all = append(all, x)
		}
	}
	bytes, err := l.create(ctx, all)
	if err != nil {
		return err
	}
	for _, x := range all {
		k.Bytes[x.key()] = bytes[x.key()]
	}
	f := &searcher{l, k}
	if set, _, err = f.grow(ctx, all, set); err != nil {
		return err
	}
	k.Best, err = f.improve(ctx, all, set)
	return err
}

func (k *kept) measure(ctx context.Context, l *lab, set []index) error {
	bytes, err := l.create(ctx, set)
	if err != nil {
		return err
	}
	for _, x := range set {
		k.Bytes[x.key()] = bytes[x.key()]
	}
	_, err = (&searcher{l, k}).cost(ctx, set)
	return err
}

// knows reports whether a set was measured.
func (k *kept) knows(s *schema, set []index) bool {
	for _, x := range set {
		if _, ok := k.Bytes[x.key()]; !ok {
			return false
		}
	}
	for i, st := range s.stmts {
		if _, ok := k.Reads[measureKey(i, st.usable(set))]; !ok {
			return false
		}
	}
	return true
}

func (k *kept) figures(s *schema, set []index) figures {
	f := figures{set: set}
	for i, st := range s.stmts {
		n := k.Reads[measureKey(i, st.usable(set))]
		f.reads = append(f.reads, n)
		f.rows += (n + entryRows*k.entries(i, st, set)) * float64(st.Count)
	}
	for _, x := range set {
		f.bytes += k.Bytes[x.key()]
	}
	return f
}

// rowRatio and byteRatio to the best, less the slack; 1 is as good.
func (v *verdict) rowRatio() float64 {
	slack := 0.0
	for _, st := range v.s.stmts {
		slack += slackRows * float64(st.Count)
	}
	return max(1, v.advised.rows-slack) / max(1, v.best.rows)
}

func (v *verdict) byteRatio() float64 {
	return float64(max(1, v.advised.bytes)) / float64(max(1, v.best.bytes))
}

func (v *verdict) near() bool { return v.rowRatio() <= within && v.byteRatio() <= within }

// worse tells what the advice makes worse than without, "" if nothing.
func (v *verdict) worse() string {
	if v.advised.rows > v.none.rows*1.001 {
		return fmt.Sprintf("the workload costs %.0f, without indexes %.0f", v.advised.rows, v.none.rows)
	}
	for i, n := range v.advised.reads {
		if was := v.none.reads[i]; n > was*worseShare && n > was+worseRows {
			return fmt.Sprintf("%s reads %.0f rows, without indexes %.0f", v.s.stmts[i].Form, n, was)
		}
	}
	return ""
}

func (v *verdict) passes() bool { return v.near() && v.worse() == "" }

func (v *verdict) print(w io.Writer) {
	fmt.Fprintf(w, "seed %d: rows ×%.2f, bytes ×%.2f of the best", v.s.seed, v.rowRatio(), v.byteRatio())
	if why := v.worse(); why != "" {
		fmt.Fprintf(w, "; WORSE: %s", why)
	}
	fmt.Fprintln(w)
	for _, t := range v.s.tables {
		fmt.Fprintf(w, "  %s: %d rows, keys %v\n", t.name, t.rows, t.keys)
		for _, e := range v.k.Tables {
			if e.Name == t.name {
				for _, c := range e.Columns {
					fmt.Fprintf(w, "    %s %s, %d values\n", c.Name, c.Type, c.Distinct)
				}
			}
		}
	}
	for i, st := range v.s.stmts {
		fmt.Fprintf(w, "  %5d × %s\n          rows: none %.0f, best %.0f, advised %.0f; sent %d\n", st.Count, v.k.Statements[i].Example, v.none.reads[i], v.best.reads[i], v.advised.reads[i], v.k.Statements[i].RowsSent/st.Count)
	}
	for _, f := range []struct {
		name string
		figures
	}{{"none", v.none}, {"best", v.best}, {"advised", v.advised}} {
		var keys []string
		for _, x := range f.set {
			keys = append(keys, x.key())
		}
		fmt.Fprintf(w, "  %-8s %12.0f rows %9d bytes  %s\n", f.name, f.rows, f.bytes, strings.Join(keys, " "))
	}
	for _, y := range v.why {
		fmt.Fprintf(w, "    %s\n", y)
	}
}

// tally of all seeds.
type tally struct {
	judged, near, worse, rows, bytes, advised int
	product                                   float64
}

func (a *tally) add(v *verdict) {
	a.judged++
	if v.near() {
		a.near++
	}
	if v.rowRatio() > within {
		a.rows++
	}
	if v.byteRatio() > within {
		a.bytes++
	}
	if v.worse() != "" {
		a.worse++
	}
	if len(v.advised.set) > 0 {
		a.advised++
	}
	a.product += math.Log(max(v.rowRatio(), 0.01))
}

// bar is the share of schemas whose advice has to be near the best; none may be worse
// than without.
const bar = 0.95

// print tells the figures beside the bars, and whether they are reached.
func (a *tally) print(w io.Writer, wanted int) bool {
	if a.judged == 0 {
		fmt.Fprintln(w, "no schema was judged")
		return false
	}
	share := float64(a.near) / float64(a.judged)
	fmt.Fprintf(w, "%d schemas, %d with advice; rows beside the best: geometric mean ×%.3f\n", a.judged, a.advised, math.Exp(a.product/float64(a.judged)))
	fmt.Fprintf(w, "within ×%.1f of the best in rows and bytes: %d (%.1f %%; bar: %.0f %%); too many rows: %d, too many bytes: %d\n", within, a.near, 100*share, 100*bar, a.rows, a.bytes)
	fmt.Fprintf(w, "worse than without: %d (bar: 0)\n", a.worse)
	return share >= bar && a.worse == 0 && a.judged == wanted
}
