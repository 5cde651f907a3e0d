package index

import (
	"github.com/sqlc-dev/marino/ast"
)

// table finds a named table; nil if it is not one of the catalog.
func (b *builder) table(n *ast.TableName) *table {
	schema := n.Schema.L
	if schema == "" {
		schema = b.schema
	}
	return b.catalog.find(schema, n.Name.L)
}

// from adds the tables of a FROM clause and the conditions of its joins. It
// returns the accesses it added.
func (b *builder) from(sc *scope, n ast.ResultSetNode) []*access {
	switch f := n.(type) {
	case *ast.Join:
		if f == nil {
			return nil
		}
		return b.join(sc, f)
	case *ast.TableSource:
		a := b.source(sc, f)
		sc.accesses = append(sc.accesses, a)
		sc.block.accesses = append(sc.block.accesses, a)
		return []*access{a}
	}
	return nil
}

func (b *builder) source(sc *scope, f *ast.TableSource) *access {
	a := &access{block: sc.block, alias: f.AsName.L, needed: map[string]bool{}, residual: 1}
	switch src := f.Source.(type) {
	case *ast.TableName:
		if a.alias == "" {
			a.alias = src.Name.L
		}
		if q := b.ctes[src.Name.L]; q != nil && src.Schema.L == "" {
			a.derived = q
			return a
		}
		a.table = b.table(src)
		for _, h := range src.IndexHints {
			if h.HintType == ast.HintUse || h.HintType == ast.HintForce {
				a.hinted = true
				b.note(a.table, nil, "the statement names its index itself (USE or FORCE INDEX): a new one would not be used")
			}
		}
	default:
		outer := sc.outer
		if f.Lateral {
			outer = sc
		}
		a.derived, _ = b.query(f.Source, outer)
	}
	return a
}

func (b *builder) join(sc *scope, j *ast.Join) []*access {
	left, right := j.Left, j.Right
	if j.Tp == ast.RightJoin {
		left, right = right, left
	}
	var l, r []*access
	l = b.from(sc, left)
	if right != nil {
		r = b.from(sc, right)
	}
	outer := j.Tp == ast.LeftJoin || j.Tp == ast.RightJoin
	if outer || j.StraightJoin {
		for _, a := range r {
			a.after = append(a.after, l...)
		}
	}
	if j.On != nil {
		only := []*access(nil) // an outer join's ON restricts its inner side alone
		if outer {
			only = r
		}
		b.conditions(sc, j.On.Expr, only)
	}
	for _, u := range j.Using {
		b.using(l, r, u.Name.L)
	}
	if j.NaturalJoin {
		for _, a := range l {
			for _, c := range sortedColumns(a.table) {
				b.using([]*access{a}, r, c)
			}
		}
	}
	return append(l, r...)
}

// using joins the first access of either side that has the column.
func (b *builder) using(l, r []*access, column string) {
	left, right := withColumn(l, column), withColumn(r, column)
	if left == nil || right == nil {
		return
	}
	joinColumns(left, column, right, column)
}

func joinColumns(l *access, lc string, r *access, rc string) {
	l.needed[lc], r.needed[rc] = true, true
	l.preds = append(l.preds, &pred{column: lc, kind: predJoin, other: r, otherColumn: rc})
	r.preds = append(r.preds, &pred{column: rc, kind: predJoin, other: l, otherColumn: lc})
}

func withColumn(list []*access, column string) *access {
	for _, a := range list {
		if a.table != nil {
			if _, ok := a.table.columns[column]; ok {
				return a
			}
		}
	}
	return nil
}

func sortedColumns(t *table) []string {
	if t == nil {
		return nil
	}
	return sortedKeys(t.columns)
}

// resolve finds a column's access: first in the scope, then around it. A
// derived table's columns are not known; it is found by its alias only.
func (b *builder) resolve(sc *scope, n *ast.ColumnName) (*access, string) {
	for s, crossed := sc, []*scope(nil); s != nil; s = s.outer {
		if a := s.lookup(n); a != nil {
			for _, c := range crossed {
				*c.correlated = true
			}
			if a.table != nil {
				a.needed[n.Name.L] = true
			}
			return a, n.Name.L
		}
		crossed = append(crossed, s)
	}
	return nil, ""
}

func (sc *scope) lookup(n *ast.ColumnName) *access {
	if n.Table.L != "" {
		for _, a := range sc.accesses {
			if a.alias == n.Table.L {
				return a
			}
		}
		return nil
	}
	if a := withColumn(sc.accesses, n.Name.L); a != nil {
		return a
	}
	// Without an alias a column may be a derived table's only if that is the
	// only table.
	if len(sc.accesses) == 1 && sc.accesses[0].table == nil {
		return sc.accesses[0]
	}
	return nil
}
