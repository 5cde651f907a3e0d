package trace

import (
	"regexp"
	"strings"

	"kasoku/internal/sqllog"
)

// statement is what patterns need to know about one SQL text.
type statement struct {
	*class
	// values tells statements of one fingerprint apart, condition their WHERE;
	// open: the text has placeholders whose values are unknown, so equal texts
	// may be different statements.
	values, condition string
	open              bool
	// rows of an INSERT … VALUES.
	rows int
}

// class is what all statements of one fingerprint share.
type class struct {
	fingerprint string
	verb        string
	tables      []string
	// where is the fingerprint from WHERE to what follows it; keyed: it
	// compares a column with one value.
	where string
	keyed bool
	// reads: a SELECT that only reads. repeatable: running it again without a
	// write between brings the same rows. row: it reads one table by equalities
	// only, so another SELECT with the same condition could bring its columns.
	reads, repeatable, row bool
}

var (
	reKeyed = regexp.MustCompile("[A-Za-z0-9_`)] = \\?")
	reWhere = regexp.MustCompile(` WHERE (.*?)(?: (?:GROUP BY|ORDER BY|LIMIT|HAVING|FOR UPDATE|FOR SHARE|LOCK IN|RETURNING|ON DUPLICATE)\b.*)?$`)
	// Statements whose second run may answer differently although nothing was
	// written by this request, or which are run for their effect.
	reVolatile = regexp.MustCompile(`(?i)\b(NOW|SYSDATE|CURRENT_TIMESTAMP|CURDATE|CURTIME|UNIX_TIMESTAMP|UTC_TIMESTAMP|RAND|UUID|UUID_SHORT|LAST_INSERT_ID|FOUND_ROWS|ROW_COUNT|CONNECTION_ID|SLEEP|GET_LOCK|RELEASE_LOCK|IS_FREE_LOCK|BENCHMARK|NEXTVAL|LASTVAL|SQL_CALC_FOUND_ROWS) ?\(|\b(CURRENT_TIMESTAMP|CURRENT_DATE|CURRENT_TIME|SQL_CALC_FOUND_ROWS|NEXT VALUE FOR)\b|@`)
	reLocking  = regexp.MustCompile(`\b(FOR UPDATE|LOCK IN SHARE MODE|FOR SHARE)\b`)
	// A SELECT that cannot simply get more columns.
	reComplex = regexp.MustCompile(`(?i)\b(JOIN|UNION|GROUP BY|HAVING|DISTINCT|ORDER BY|INTO|OVER|INTERSECT|EXCEPT)\b|\b(COUNT|SUM|MIN|MAX|AVG|GROUP_CONCAT|JSON_ARRAYAGG|JSON_OBJECTAGG|BIT_AND|BIT_OR|STD|STDDEV|VARIANCE) ?\(|\( ?SELECT\b`)
	// Only equalities joined by AND: at most a few rows of one key.
	reEqualities = regexp.MustCompile("^[`\\w.$]+ = \\?(?: AND [`\\w.$]+ = \\?)*$")
)

// statementKey tells texts apart, which mean another thing in another dialect.
type statementKey struct {
	text     string
	postgres bool
}

// readStatement reads one text; classes are known ones by fingerprint.
func readStatement(text string, postgres bool, classes map[string]*class) *statement {
	plain := text
	if postgres {
		plain = sqllog.FromPostgres(text)
	}
	fingerprint := sqllog.Fingerprint(plain)
	c := classes[fingerprint]
	if c == nil {
		c = readClass(plain, fingerprint)
		classes[fingerprint] = c
	}
	s := &statement{class: c}
	s.values, s.condition, s.open = identity(text, postgres)
	if c.verb == "INSERT" || c.verb == "REPLACE" {
		s.rows = sqllog.InsertRows(plain)
	}
	return s
}

func readClass(text, fingerprint string) *class {
	c := &class{fingerprint: fingerprint, verb: sqllog.Verb(text), tables: sqllog.Tables(text)}
	if m := reWhere.FindStringSubmatch(fingerprint); m != nil {
		c.where = m[1]
		c.keyed = reKeyed.MatchString(c.where)
	}
	c.reads = c.verb == "SELECT" && !reLocking.MatchString(fingerprint) && !strings.Contains(fingerprint, " INTO ")
	c.repeatable = c.reads && len(c.tables) > 0 && !reVolatile.MatchString(fingerprint)
	c.row = c.repeatable && len(c.tables) == 1 && !reComplex.MatchString(fingerprint) && reEqualities.MatchString(c.where)
	return c
}

// session: a statement about the connection or a transaction, not about rows.
func (s *statement) session() bool {
	switch s.verb {
	case "SET", "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "USE", "SHOW", "PING", "XA", "KILL", "FLUSH", "":
		return true
	case "SELECT":
		return len(s.tables) == 0
	}
	return false
}

// transaction: it begins or ends one, so reads after it may be meant to see
// anew what was read before.
func (s *statement) transaction() bool {
	switch s.verb {
	case "BEGIN", "START", "COMMIT", "ROLLBACK", "XA":
		return true
	}
	return false
}

// writes to one of the tables, or to nobody knows what.
func (s *statement) writes(tables []string) bool {
	if s.reads || s.session() || s.verb == "SELECT" || s.verb == "EXPLAIN" || s.verb == "DESCRIBE" || s.verb == "DESC" {
		return false
	}
	if len(s.tables) == 0 {
		return true // CALL, EXECUTE, …
	}
	for _, t := range s.tables {
		for _, u := range tables {
			if strings.EqualFold(bare(t), bare(u)) {
				return true
			}
		}
	}
	return false
}

// bare leaves the schema out of a table's name.
func bare(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// rowWrite: it writes one row, by value or by key.
func (s *statement) rowWrite() bool {
	switch s.verb {
	case "INSERT", "REPLACE":
		return s.rows == 1
	case "UPDATE", "DELETE":
		return s.keyed
	}
	return false
}
