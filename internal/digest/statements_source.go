package digest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/sqllog"
	"kasoku/internal/ui"
)

// statementSource is a form of logs, or of tables, of statements beside the slow
// query log. They are read by one goroutine.
type statementSource struct {
	name string // as "format" names it
	// is tells it by a log's first bytes.
	is func(head []byte) bool
	// read sums a log up.
	read func(f *statementFeed, r io.Reader) error
}

// postgresText is PostgreSQL's log to stderr, which JSON may carry.
const postgresText = "postgresql"

// statementSources in the order in which they are looked for.
var statementSources = []statementSource{
	{"postgresql csvlog", matches(",LOG,", `(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [^,\n]+,("[^"]*")?,("[^"]*")?,\d*,[^\n]*,LOG,`), (*statementFeed).postgresCSV},
	{"postgresql jsonlog", matches(`"error_severity"`, `(?m)^\{[^\n]*"error_severity": ?"[A-Z]`), (*statementFeed).postgresJSON},
	{postgresText, func(head []byte) bool { return sqllog.PostgresMessageAt(head, false) >= 0 }, (*statementFeed).postgresText},
	{"general log", isGeneral, (*statementFeed).general},
	{"", isSummary, (*statementFeed).summary},
}

// matches looks with a regular expression where the text is in the head at all:
// most logs are others, and expressions are slow.
func matches(text, re string) func([]byte) bool {
	r := regexp.MustCompile(re)
	return func(head []byte) bool { return bytes.Contains(head, []byte(text)) && r.Match(head) }
}

// sourceOf tells the form of a log that is no slow query log; nil if it is none
// of them. A statement may hold what looks like another kind of log, so what
// comes first counts.
func sourceOf(head []byte) *statementSource {
	if at := slowHeader.FindIndex(head); at != nil {
		if general := generalLine.FindIndex(head[:at[0]]); general == nil && sqllog.PostgresMessageAt(head[:at[0]], true) < 0 {
			return nil
		}
		head = head[:at[0]]
	}
	for i := range statementSources {
		if statementSources[i].is(head) {
			return &statementSources[i]
		}
	}
	return nil
}

// statementFeed sums entries up that come one after the other.
type statementFeed struct {
	ctx context.Context
	c   *statementClasses
	w   *statementWorker
	sum *pieceSum
	in  *Input
	// shortened are rows of a table whose statement the server cut.
	shortened int64
	bytes     int64 // of the texts in sum
}

const (
	// feedEntries and feedBytes are summed up before they are merged.
	feedEntries = 4096
	feedBytes   = 4 << 20
)

func newStatementFeed(ctx context.Context, c *statementClasses, in *Input) *statementFeed {
	f := &statementFeed{ctx: ctx, c: c, w: newStatementWorker(c.o, c.seed), sum: &pieceSum{index: map[classKey]int{}}, in: in}
	f.w.sum = f.sum
	return f
}

// add takes an entry whose texts stay.
func (f *statementFeed) add(e *sqllog.SlowEntry) error {
	f.w.dialect = f.c.dialect
	if err := f.w.entry(e); err != nil {
		return err
	}
	f.bytes += int64(len(e.SQL))
	if f.sum.entries >= feedEntries || f.bytes >= feedBytes {
		f.merge()
	}
	return f.ctx.Err()
}

func (f *statementFeed) merge() {
	f.c.merge(f.sum)
	f.w.reset(f.sum)
	f.bytes = 0
}

// countingReader tells how much was read.
type countingReader struct {
	io.Reader
	n    int64
	show func(int64)
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	if r.show != nil {
		r.show(r.n)
	}
	return n, err
}

// otherLog sums up a log that is no slow query log.
func otherLog(ctx context.Context, in *Input, r io.Reader, source *statementSource, c *statementClasses) error {
	c.begin(in.Name)
	before := c.out.Bytes
	counted := &countingReader{Reader: r}
	if c.o.Progress != nil {
		counted.show = func(n int64) { c.o.Progress(before + n) }
	}
	f := newStatementFeed(ctx, c, in)
	c.name(source.name)
	if err := source.read(f, counted); err != nil {
		return err
	}
	f.merge()
	c.out.Bytes = before + counted.n
	c.end(&sqllog.SlowPiece{})
	return nil
}

// generalUntimed is told of all logs without times.
const generalUntimed = "a general query log has no times: statements are in the order of their number; set slow_query_log=1 and long_query_time=0 for some minutes to see where the time goes"

// general sums a general query log up: it has no times.
func (f *statementFeed) general(r io.Reader) error {
	f.c.out.Untimed = true
	g := generalFeed{f: f, schema: map[uint64]string{}}
	err := sqllog.ParseGeneral(r, g.entry)
	f.c.warn(generalUntimed)
	return err
}

// generalFeed makes entries of a general query log's.
type generalFeed struct {
	f      *statementFeed
	schema map[uint64]string // by connection
	at     time.Time
}

func (s *generalFeed) entry(g sqllog.GeneralEntry) error {
	if !g.Time.IsZero() {
		s.at = g.Time
	}
	e := sqllog.SlowEntry{Time: s.at, Thread: g.Thread, Schema: s.schema[g.Thread]}
	switch g.Command {
	case "Query", "Execute":
		if e.SQL = strings.TrimRight(g.Text, "; \t\r\n"); e.SQL == "" {
			e.Command = g.Command
		}
	case "Init DB":
		e.Command = g.Command
		remember(s.schema, g.Thread, g.Text)
	case "Connect":
		e.Command = g.Command
		if _, on, ok := strings.Cut(g.Text, " on "); ok {
			name, _, _ := strings.Cut(on, " ")
			remember(s.schema, g.Thread, name)
		}
	case "Quit":
		e.Command = g.Command
		delete(s.schema, g.Thread)
	default:
		e.Command = g.Command
	}
	return s.f.add(&e)
}

// mostConnections whose schema is remembered.
const mostConnections = 1 << 16

func remember(schemas map[uint64]string, thread uint64, schema string) {
	if len(schemas) >= mostConnections {
		clear(schemas)
	}
	schemas[thread] = schema
}

// postgresStatements makes entries of messages.
func (f *statementFeed) postgresStatements() *sqllog.PostgresStatements {
	f.c.dialect = sqllog.Postgres
	return &sqllog.PostgresStatements{Each: f.add}
}

func (f *statementFeed) postgresText(r io.Reader) error {
	p := f.postgresStatements()
	if err := sqllog.ParsePostgres(r, p.Message); err != nil {
		return err
	}
	return f.postgresEnd(p)
}

func (f *statementFeed) postgresCSV(r io.Reader) error {
	return f.postgresRecords(r, sqllog.ParsePostgresCSV)
}

func (f *statementFeed) postgresJSON(r io.Reader) error {
	return f.postgresRecords(r, sqllog.ParsePostgresJSON)
}

func (f *statementFeed) postgresRecords(r io.Reader, parse func(io.Reader, func(*sqllog.PostgresMessage) error) (int64, int64, error)) error {
	p := f.postgresStatements()
	bad, first, err := parse(r, p.Message)
	if err != nil {
		return err
	}
	if bad > 0 {
		f.c.fault(bad, first, "a record that is cut, or is none of this log", "")
	}
	return f.postgresEnd(p)
}

// postgresEnd tells what the messages held beside statements.
func (f *statementFeed) postgresEnd(p *sqllog.PostgresStatements) error {
	if err := p.Flush(); err != nil {
		return err
	}
	if p.Phases > 0 {
		f.c.warn("%s of prepared statements with %s %s not in the table: parse and bind are no runs", amount(p.Phases, "message"), ui.Duration(p.PhaseTime), oneOrMore(p.Phases, "is", "are"))
	}
	if p.Bare > 0 {
		f.c.warn("%s without a statement %s left out, as log_duration writes them alone; set log_min_duration_statement = 0, which logs each statement with its duration", amount(p.Bare, "duration"), oneOrMore(p.Bare, "was", "were"))
	}
	if p.Foreign > 0 {
		f.c.warn("%s in another language than English %s not read; set lc_messages = 'C' for new lines", amount(p.Foreign, "duration"), oneOrMore(p.Foreign, "was", "were"))
	}
	if p.Bad > 0 {
		f.c.warn("%s could not be read", amount(p.Bad, "duration"))
	}
	var names []string
	for zone, n := range p.Zones {
		names = append(names, fmt.Sprintf("%s (%s)", zone, count(n)))
	}
	if slices.Sort(names); len(names) > 0 {
		f.c.warn("the zone of some times is not known, or means several: %s; they were read as UTC", strings.Join(names, ", "))
	}
	return nil
}
