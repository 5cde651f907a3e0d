// Package scratch tries indexes on copies of tables, in a schema of its own on the
// database server at hand. In: statements, the indexes that were advised for them, and
// the tables as they were read. Out: how the server reads each statement without and with
// the indexes, how many rows that are, and what each index takes. The tables themselves
// are only read.
//
// Flow: (1) target.go takes a statement for one that reads the copies, or says why it
// cannot; (2) plan.go says which tables are copied, how much of each and how large that
// is at most; (3) schema.go makes the schema, sweeps those that a killed run left, and
// drops its own whatever happens; (4) copy.go fills it; (5) measure.go explains and runs
// the statements; (6) try.go does all that in order and judges each index.
//
// What a copy cannot tell: how long a statement takes while others use the tables, and,
// of a table that is copied in part, what only the whole shows.
package scratch

import "time"

// Limits of a try. The zero value means the defaults.
type Limits struct {
	// Rows that are copied of a table at most; default 200,000. InnoDB's choice of plan
	// does not change much above: a B-tree of so many rows has its three levels.
	Rows int64
	// Bytes of all copies with their indexes at most, estimated; default 256 MiB.
	Bytes int64
	// Time of all at most; default 60 s. The schema is dropped after it, too.
	Time time.Duration
	// Each statement's time at the server at most; default 5 s.
	Each time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.Rows <= 0 {
		l.Rows = 200_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 256 << 20
	}
	if l.Time <= 0 {
		l.Time = time.Minute
	}
	if l.Each <= 0 {
		l.Each = 5 * time.Second
	}
	return l
}
