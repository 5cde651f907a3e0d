package sqllog

import (
	"slices"
	"strings"
)

// Dialect is how a statement is written.
type Dialect uint8

const (
	// MySQL is the dialect of MariaDB and MySQL.
	MySQL Dialect = iota
	// Postgres is PostgreSQL's: what stands in double quotes is a name.
	Postgres
	// Fingerprints is what Fingerprint and ToPostgres write: there are no texts
	// and no comments, and names stand in backticks or double quotes.
	Fingerprints
)

// lex splits a statement. It accepts any bytes.
func (d Dialect) lex(sql string) []token {
	if d == MySQL {
		return lex(sql)
	}
	return lexPostgres(sql, d == Fingerprints, false)
}

// readings are the tokens under each setting of the server that a log does not
// tell: whether a backslash escapes a quote (NO_BACKSLASH_ESCAPES of MySQL,
// standard_conforming_strings of PostgreSQL). The usual one is the first.
func (d Dialect) readings(sql string) [][]token {
	out := [][]token{d.lex(sql)}
	if !strings.Contains(sql, `\'`) && !strings.Contains(sql, `\"`) {
		return out
	}
	if d == MySQL {
		return append(out, lexEscaped(nil, sql, false))
	}
	return append(out, lexPostgres(sql, false, true))
}

// span of bytes in a statement, and what is put there.
type span struct {
	from, to int
	text     string
}

// replaced puts the spans' texts into the statement. Of those that overlap the
// first one's text stands for all of them.
func replaced(sql string, spans []span) string {
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.from >= at {
			b.WriteString(sql[at:s.from])
			b.WriteString(s.text)
		}
		at = max(at, s.to)
	}
	b.WriteString(sql[at:])
	return b.String()
}
