package index

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/parser"

	"kasoku/internal/evidence"
)

// statement is one statement class and what it reads and writes.
type statement struct {
	evidence.Statement
	at    int // position in the caller's slice
	root  *block
	notes []Note
	base  *estimate // with the existing indexes, once it is known
	// affected: the source counts the rows that statements change.
	affected bool
	// Writes per execution.
	insertInto  *table
	insertRows  float64
	deleteFrom  []*access
	updates     []assignment
	insertBlock bool // rows come from root
}

type assignment struct {
	access *access
	column string
}

func (s *statement) seconds() float64 { return s.Total.Seconds() }

// eligible says whether it reads far more than it returns.
func (s *statement) eligible(o Options) bool {
	if s.root == nil || s.Count <= 0 || s.Total <= 0 {
		return false
	}
	reads := false
	s.root.walk(func(b *block) {
		for _, a := range b.accesses {
			reads = reads || a.table != nil
		}
	})
	if !reads {
		return false
	}
	if s.FullScans > 0 || s.FullJoins > 0 {
		return true
	}
	if s.hidden() {
		return true
	}
	returned := max(s.RowsSent, s.Count)
	return float64(s.RowsExamined) >= o.MinRatio*float64(returned)
}

// hidden says whether the rows examined do not tell why it takes so long: the server leaves
// out index entries that a pushed condition turns down. Where no plan is known, the time
// alone decides.
func (s *statement) hidden() bool {
	entries, slow := evidence.Hidden(s.Statement)
	return slow && (entries > 0 || s.Explain == "")
}

// parse reads a statement with MariaDB's and MySQL's grammar. The library is
// fed text from logs, so its panics become errors.
func parse(text string) (node ast.StmtNode, err error) {
	defer func() {
		if r := recover(); r != nil {
			node, err = nil, fmt.Errorf("the grammar gave up: %v", r)
		}
	}()
	p := parser.New()
	p.SetMariaDB(true)
	nodes, _, err := p.ParseSQL(text)
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("%d statements instead of one", len(nodes))
	}
	return nodes[0], nil
}

// digestText makes a digest parseable: servers write "..." for lists.
func digestText(s string) string {
	s = strings.ReplaceAll(s, "?+", "?")
	return strings.ReplaceAll(s, "...", "?")
}

// newStatement parses the example, or else the fingerprint.
func newStatement(st evidence.Statement, at int, cat *catalog, affected bool) *statement {
	s := &statement{Statement: st, at: at, affected: affected}
	node, err := parse(st.Example)
	if err != nil || st.Example == "" {
		var again error
		if node, again = parse(digestText(st.Fingerprint)); again != nil {
			if s.cutOffInsert(cat) {
				return s
			}
			if err == nil {
				err = again
			}
			s.notes = append(s.notes, Note{Text: fmt.Sprintf("not judged: neither the example nor the fingerprint of the statement can be parsed: %v", err)})
			return s
		}
	}
	b := &builder{catalog: cat, schema: st.Schema, statement: s, ctes: map[string]*block{}}
	b.statementNode(node)
	return s
}

// insertOf is the beginning of an INSERT of values. The record cuts long statements off,
// and values are what makes one long.
var insertOf = regexp.MustCompile("(?is)^\\s*(?:INSERT|REPLACE)\\s+(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE)\\s+)*(?:INTO\\s+)?((?:`[^`]+`|[\\w$]+)(?:\\s*\\.\\s*(?:`[^`]+`|[\\w$]+))?)\\s*(?:\\([^()]*\\)\\s*)?VALUES?\\b")

// cutOffInsert takes a statement that cannot be parsed for an INSERT that was cut off
// within its values; false if it is none of a known table.
func (s *statement) cutOffInsert(cat *catalog) bool {
	m := insertOf.FindStringSubmatch(s.Fingerprint)
	if m == nil {
		return false
	}
	schema, name := s.Schema, strings.ReplaceAll(m[1], "`", "")
	if before, after, ok := strings.Cut(name, "."); ok {
		schema, name = strings.TrimSpace(before), strings.TrimSpace(after)
	}
	s.insertInto, s.insertRows = cat.find(schema, name), 1
	if s.Count > 0 && s.RowsAffected > s.Count {
		s.insertRows = float64(s.RowsAffected) / float64(s.Count)
	}
	return s.insertInto != nil
}

// judged is a single statement, calibrated.
func judged(st evidence.Statement, at int, cat *catalog) *statement {
	s := newStatement(st, at, cat, false)
	calibrate(s)
	return s
}

// calibrate takes the server's counts over the guesses: where a single table's
// conditions alone decide how many rows are sent, their selectivity is known.
func calibrate(s *statement) {
	b := s.root
	if b != nil {
		s.intersected()
	}
	if b == nil || len(b.accesses) != 1 || len(b.subs) > 0 || s.insertInto != nil || s.Count <= 0 {
		return
	}
	a := b.accesses[0]
	if a.table == nil {
		return
	}
	s.planned(a)
	if b.grouped || b.aggregate || s.Sampled > 0 { // what it sends is not known then
		return
	}
	s.frequent(a)
	n := float64(s.Count)
	sent, examined := float64(s.RowsSent)/n, float64(s.RowsExamined)/n
	switch {
	case b.limit > 0 && !b.sorted && s.FullScans > 0 && examined > b.limit:
		// A scan that stops at the limit: the limit's rows were met among
		// those examined, or fewer if that was the whole table.
		found := b.limit
		if !b.writes {
			found = min(found, max(sent, 0.5))
		}
		a.actual = min(1, found/examined)
	case b.writes && s.affected && b.limit == 0 && (len(s.deleteFrom) > 0 || s.RowsAffected > 0):
		// Rows deleted are those that were met. Of an UPDATE the server counts
		// those that it changed: some at least, if any.
		a.actual = min(1, max(float64(s.RowsAffected)/n, 0.5)/a.table.rows)
	case b.writes, b.limit > 0 && sent > b.limit/2:
		return // not sent, or cut off by the limit
	default:
		a.actual = min(1, max(sent, 0.5)/a.table.rows)
	}
	a.fit()
}

// frequentShare of a table's rows: where an index finds that many, servers scan the table
// instead.
const frequentShare = 0.2

// frequent takes an equality that an index serves for one with a frequent value where the
// server scans the table all the same.
func (s *statement) frequent(a *access) {
	if s.FullScans < s.Count || a.block.limit > 0 || a.hinted {
		return
	}
	for _, d := range a.table.indexes {
		for _, p := range a.preds {
			if p.kind == predEqual && p.column == d.columns[0] && a.match(d, nil).used == 1 {
				p.sel = max(a.selectivity(p), frequentShare)
			}
		}
	}
}

// fit makes the conditions agree with the actual share where only one of them
// was a guess.
func (a *access) fit() {
	if a.residual != 1 || len(a.ors) > 1 || len(a.ors) == 1 && len(a.preds) > 0 {
		return
	}
	if len(a.ors) == 1 {
		a.ors[0].scale = a.actual / a.groupShare(a.ors[0])
		return
	}
	if len(a.preds) == 1 {
		a.preds[0].sel = a.actual
		return
	}
	var ranges []*pred
	var rest []float64
	for _, p := range a.preds {
		if p.kind == predRange {
			ranges = append(ranges, p)
			continue
		}
		rest = append(rest, a.selectivity(p))
	}
	if len(ranges) == 1 {
		ranges[0].sel = min(1, max(a.actual/combine(rest), 1/a.table.rows))
	}
	if len(ranges) == 0 && len(rest) > 1 {
		a.fitEqual()
	}
}

// fitEqual blames the least selective of several equalities where fewer rows
// were met than their columns' variety lets expect: the value asked for is rarer
// than the others of a flag or a NULL.
func (a *access) fitEqual() {
	loosest, others := a.preds[0], 1.0
	for _, p := range a.preds {
		if a.selectivity(p) > a.selectivity(loosest) {
			loosest = p
		}
	}
	for _, p := range a.preds {
		if p != loosest {
			others *= a.selectivity(p)
		}
	}
	if sel := max(a.actual/others, 1/a.table.rows); sel < a.selectivity(loosest)/2 {
		loosest.sel = sel
	}
}

// combine the selectivities of conditions on one table. Columns of real tables
// are correlated, so each further condition counts for less: s₁·s₂^½·s₃^¼·…
// with the strongest first (the "exponential back-off" of SQL Server 2014).
func combine(sel []float64) float64 {
	sorted := append([]float64(nil), sel...)
	sortFloats(sorted)
	out, exponent := 1.0, 1.0
	for _, s := range sorted {
		out *= pow(s, exponent)
		exponent /= 2
	}
	return out
}
