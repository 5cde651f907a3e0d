package digest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kasoku/internal/ui"
)

var classOrders = []order[Statement]{
	{"time", func(a, b *Statement) int { return cmp.Compare(a.Total, b.Total) }},
	{"count", func(a, b *Statement) int { return cmp.Compare(a.Count, b.Count) }},
	{"mean", func(a, b *Statement) int { return cmp.Compare(a.mean(), b.mean()) }},
	{"p50", func(a, b *Statement) int { return cmp.Compare(a.P50, b.P50) }},
	{"p95", func(a, b *Statement) int { return cmp.Compare(a.P95, b.P95) }},
	{"p99", func(a, b *Statement) int { return cmp.Compare(a.P99, b.P99) }},
	{"max", func(a, b *Statement) int { return cmp.Compare(a.Max, b.Max) }},
	{"lock", func(a, b *Statement) int { return cmp.Compare(a.LockTime, b.LockTime) }},
	{"examined", func(a, b *Statement) int { return cmp.Compare(a.RowsExamined, b.RowsExamined) }},
	{"sent", func(a, b *Statement) int { return cmp.Compare(a.RowsSent, b.RowsSent) }},
	{"bytes", func(a, b *Statement) int { return cmp.Compare(a.BytesSent, b.BytesSent) }},
	{"errors", func(a, b *Statement) int { return cmp.Compare(a.Errors, b.Errors) }},
	{"fingerprint", func(a, b *Statement) int { return strings.Compare(b.Fingerprint, a.Fingerprint) }},
}

func (s *Statement) mean() time.Duration {
	if s.Count == 0 {
		return 0
	}
	return s.Total / time.Duration(s.Count)
}

// Sort implements Digest.
func (s *Statements) Sort(by string) error {
	if by == "" && s.Untimed {
		by = "count"
	}
	return sortRows(s.Classes, classOrders, by, func(a, b *Statement) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Schema, b.Schema), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
}

// SortKeys implements Digest.
func (s *Statements) SortKeys() []string { return orderNames(classOrders) }

// Cut implements Digest.
func (s *Statements) Cut(n int) {
	if n > 0 && n < len(s.Classes) {
		s.Classes = s.Classes[:n]
	}
}

// Health implements Digest.
func (s *Statements) Health() []string {
	out := slices.Clone(s.Warnings)
	if s.Bad > 0 {
		out = append(out, "not understood: "+s.badText())
	}
	return out
}

// CSV implements Digest.
func (s *Statements) CSV(w io.Writer) error { return writeCSV(w, s.columns(), s.Classes) }

// total time of all classes.
func (s *Statements) total() time.Duration {
	var t time.Duration
	for i := range s.Classes {
		t = plus(t, s.Classes[i].Total)
	}
	return t
}

// View implements Digest.
func (s *Statements) View(names []string, n int) View {
	v := View{Title: "Statements: " + logNames(names), Warnings: s.Warnings}
	read := fmt.Sprintf("%s: %s in %s, %s", logNames(names), amount(s.Entries, "statement"), amount(int64(len(s.Classes)), "class"), ui.Bytes(s.Bytes))
	if s.Format != "" {
		read += ", format " + s.Format
	}
	v.Facts = append(v.Facts, Fact{"read", read})
	total := s.total()
	if p := period(s.From, s.To, s.Entries, "statements"); p != "" {
		if d := s.To.Sub(s.From); d > 0 && total > 0 {
			p += fmt.Sprintf("; %.3g of them ran at once on average", total.Seconds()/d.Seconds())
		}
		v.Facts = append(v.Facts, Fact{"period", p})
	}
	of := "the statements"
	if !s.Untimed {
		of = "the time"
		v.Facts = append(v.Facts, Fact{"time", ui.Duration(total)})
	}
	if s.Commands > 0 {
		v.Facts = append(v.Facts, Fact{"commands", amount(s.Commands, "administrator command") + " (Ping, Quit, …), not in the table"})
	}
	if s.Skipped > 0 {
		v.Facts = append(v.Facts, Fact{"left out", amount(s.Skipped, "statement") + " by filters or time"})
	}
	if s.Bad > 0 {
		v.Facts = append(v.Facts, Fact{"not understood", s.badText()})
	}
	for _, on := range s.TriedOn {
		v.Facts = append(v.Facts, Fact{"tried", on})
	}
	share := s.share()
	v.Head, v.Rows = rowsOf(s.columns(), s.Classes, n, share, classDetail)
	v.More = more(s.Classes, n, "class", of, share)
	if p := s.plans(n); p != nil {
		v.Sections = append(v.Sections, *p)
	}
	for _, more := range []*Section{s.notes(n), s.tried(n), s.triedIndexes()} {
		if more != nil {
			v.Sections = append(v.Sections, *more)
		}
	}
	return v
}

func classDetail(s *Statement) []Fact {
	var out []Fact
	if s.Example != "" {
		out = append(out, Fact{"example", s.Example})
	}
	return out
}

// round3 keeps three decimals: 0.333 rows of a run, not 0.3333….
func round3(f float64) float64 { return float64(int64(f*1000+0.5)) / 1000 }

// signs are runs that did what a good statement rarely does.
var signs = []struct {
	name, text string
	of         func(*Statement) int64
}{
	{"full_scans", "full scan", func(c *Statement) int64 { return c.FullScans }},
	{"full_joins", "full join", func(c *Statement) int64 { return c.FullJoins }},
	{"no_index", "no index", func(c *Statement) int64 { return c.NoIndex }},
	{"tmp_tables", "tmp table", func(c *Statement) int64 { return c.TmpTables }},
	{"tmp_disk_tables", "tmp on disk", func(c *Statement) int64 { return c.TmpDisk }},
	{"filesorts", "filesort", func(c *Statement) int64 { return c.Filesorts }},
	{"errors", "errors", func(c *Statement) int64 { return c.Errors }},
}

// signText is "full scan, filesort 40 %": a share of the runs where not all did.
func signText(c *Statement) string {
	var out []string
	for _, g := range signs {
		n := g.of(c)
		switch {
		case n <= 0 || g.name == "no_index" && c.FullScans >= n:
		case n >= c.Count:
			out = append(out, g.text)
		default:
			out = append(out, g.text+" "+ui.Share(float64(n)/float64(c.Count)))
		}
	}
	return strings.Join(out, ", ")
}
