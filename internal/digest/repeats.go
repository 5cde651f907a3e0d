package digest

import (
	"slices"
	"strings"

	"kasoku/internal/sqllog"
)

// mostRepeats bounds the texts that are remembered, 24 bytes each. Reads of further ones
// are counted as such that came for the first time.
const mostRepeats = 1 << 20

// repeats plays a log's statements, in the order in which they ended, against a cache that
// keeps each result by the statement's text until one of its tables is written, as
// MariaDB's query cache does.
type repeats struct {
	kept    map[repeatKey]uint64 // writes of its tables that the result had seen
	writes  map[string]*uint64   // of a table, with its schema
	others  uint64               // statements that may have written anything
	classes map[*statementClass]*repeatClass
}

type repeatKey struct {
	class *repeatClass
	text  uint64
}

// repeatClass is what a class of statements does.
type repeatClass struct {
	reads  bool
	quiet  bool // touches no table
	tables []*uint64
}

func newRepeats() *repeats {
	return &repeats{kept: map[repeatKey]uint64{}, writes: map[string]*uint64{}, classes: map[*statementClass]*repeatClass{}}
}

// quietVerbs begin statements that change no table.
var quietVerbs = []string{"SET", "BEGIN", "START", "COMMIT", "ROLLBACK", "SHOW", "USE", "EXPLAIN", "DESCRIBE", "DESC", "PREPARE", "DEALLOCATE", "SAVEPOINT", "RELEASE", "KILL", "DO"}

func (r *repeats) classOf(c *statementClass) *repeatClass {
	if known := r.classes[c]; known != nil {
		return known
	}
	verb := sqllog.Verb(c.Fingerprint)
	out := &repeatClass{reads: verb == "SELECT" || verb == "WITH", quiet: slices.Contains(quietVerbs, verb)}
	for _, t := range sqllog.Tables(c.Fingerprint) {
		if t = strings.ToLower(t); !strings.Contains(t, ".") {
			t = strings.ToLower(c.Schema) + "." + t
		}
		if r.writes[t] == nil {
			r.writes[t] = new(uint64)
		}
		out.tables = append(out.tables, r.writes[t])
	}
	r.classes[c] = out
	return out
}

// next is the log's next statement, by the hash of its text.
func (r *repeats) next(c *statementClass, text uint64) {
	class := r.classOf(c)
	switch {
	case class.quiet:
		return
	case !class.reads && len(class.tables) == 0:
		r.others++
		return
	case !class.reads:
		for _, n := range class.tables {
			*n++
		}
		return
	case len(class.tables) == 0:
		return
	}
	now := r.others
	for _, n := range class.tables {
		now += *n
	}
	key := repeatKey{class, text}
	before, known := r.kept[key]
	switch {
	case known && before == now:
		c.Repeats++
	case known || len(r.kept) < mostRepeats:
		r.kept[key] = now
	}
}
