package digest

import (
	"fmt"
	"math"
	"time"

	"kasoku/internal/ui"
)

// View implements Digest; names are those of A's logs and of B's.
func (d *Diff) View(names []string, n int) View {
	v := View{Title: "Comparison", Warnings: d.Warnings}
	if len(names) == 2 {
		v.Title = fmt.Sprintf("Comparison of %s (A) with %s (B)", names[0], names[1])
	}
	what, rows := "request", "route"
	if d.Kind == KindSlow {
		what, rows = "statement", "class"
	}
	for i, s := range []DiffSide{d.A, d.B} {
		text := ""
		if i < len(names) {
			text = names[i] + ": "
		}
		text += amount(s.Count, what)
		if d.Timed {
			text += ", " + ui.Duration(s.Total)
		}
		if p := period(s.From, s.To, s.Count, what+"s"); p != "" {
			text += ", " + p
		}
		v.Facts = append(v.Facts, Fact{string(rune('A' + i)), text})
	}
	if d.Timed && d.A.Total > 0 {
		v.Facts = append(v.Facts, Fact{"change", signed(d.B.Total-d.A.Total) + " (" + ui.Percent(float64(d.B.Total)/float64(d.A.Total)-1) + ")"})
	}
	whole := 0.0
	for i := range d.Rows {
		whole += math.Abs(d.change(&d.Rows[i]))
	}
	part := func(r *DiffRow) float64 {
		if whole == 0 {
			return 0
		}
		return math.Abs(d.change(r)) / whole
	}
	v.Head, v.Rows = rowsOf(d.columns(), d.Rows, n, part, nil)
	v.More = more(d.Rows, n, rows, "all change", part)
	return v
}

// signed writes a difference with its sign.
func signed(d time.Duration) string {
	switch {
	case d > 0:
		return "+" + ui.Duration(d)
	case d < 0:
		return "−" + ui.Duration(-d)
	}
	return ui.Duration(0)
}

// percentChange from a to b; what is new or gone has none.
func percentChange(a, b time.Duration) string {
	if a <= 0 || b <= 0 {
		return "–"
	}
	return ui.Percent(float64(b)/float64(a) - 1)
}

// columns of a comparison.
func (d *Diff) columns() []column[DiffRow] {
	head, out := "request", []column[DiffRow]{
		textColumn("method", func(r *DiffRow) string { return r.Method }), textColumn("route", func(r *DiffRow) string { return r.Route })}
	if d.Kind == KindSlow {
		head, out = "statement", []column[DiffRow]{
			textColumn("schema", func(r *DiffRow) string { return r.Schema }), textColumn("fingerprint", func(r *DiffRow) string { return oneLine(r.Fingerprint) })}
	}
	counts := []column[DiffRow]{
		countColumn("count_a", "count A", func(r *DiffRow) int64 { return r.A.Count }),
		countColumn("count_b", "count B", func(r *DiffRow) int64 { return r.B.Count }),
	}
	if d.Timed {
		out = append(out, column[DiffRow]{name: "change_seconds", head: "change",
			cell: func(r *DiffRow) string { return signed(r.B.Total - r.A.Total) }, exact: func(r *DiffRow) string { return seconds(r.B.Total - r.A.Total) }})
		out = append(append(out, counts...), diffTimes()...)
	} else {
		out = append(out, column[DiffRow]{head: "change", cell: func(r *DiffRow) string { return signedCount(r.B.Count - r.A.Count) }})
		out = append(out, counts...)
	}
	return append(out,
		shareColumn("share_a", "share A", func(r *DiffRow) float64 { return r.A.Share }),
		shareColumn("share_b", "share B", func(r *DiffRow) float64 { return r.B.Share }),
		textHead("state", "state", (*DiffRow).state),
		column[DiffRow]{head: head, text: true, code: true, cell: (*DiffRow).name})
}

// diffTimes are the columns of times.
func diffTimes() []column[DiffRow] {
	one := func(name, head string, side func(*DiffRow) *DiffRun, at func(*DiffRun) time.Duration) column[DiffRow] {
		return column[DiffRow]{name: name + "_seconds", head: head,
			cell: func(r *DiffRow) string {
				if side(r).Count == 0 {
					return "–"
				}
				return ui.Duration(at(side(r)))
			},
			exact: func(r *DiffRow) string { return seconds(at(side(r))) }}
	}
	a, b := func(r *DiffRow) *DiffRun { return &r.A }, func(r *DiffRow) *DiffRun { return &r.B }
	total := func(r *DiffRun) time.Duration { return r.Total }
	mean := func(r *DiffRun) time.Duration { return r.Mean }
	p95 := func(r *DiffRun) time.Duration { return r.P95 }
	return []column[DiffRow]{
		one("total_a", "", a, total), one("total_b", "", b, total),
		one("mean_a", "mean A", a, mean), one("mean_b", "mean B", b, mean),
		{head: "by", cell: func(r *DiffRow) string { return percentChange(r.A.Mean, r.B.Mean) }},
		one("p95_a", "p95 A", a, p95), one("p95_b", "p95 B", b, p95),
	}
}

func (r *DiffRow) state() string {
	switch {
	case r.New:
		return "new"
	case r.Gone:
		return "gone"
	}
	return ""
}

func signedCount(n int64) string {
	switch {
	case n > 0:
		return "+" + count(n)
	case n < 0:
		return "−" + count(-n)
	}
	return "0"
}
