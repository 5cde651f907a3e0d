package digest

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"kasoku/internal/sqllog"
	"kasoku/internal/ui"
)

// last adds what is known of a piece when those before it are merged: whether
// the log's last statement is whole, and what was not understood.
func (c *statementClasses) last(p *pieceSum, piece *sqllog.SlowPiece) {
	c.log.headless += p.headless
	c.log.access += p.access
	c.log.cut = c.log.cut || p.cut
	if p.faults > 0 {
		line := piece.Line + int64(bytes.Count(piece.Data[:p.fault.at], []byte("\n")))
		c.fault(p.faults, line, p.fault.text, p.fault.sql)
	}
	if p.tail == nil {
		return
	}
	// Some servers write no ";"; where they do, a statement without one is cut.
	if piece.Unended > 0 {
		c.merge(p.tail)
	} else {
		c.log.cut = true
	}
}

// fault notes entries that were not understood; the line is that of the first.
func (c *statementClasses) fault(n, line int64, why, sql string) {
	if c.out.Bad == 0 {
		c.out.BadAt = fmt.Sprintf("%s:%d", c.log.name, line)
		c.out.FirstBad = why
		if sql != "" {
			text := strings.ToValidUTF8(c.dialect.Mask(sql[:min(len(sql), 4<<10)]), "?")
			c.out.FirstBad += ": " + oneLine(ui.Truncate(oneLine(text), badColumns))
		}
	}
	c.log.faults += n
	c.out.Bad += n
}

// badShare of what a log holds that is not understood is told on top: less is
// said below the table's head only.
const badShare = 0.01

// warn tells what limits what the present log says.
func (c *statementClasses) warn(format string, args ...any) {
	c.out.Warnings = append(c.out.Warnings, c.log.name+": "+fmt.Sprintf(format, args...))
}

// end tells what limits what the log says.
func (c *statementClasses) end(last *sqllog.SlowPiece) {
	warn := c.warn
	l := &c.log
	if l.entries == 0 {
		warn("it holds no statements")
	}
	switch {
	case l.access > 0:
		warn("it begins with %s of an access log, which %s left out: keep both kinds of logs in files of their own", amount(l.access, "line"), oneOrMore(l.access, "was", "were"))
	case l.headless > 0:
		warn("it begins within an entry, which was left out")
	}
	if l.cut {
		warn("the last entry is cut off and was left out")
	}
	all := l.entries + l.faults
	if l.rows > 0 {
		all = l.rows + l.faults
	}
	if float64(l.faults) > badShare*float64(all) {
		warn("%s of %s could not be read: what is shown stands for the rest only", count(l.faults), entriesText(all, l.rows > 0))
	}
	if last.Unended > 0 {
		warn("%s without a semicolon at the end may be cut; they count under what is there of them", amount(last.Unended, "statement"))
	}
	if last.Text > 0 {
		warn("%s within statements that look like an entry's header were taken for the statement's text", amount(last.Text, "line"))
	}
	if l.badTimes > 0 {
		warn("%s with a query or lock time that is no number, or cannot be (as when a clock was set back): that time counts as 0 s", amount(l.badTimes, "statement"))
	}
	if l.long > 0 {
		warn("%s longer than %d KiB count under their first %d KiB", amount(l.long, "statement"), sqllog.MaxStatement>>10, sqllog.MaxStatement>>10)
	}
	if c.rate > 1 {
		warn("log_slow_rate_limit let the server write one of %d statements or sessions; counts and times are of those", c.rate)
	}
}

// tooLarge tells of sums beyond what is counted.
func (c *statementClasses) tooLarge() {
	all := Statement{Count: c.out.Entries}
	for _, class := range c.list {
		all.merge(&class.Statement)
	}
	for _, sum := range all.sums() {
		if *sum == math.MaxInt64 {
			c.out.Warnings = append(c.out.Warnings, "some sums are above 9.2·10^18 (292 years in nanoseconds), which is the most that is counted: such numbers, shares and means of them are wrong")
			return
		}
	}
}

// badText says how many entries were not understood, and which was the first.
func (s *Statements) badText() string {
	all := s.Bad + s.Entries + s.Commands + s.Skipped - s.summed + s.rows
	return fmt.Sprintf("%s of %s; the first is %s: %s", count(s.Bad), entriesText(all, s.rows > 0 && all == s.Bad+s.rows), s.BadAt, s.FirstBad)
}

// entriesText counts entries, or rows of a table.
func entriesText(n int64, rows bool) string {
	switch {
	case rows:
		return amount(n, "row")
	case n == 1:
		return "1 entry"
	}
	return count(n) + " entries"
}

// oneOrMore is the verb that belongs to a number.
func oneOrMore(n int64, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
