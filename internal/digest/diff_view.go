package digest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// View implements Digest; names are those of A's logs and of B's.
func (d *Diff) View(names []string, n int) View {
	v := View{Title: "Comparison", Warnings: d.Warnings}
	if len(names) == 2 {
		v.Title = fmt.Sprintf("Comparison of %s (A) with %s (B)", names[0], names[1])
	}
	what, rows := "requests", "routes"
	if d.Kind == KindSlow {
		what, rows = "statements", "classes"
	}
	for i, s := range []DiffSide{d.A, d.B} {
		text := ""
		if i < len(names) {
			text = names[i] + ": "
		}
		text += fmt.Sprintf("%s %s", count(s.Count), what)
		if d.Timed {
			text += ", " + ui.Duration(s.Total)
		}
		if p := period(s.From, s.To, s.Count, what); p != "" {
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
	if v.More = more(d.Rows, n, rows, part); v.More != "" {
		v.More = strings.Replace(v.More, " are left out", " of all change are left out", 1)
	}
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
	var out []column[DiffRow]
	access := d.Kind == KindAccess
	if access {
		out = append(out, textColumn("method", func(r *DiffRow) string { return r.Method }), textColumn("route", func(r *DiffRow) string { return r.Route }))
	} else {
		out = append(out, textColumn("schema", func(r *DiffRow) string { return r.Schema }), textColumn("fingerprint", func(r *DiffRow) string { return oneLine(r.Fingerprint) }))
	}
	number := func(name, head string, get func(*DiffRow) int64) {
		out = append(out, column[DiffRow]{name: name, head: head,
			cell: func(r *DiffRow) string { return count(get(r)) }, exact: func(r *DiffRow) string { return integer(get(r)) }})
	}
	timed := func(name, head string, get func(*DiffRow) (of DiffRun, at time.Duration)) {
		if !d.Timed {
			return
		}
		out = append(out, column[DiffRow]{name: name + "_seconds", head: head,
			cell: func(r *DiffRow) string {
				of, at := get(r)
				if of.Count == 0 {
					return "–"
				}
				return ui.Duration(at)
			},
			exact: func(r *DiffRow) string { _, at := get(r); return seconds(at) }})
	}
	if d.Timed {
		out = append(out, column[DiffRow]{name: "change_seconds", head: "change",
			cell: func(r *DiffRow) string { return signed(r.B.Total - r.A.Total) }, exact: func(r *DiffRow) string { return seconds(r.B.Total - r.A.Total) }})
	} else {
		out = append(out, column[DiffRow]{head: "change", cell: func(r *DiffRow) string { return signedCount(r.B.Count - r.A.Count) }})
	}
	number("count_a", "count A", func(r *DiffRow) int64 { return r.A.Count })
	number("count_b", "count B", func(r *DiffRow) int64 { return r.B.Count })
	timed("total_a", "", func(r *DiffRow) (DiffRun, time.Duration) { return r.A, r.A.Total })
	timed("total_b", "", func(r *DiffRow) (DiffRun, time.Duration) { return r.B, r.B.Total })
	timed("mean_a", "mean A", func(r *DiffRow) (DiffRun, time.Duration) { return r.A, r.A.Mean })
	timed("mean_b", "mean B", func(r *DiffRow) (DiffRun, time.Duration) { return r.B, r.B.Mean })
	if d.Timed {
		out = append(out, column[DiffRow]{head: "by", cell: func(r *DiffRow) string { return percentChange(r.A.Mean, r.B.Mean) }})
	}
	timed("p95_a", "p95 A", func(r *DiffRow) (DiffRun, time.Duration) { return r.A, r.A.P95 })
	timed("p95_b", "p95 B", func(r *DiffRow) (DiffRun, time.Duration) { return r.B, r.B.P95 })
	for _, s := range []struct {
		name, head string
		of         func(*DiffRow) float64
	}{{"share_a", "share A", func(r *DiffRow) float64 { return r.A.Share }}, {"share_b", "share B", func(r *DiffRow) float64 { return r.B.Share }}} {
		out = append(out, column[DiffRow]{name: s.name, head: s.head, cell: func(r *DiffRow) string { return ui.Share(s.of(r)) }, exact: func(r *DiffRow) string { return fraction(s.of(r)) }})
	}
	out = append(out, textHead("state", "state", (*DiffRow).state))
	head := "request"
	if !access {
		head = "statement"
	}
	return append(out, column[DiffRow]{head: head, text: true, code: true, cell: (*DiffRow).name})
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
