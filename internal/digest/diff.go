package digest

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// Diff compares two digests of one kind, row by row.
type Diff struct {
	Kind Kind `json:"kind"`
	// Timed: both logs have times. Without them rows are compared by count.
	Timed    bool      `json:"timed"`
	A        DiffSide  `json:"a"`
	B        DiffSide  `json:"b"`
	Rows     []DiffRow `json:"rows"` // largest change of total time first
	Warnings []string  `json:"warnings,omitempty"`
}

// DiffSide is one digest as a whole.
type DiffSide struct {
	Format string        `json:"format,omitempty"`
	From   time.Time     `json:"from,omitzero"`
	To     time.Time     `json:"to,omitzero"`
	Count  int64         `json:"count"`
	Total  time.Duration `json:"total"`
}

// DiffRow is a route or a class of statements before and after.
type DiffRow struct {
	Method      string `json:"method,omitempty"`
	Route       string `json:"route,omitempty"`
	Schema      string `json:"schema,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// New: only in B. Gone: only in A.
	New  bool    `json:"new,omitempty"`
	Gone bool    `json:"gone,omitempty"`
	A    DiffRun `json:"a"`
	B    DiffRun `json:"b"`
}

// DiffRun is what one digest says of a row. Share is of the side's total time
// (of its requests if there are no times), 0–1.
type DiffRun struct {
	Count int64         `json:"count"`
	Total time.Duration `json:"total"`
	Mean  time.Duration `json:"mean"`
	P95   time.Duration `json:"p95"`
	Share float64       `json:"share"`
}

// change of the total time, or of the count where there are no times.
func (d *Diff) change(r *DiffRow) float64 {
	if d.Timed {
		return float64(r.B.Total - r.A.Total)
	}
	return float64(r.B.Count - r.A.Count)
}

// DiffAccess compares access logs by method and route.
func DiffAccess(a, b *Access) *Diff {
	d := &Diff{Kind: KindAccess, Timed: a.Timed && b.Timed, A: DiffSide{Format: a.Format, From: a.From, To: a.To}, B: DiffSide{Format: b.Format, From: b.From, To: b.To}}
	d.warn("A", a.Health())
	d.warn("B", b.Health())
	if a.Timed != b.Timed {
		d.Warnings = append(d.Warnings, "only one of the logs has times: compared by count")
	}
	run := func(r *Route) DiffRun {
		return DiffRun{Count: r.Count, Total: r.Time.Total, Mean: r.Time.Mean, P95: r.Time.P95}
	}
	add := d.merge()
	for i := range a.Routes {
		r := &a.Routes[i]
		add(DiffRow{Method: r.Method, Route: r.Route}, run(r), DiffRun{})
	}
	for i := range b.Routes {
		r := &b.Routes[i]
		add(DiffRow{Method: r.Method, Route: r.Route}, DiffRun{}, run(r))
	}
	d.finish()
	return d
}

// DiffStatements compares slow logs by schema and fingerprint.
func DiffStatements(a, b *Statements) *Diff {
	d := &Diff{Kind: KindSlow, Timed: true, A: DiffSide{Format: a.Format, From: a.From, To: a.To}, B: DiffSide{Format: b.Format, From: b.From, To: b.To}}
	d.warn("A", a.Warnings)
	d.warn("B", b.Warnings)
	run := func(s *Statement) DiffRun {
		return DiffRun{Count: s.Count, Total: s.Total, Mean: s.mean(), P95: s.P95}
	}
	add := d.merge()
	for i := range a.Classes {
		s := &a.Classes[i]
		add(DiffRow{Schema: s.Schema, Fingerprint: s.Fingerprint}, run(s), DiffRun{})
	}
	for i := range b.Classes {
		s := &b.Classes[i]
		add(DiffRow{Schema: s.Schema, Fingerprint: s.Fingerprint}, DiffRun{}, run(s))
	}
	d.finish()
	return d
}

func (d *Diff) warn(side string, warnings []string) {
	for _, w := range warnings {
		d.Warnings = append(d.Warnings, side+": "+w)
	}
}

// merge returns a function that adds one side of a row. Rows of one name in
// one digest (services apart) are summed; the slower P95 stands for both.
func (d *Diff) merge() func(name DiffRow, a, b DiffRun) {
	at := map[DiffRow]int{}
	return func(name DiffRow, a, b DiffRun) {
		i, ok := at[name]
		if !ok {
			i = len(d.Rows)
			at[name] = i
			d.Rows = append(d.Rows, name)
		}
		d.Rows[i].A.add(a)
		d.Rows[i].B.add(b)
	}
}

func (r *DiffRun) add(o DiffRun) {
	r.Count = plus(r.Count, o.Count)
	r.Total = plus(r.Total, o.Total)
	r.P95 = max(r.P95, o.P95)
	// The mean is of requests with a time; where some have none, total over
	// count would be too low.
	switch {
	case o.Count == 0:
	case r.Count == o.Count:
		r.Mean = o.Mean
	default:
		r.Mean = r.Total / time.Duration(r.Count)
	}
}

// periodsDiffer: logs that cover so different times have different counts
// whatever the service does.
const periodsDiffer = 1.1

func (d *Diff) finish() {
	for i := range d.Rows {
		r := &d.Rows[i]
		r.New, r.Gone = r.A.Count == 0, r.B.Count == 0
		d.A.Count, d.A.Total = d.A.Count+r.A.Count, d.A.Total+r.A.Total
		d.B.Count, d.B.Total = d.B.Count+r.B.Count, d.B.Total+r.B.Total
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		r.A.Share, r.B.Share = d.share(r.A, d.A), d.share(r.B, d.B)
	}
	la, lb := d.A.To.Sub(d.A.From), d.B.To.Sub(d.B.From)
	if la > 0 && lb > 0 && max(la, lb).Seconds() > periodsDiffer*min(la, lb).Seconds() {
		d.Warnings = append(d.Warnings, fmt.Sprintf("A covers %s, B %s: counts and totals differ for that alone; compare means, p95 and shares, or cut with --since and --until", ui.Duration(la), ui.Duration(lb)))
	}
	_ = d.Sort("") // the first key exists
}

func (d *Diff) share(r DiffRun, side DiffSide) float64 {
	part, whole := float64(r.Total), float64(side.Total)
	if !d.Timed {
		part, whole = float64(r.Count), float64(side.Count)
	}
	if whole == 0 {
		return 0
	}
	return part / whole
}

// orders: each is an absolute change.
func (d *Diff) orders() []order[DiffRow] {
	by := func(name string, change func(*DiffRow) float64) order[DiffRow] {
		return order[DiffRow]{name, func(a, b *DiffRow) int { return cmp.Compare(math.Abs(change(a)), math.Abs(change(b))) }}
	}
	return []order[DiffRow]{
		by("time", d.change),
		by("count", func(r *DiffRow) float64 { return float64(r.B.Count - r.A.Count) }),
		by("mean", func(r *DiffRow) float64 { return float64(r.B.Mean - r.A.Mean) }),
		by("p95", func(r *DiffRow) float64 { return float64(r.B.P95 - r.A.P95) }),
		by("share", func(r *DiffRow) float64 { return r.B.Share - r.A.Share }),
	}
}

// Sort implements Digest.
func (d *Diff) Sort(by string) error {
	return sortRows(d.Rows, d.orders(), by, func(a, b *DiffRow) int {
		return cmp.Or(cmp.Compare(b.A.Total+b.B.Total, a.A.Total+a.B.Total), strings.Compare(a.name(), b.name()))
	})
}

func (r *DiffRow) name() string {
	if r.Fingerprint != "" {
		return oneLine(r.Schema + " " + r.Fingerprint)
	}
	return strings.TrimSpace(r.Method + " " + r.Route)
}

// SortKeys implements Digest.
func (d *Diff) SortKeys() []string { return orderNames(d.orders()) }

// Cut implements Digest.
func (d *Diff) Cut(n int) {
	if n > 0 && n < len(d.Rows) {
		d.Rows = d.Rows[:n]
	}
}

// CSV implements Digest.
func (d *Diff) CSV(w io.Writer) error { return writeCSV(w, d.columns(), d.Rows) }

// Health implements Digest.
func (d *Diff) Health() []string { return slices.Clone(d.Warnings) }
