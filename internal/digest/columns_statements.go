package digest

import (
	"time"

	"kasoku/internal/ui"
)

// columns of the classes.
func (s *Statements) columns() []column[Statement] {
	if s.Untimed {
		return s.untimedColumns()
	}
	out := []column[Statement]{
		countColumn("count", "count", func(c *Statement) int64 { return c.Count }),
		shareColumn("share", "share", s.share()),
		classTime("total", "total", func(c *Statement) time.Duration { return c.Total }),
		classTime("mean", "mean", (*Statement).mean),
		knownTime("p50", "", func(c *Statement) time.Duration { return c.P50 }),
		knownTime("p95", "p95", func(c *Statement) time.Duration { return c.P95 }),
		knownTime("p99", "", func(c *Statement) time.Duration { return c.P99 }),
		knownTime("max", "max", func(c *Statement) time.Duration { return c.Max }),
		classTime("lock", "", func(c *Statement) time.Duration { return c.LockTime }),
		{head: "lock", cell: func(c *Statement) string { return ui.Duration(time.Duration(mean(int64(c.LockTime), c.Count))) }},
		perRun("rows_examined", "examined", func(c *Statement) int64 { return c.RowsExamined }),
		perRun("rows_sent", "sent", func(c *Statement) int64 { return c.RowsSent }),
		countColumn("rows_affected", "", func(c *Statement) int64 { return c.RowsAffected }),
		countColumn("bytes_sent", "", func(c *Statement) int64 { return c.BytesSent }),
	}
	s.hideEmpty(out)
	for _, g := range signs {
		out = append(out, countColumn(g.name, "", g.of))
	}
	out = append(out, column[Statement]{head: "signs", text: true, cell: signText})
	return append(out, s.texts()...)
}

// hideEmpty shows people no columns of what the log does not tell of any class.
func (s *Statements) hideEmpty(columns []column[Statement]) {
	var sum Statement
	for i := range s.Classes {
		sum.merge(&s.Classes[i])
	}
	for i := range columns {
		c := &columns[i]
		if c.head == "lock" && sum.LockTime == 0 || c.head == "examined" && sum.RowsExamined == 0 || c.head == "sent" && sum.RowsSent == 0 && (s.unsent || sum.RowsExamined == 0) {
			c.head = ""
		}
	}
}

// untimedColumns are of a log without times: there are numbers of statements.
func (s *Statements) untimedColumns() []column[Statement] {
	return append([]column[Statement]{
		countColumn("count", "count", func(c *Statement) int64 { return c.Count }),
		shareColumn("share", "share", s.share()),
	}, s.texts()...)
}

// texts are the columns of names and statements.
func (s *Statements) texts() []column[Statement] {
	schema := textColumn("schema", func(c *Statement) string { return c.Schema })
	for i := range s.Classes {
		if s.Classes[i].Schema != "" {
			schema = textHead("schema", "schema", func(c *Statement) string { return c.Schema })
			break
		}
	}
	statement := textHead("fingerprint", "statement", func(c *Statement) string { return oneLine(c.Fingerprint) })
	statement.code = true
	out := []column[Statement]{schema, statement, textColumn("example", func(c *Statement) string { return c.Example })}
	if s.Explained != "" {
		out = append(out, planColumns()...)
	}
	return out
}

// share returns a class's part of the whole time.
func (s *Statements) share() func(*Statement) float64 {
	total := s.total()
	all := int64(0)
	for i := range s.Classes {
		all = plus(all, s.Classes[i].Count)
	}
	return func(c *Statement) float64 {
		switch {
		case s.Untimed:
			return mean(c.Count, all)
		case total == 0:
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

// knownTime is a time that a summary may not have: 0 where the mean is not. Of
// single runs it is known, and may be 0.
func knownTime(name, head string, get func(*Statement) time.Duration) column[Statement] {
	out := classTime(name, head, get)
	cell, exact := out.cell, out.exact
	out.cell = func(c *Statement) string {
		if get(c) == 0 && c.Total > 0 && !c.runs {
			return "–"
		}
		return cell(c)
	}
	out.exact = func(c *Statement) string {
		if get(c) == 0 && c.Total > 0 && !c.runs {
			return ""
		}
		return exact(c)
	}
	return out
}

// perRun shows people the mean of a run, and programs the sum.
func perRun(name, head string, get func(*Statement) int64) column[Statement] {
	c := countColumn(name, head, get)
	c.cell = func(x *Statement) string { return ui.Number(round3(mean(get(x), x.Count))) }
	return c
}
