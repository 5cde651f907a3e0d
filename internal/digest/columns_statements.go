package digest

import (
	"time"

	"kasoku/internal/ui"
)

// columns of the classes.
func (s *Statements) columns() []column[Statement] {
	out := []column[Statement]{
		countColumn("count", "count", func(c *Statement) int64 { return c.Count }),
		shareColumn("share", "share", s.share()),
		classTime("total", "total", func(c *Statement) time.Duration { return c.Total }),
		classTime("mean", "mean", (*Statement).mean),
		classTime("p50", "", func(c *Statement) time.Duration { return c.P50 }),
		classTime("p95", "p95", func(c *Statement) time.Duration { return c.P95 }),
		classTime("p99", "", func(c *Statement) time.Duration { return c.P99 }),
		classTime("max", "max", func(c *Statement) time.Duration { return c.Max }),
		classTime("lock", "", func(c *Statement) time.Duration { return c.LockTime }),
		{head: "lock", cell: func(c *Statement) string { return ui.Duration(time.Duration(mean(int64(c.LockTime), c.Count))) }},
		perRun("rows_examined", "examined", func(c *Statement) int64 { return c.RowsExamined }),
		perRun("rows_sent", "sent", func(c *Statement) int64 { return c.RowsSent }),
		countColumn("rows_affected", "", func(c *Statement) int64 { return c.RowsAffected }),
		countColumn("bytes_sent", "", func(c *Statement) int64 { return c.BytesSent }),
	}
	for _, g := range signs {
		out = append(out, countColumn(g.name, "", g.of))
	}
	out = append(out, column[Statement]{head: "signs", text: true, cell: signText})
	schema := textColumn("schema", func(c *Statement) string { return c.Schema })
	for i := range s.Classes {
		if s.Classes[i].Schema != "" {
			schema = textHead("schema", "schema", func(c *Statement) string { return c.Schema })
			break
		}
	}
	statement := textHead("fingerprint", "statement", func(c *Statement) string { return oneLine(c.Fingerprint) })
	statement.code = true
	return append(out, schema, statement, textColumn("example", func(c *Statement) string { return c.Example }))
}

// share returns a class's part of the whole time.
func (s *Statements) share() func(*Statement) float64 {
	total := s.total()
	return func(c *Statement) float64 {
		if total == 0 {
			return 0
		}
		return float64(c.Total) / float64(total)
	}
}

func classTime(name, head string, get func(*Statement) time.Duration) column[Statement] {
	return column[Statement]{name: name + "_seconds", head: head,
		cell:  func(c *Statement) string { return ui.Duration(get(c)) },
		exact: func(c *Statement) string { return seconds(get(c)) }}
}

// perRun shows people the mean of a run, and programs the sum.
func perRun(name, head string, get func(*Statement) int64) column[Statement] {
	c := countColumn(name, head, get)
	c.cell = func(x *Statement) string { return ui.Number(round3(mean(get(x), x.Count))) }
	return c
}
