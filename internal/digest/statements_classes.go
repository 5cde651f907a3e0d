package digest

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"kasoku/internal/sqllog"
)

// statementClasses gathers what the pieces of logs held, in the logs' order,
// so that the result does not depend on who summed which piece up.
type statementClasses struct {
	o       *StatementOptions
	seed    maphash.Seed
	out     Statements
	schema  string // in use at the end of the last piece
	rate    int64
	known   map[classKey]*statementClass
	list    []*statementClass
	other   *statementClass
	maker   sqllog.Fingerprinter
	at      []*statementClass // of the piece being merged, by its own numbers
	log     statementLogSum   // of the present log
	dialect sqllog.Dialect    // of the present log
	repeats *repeats
}

// statementLogSum is what is told of one log.
type statementLogSum struct {
	name     string
	entries  int64 // whole ones
	faults   int64
	rows     int64 // of a table of sums, instead of entries
	headless int64 // bytes before its first entry
	access   int64 // lines of an access log before it
	badTimes int64
	long     int64 // statements of which only the begin is kept
	cut      bool  // its last entry has no end
}

type statementClass struct {
	Statement
	times   timeHistogram
	dialect sqllog.Dialect // of the example
}

func newStatementClasses(o *StatementOptions) *statementClasses {
	return &statementClasses{o: o, seed: maphash.MakeSeed(), known: map[classKey]*statementClass{}, repeats: newRepeats()}
}

// begin starts a log: nothing is carried over from the one before.
func (c *statementClasses) begin(name string) {
	c.schema, c.rate, c.log, c.dialect = "", 0, statementLogSum{name: name}, sqllog.MySQL
}

// name notes the log's format.
func (c *statementClasses) name(format string) {
	if format != "" && !slices.Contains(strings.Split(c.out.Format, ", "), format) {
		c.out.Format = strings.TrimPrefix(c.out.Format+", "+format, ", ")
	}
}

// merge adds the next piece.
func (c *statementClasses) merge(p *pieceSum) {
	c.log.entries = plus(c.log.entries, p.entries)
	c.log.badTimes += p.badTimes
	c.log.long += p.long
	c.out.Entries = plus(c.out.Entries, p.entries-p.skipped-p.commands)
	c.out.Commands += p.commands
	c.out.Skipped += p.skipped
	c.rate = max(c.rate, p.rate)
	if !p.from.IsZero() {
		if c.out.From.IsZero() || p.from.Before(c.out.From) {
			c.out.From = p.from
		}
		if p.to.After(c.out.To) {
			c.out.To = p.to
		}
	}
	c.at = c.at[:0]
	for i := range p.classes {
		k := &p.classes[i]
		if k.carried {
			k.schema = c.schema
		}
		class := c.class(k)
		if class != c.other && (class.Count == 0 || k.Max > class.Max) {
			class.Example = strings.Clone(cmp.Or(k.sample, k.slowest)) // masked in result
			class.dialect = c.dialect
		}
		class.Max = max(class.Max, k.Max)
		class.P95, class.P99 = max(class.P95, k.P95), max(class.P99, k.P99) // of a summary
		class.merge(&k.Statement)
		c.at = append(c.at, class)
	}
	for _, t := range p.times {
		c.at[t.class].times.add(t.bucket)
		if c.o.Repeats {
			c.repeats.next(c.at[t.class], t.text)
		}
	}
	if p.used {
		c.schema = p.schema
	}
}

// class finds or makes the class of a piece's.
func (c *statementClasses) class(k *pieceClass) *statementClass {
	key := classKey{schema: k.schema, print: k.print}
	if k.slowest == "" { // performance_schema sums up so what its table had no place for
		return c.others()
	}
	if class := c.known[key]; class != nil {
		return class
	}
	if len(c.list) >= c.o.MaxClasses {
		return c.others()
	}
	text := string(c.maker.Append(nil, lexed(c.dialect, k.slowest)))
	if c.dialect == sqllog.Postgres {
		text = sqllog.ToPostgres(text)
	}
	if text == "" {
		text = onlyComments
	}
	key.schema = strings.Clone(key.schema) // it may lie in the piece
	class := &statementClass{Statement: Statement{Service: c.o.Service, Schema: key.schema, Fingerprint: strings.ToValidUTF8(text, "?"), Replayed: c.o.Repeats}}
	c.known[key] = class
	c.list = append(c.list, class)
	return class
}

// lexed is a statement in the dialect that fingerprints are made of.
func lexed(d sqllog.Dialect, sql string) string {
	if d == sqllog.Postgres {
		return sqllog.FromPostgres(sql)
	}
	return sql
}

// others is the class of what has none of its own.
func (c *statementClasses) others() *statementClass {
	if c.other == nil {
		c.other = &statementClass{Statement: Statement{Service: c.o.Service, Fingerprint: OtherStatements}}
	}
	return c.other
}

// onlyComments is the fingerprint of a statement that is none: a ping of a pool.
const onlyComments = "(only comments)"

// result lists the classes, most total time first, with masked examples.
func (c *statementClasses) result() *Statements {
	if c.other != nil {
		c.list = append(c.list, c.other)
		if len(c.known) >= c.o.MaxClasses {
			c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("there are more than %d classes; %d statements of the others are one class, %q",
				c.o.MaxClasses, c.other.Count, OtherStatements))
		}
	}
	c.list = folded(c.list)
	c.tooLarge()
	c.out.Classes = make([]Statement, 0, len(c.list))
	for _, class := range c.list {
		s := class.Statement
		s.Schema = strings.ToValidUTF8(s.Schema, "?")
		s.Example = strings.ToValidUTF8(class.dialect.Mask(s.Example), "?")
		if s.runs = class.times.n > 0; s.runs {
			s.P50, s.P95, s.P99 = min(class.times.quantile(0.5), s.Max), min(class.times.quantile(0.95), s.Max), min(class.times.quantile(0.99), s.Max)
		}
		c.out.Classes = append(c.out.Classes, s)
	}
	SortStatements(c.out.Classes)
	return &c.out
}

// folded makes one of classes that differ in the aliases of their tables only. It is
// shown as the one that took the most time.
func folded(list []*statementClass) []*statementClass {
	slices.SortStableFunc(list, func(a, b *statementClass) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	type key struct{ schema, text string }
	first := map[key]*statementClass{}
	out := list[:0]
	for _, class := range list {
		k := key{class.Schema, sqllog.Unaliased(class.Fingerprint)}
		one := first[k]
		if one == nil {
			first[k] = class
			out = append(out, class)
			continue
		}
		if class.Max > one.Max {
			one.Max, one.Example, one.dialect = class.Max, class.Example, class.dialect
		}
		one.merge(&class.Statement)
		one.times.merge(&class.times)
	}
	return out
}

// SortStatements puts the class with most total time first; equal ones by
// service, schema and fingerprint.
func SortStatements(s []Statement) {
	slices.SortFunc(s, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}
