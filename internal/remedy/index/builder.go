package index

import (
	"strings"

	"github.com/sqlc-dev/marino/ast"
)

// builder turns a syntax tree into blocks.
type builder struct {
	catalog   *catalog
	schema    string
	statement *statement
	ctes      map[string]*block
	depth     int
}

// scope resolves names: the accesses of one SELECT, then those around it.
type scope struct {
	block    *block
	accesses []*access
	outer    *scope
	fields   []*ast.SelectField
	// correlated is set when a name was found in an outer scope.
	correlated *bool
}

// maxDepth of nested queries; deeper ones are not judged.
const maxDepth = 32

func (b *builder) note(t *table, columns []string, text string) { b.noteDDL(t, columns, text, "") }

func (b *builder) noteDDL(t *table, columns []string, text, ddl string) {
	n := Note{Text: text, DDL: ddl}
	if t != nil {
		n.Table = t.Name
		for _, c := range columns {
			n.Columns = append(n.Columns, t.spelling(c))
		}
	}
	b.statement.notes = append(b.statement.notes, n)
}

func (b *builder) statementNode(node ast.StmtNode) {
	s := b.statement
	switch n := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		s.root, _ = b.query(n, nil)
	case *ast.UpdateStmt:
		b.with(n.With)
		sc := b.writing(n.TableRefs, n.Where, n.Order, n.Limit)
		for _, set := range n.List {
			if a, c := b.resolve(sc, set.Column); a != nil {
				s.updates = append(s.updates, assignment{a, c})
			}
			b.expression(sc, set.Expr)
		}
	case *ast.DeleteStmt:
		b.with(n.With)
		sc := b.writing(n.TableRefs, n.Where, n.Order, n.Limit)
		s.deleteFrom = sc.accesses
		if n.Tables != nil && n.IsMultiTable {
			s.deleteFrom = nil
			for _, t := range n.Tables.Tables {
				for _, a := range sc.accesses {
					if a.alias == t.Name.L {
						s.deleteFrom = append(s.deleteFrom, a)
					}
				}
			}
		}
	case *ast.InsertStmt:
		b.insert(n)
	}
}

func (b *builder) insert(n *ast.InsertStmt) {
	s := b.statement
	if n.Table == nil || n.Table.TableRefs == nil {
		return
	}
	if src, ok := n.Table.TableRefs.Left.(*ast.TableSource); ok {
		if name, ok := src.Source.(*ast.TableName); ok {
			s.insertInto = b.table(name)
		}
	}
	s.insertRows = float64(max(1, len(n.Lists)))
	if n.Select != nil {
		if root, ok := b.query(n.Select, nil); ok {
			s.root, s.insertBlock = root, true
		}
	}
}

func (b *builder) writing(refs *ast.TableRefsClause, where ast.ExprNode, order *ast.OrderByClause, limit *ast.Limit) *scope {
	sc := &scope{block: &block{writes: true}, correlated: new(bool)}
	b.statement.root = sc.block
	if refs != nil {
		b.simplify(refs, where)
		b.from(sc, refs.TableRefs)
	}
	for _, a := range sc.accesses {
		a.all = true
	}
	b.conditions(sc, where, nil)
	b.orderBy(sc, order)
	sc.block.limit = limitRows(limit)
	return sc
}

func (b *builder) with(w *ast.WithClause) {
	if w == nil {
		return
	}
	for _, cte := range w.CTEs {
		if cte.Query == nil {
			continue
		}
		if w.IsRecursive {
			// What a recursive part repeats is not known; its seed is judged.
			b.ctes[cte.Name.L] = &block{aggregate: true}
		}
		if q, ok := b.query(cte.Query.Query, nil); ok {
			b.ctes[cte.Name.L] = q
		}
	}
}

// query builds a SELECT or a UNION. A UNION is a block without tables whose
// parts are subqueries run once.
func (b *builder) query(n ast.Node, outer *scope) (*block, bool) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxDepth {
		return nil, false
	}
	switch q := n.(type) {
	case *ast.SelectStmt:
		sc := &scope{block: &block{}, outer: outer, correlated: new(bool)}
		b.selectInto(sc, q)
		return sc.block, *sc.correlated
	case *ast.SetOprStmt:
		b.with(q.With)
		return b.union(q.SelectList, outer)
	case *ast.SetOprSelectList:
		return b.union(q, outer)
	case *ast.SubqueryExpr:
		return b.query(q.Query, outer)
	case *ast.TableSource:
		return b.query(q.Source, outer)
	}
	return nil, false
}

func (b *builder) union(list *ast.SetOprSelectList, outer *scope) (*block, bool) {
	if list == nil {
		return nil, false
	}
	b.with(list.With)
	out := &block{}
	correlated := false
	for _, part := range list.Selects {
		q, c := b.query(part, outer)
		correlated = correlated || c
		if q != nil {
			out.subs = append(out.subs, subquery{block: q})
		}
	}
	return out, correlated
}

// selectInto adds a SELECT to the scope's block.
func (b *builder) selectInto(sc *scope, q *ast.SelectStmt) {
	b.with(q.With)
	if q.From != nil {
		b.simplify(q.From, q.Where)
		b.from(sc, q.From.TableRefs)
	}
	if q.Fields != nil {
		sc.fields = q.Fields.Fields
	}
	b.conditions(sc, q.Where, nil)
	b.output(sc, q)
	if q.GroupBy != nil {
		b.groupBy(sc, q)
	}
	if q.Having != nil {
		b.expression(sc, q.Having.Expr)
	}
	b.orderBy(sc, q.OrderBy)
	sc.block.limit = limitRows(q.Limit)
}

// output notes which columns the SELECT list needs and what it computes.
func (b *builder) output(sc *scope, q *ast.SelectStmt) {
	aggregates, extremes := 0, 0
	for _, f := range sc.fields {
		if f.WildCard != nil {
			for _, a := range sc.accesses {
				if f.WildCard.Table.L == "" || f.WildCard.Table.L == a.alias {
					a.all = true
				}
			}
			continue
		}
		aggregates += countAggregates(f.Expr)
		if agg, ok := f.Expr.(*ast.AggregateFuncExpr); ok {
			if name := strings.ToLower(agg.F); name == "max" || name == "min" {
				extremes++
				if a, c := b.columnOf(sc, agg.Args[0]); a != nil {
					sc.block.extreme = &extreme{a, c}
				}
			}
		}
		b.expression(sc, f.Expr)
	}
	if aggregates > 0 && q.GroupBy == nil {
		sc.block.aggregate = true
	}
	if q.GroupBy != nil && extremes > 0 && aggregates == extremes {
		sc.block.minmax = true
	}
	if len(sc.fields) != 1 || !sc.block.aggregate {
		sc.block.extreme = nil
	}
	if q.Distinct && q.GroupBy == nil && !sc.block.aggregate {
		b.distinct(sc, q)
	}
}

func (b *builder) orderBy(sc *scope, o *ast.OrderByClause) {
	if o == nil || len(o.Items) == 0 {
		return
	}
	sc.block.sorted = true
	if f, ok := o.Items[0].Expr.(*ast.FuncCallExpr); ok && f.FnName.L == "rand" {
		b.note(nil, nil, "ORDER BY RAND() reads and sorts every row; no index helps: pick random keys in the application")
		return
	}
	items, ok := b.sortItems(sc, o.Items)
	if !ok {
		return
	}
	if it := mixed(items); it != nil && !b.catalog.opts.Descending {
		b.note(it.access.table, []string{it.column}, "ORDER BY mixes ASC and DESC: an ascending index cannot give this order (indexes that descend: MariaDB 10.8, MySQL 8.0)")
		return
	}
	sc.block.order = items
}

// mixed is the first column whose direction is not that of those before it; nil if all
// have one.
func mixed(order []orderColumn) *orderColumn {
	for i := range order {
		if order[i].desc != order[0].desc {
			return &order[i]
		}
	}
	return nil
}

// sortItems resolves ORDER BY or GROUP BY items; ok is false if one is not a
// plain column of this block.
func (b *builder) sortItems(sc *scope, items []*ast.ByItem) (out []orderColumn, ok bool) {
	ok = true
	for _, it := range items {
		e := it.Expr
		if p, is := e.(*ast.PositionExpr); is {
			if p.N < 1 || p.N > len(sc.fields) {
				return nil, false
			}
			e = sc.fields[p.N-1].Expr
		}
		e = strip(e)
		if name, is := e.(*ast.ColumnNameExpr); is && name.Name.Table.L == "" {
			if aliased := sc.field(name.Name.Name.L); aliased != nil {
				e = strip(aliased)
			}
		}
		if e == nil {
			return nil, false
		}
		a, c := b.columnOf(sc, e)
		if a == nil || a.block != sc.block {
			b.expression(sc, e)
			ok = false
			continue
		}
		a.needed[c] = true
		out = append(out, orderColumn{a, c, it.Desc})
	}
	return out, ok
}

// field returns the expression with this alias in the SELECT list.
func (sc *scope) field(alias string) ast.ExprNode {
	for _, f := range sc.fields {
		if f.AsName.L == alias && f.Expr != nil {
			return f.Expr
		}
	}
	return nil
}

func limitRows(l *ast.Limit) float64 {
	if l == nil {
		return 0
	}
	return max(1, number(l.Count, 10)+number(l.Offset, 0))
}

// number of a literal; otherwise when it is a placeholder.
func number(e ast.ExprNode, otherwise float64) float64 {
	v, ok := e.(ast.ValueExpr)
	if !ok || e == nil {
		return otherwise
	}
	switch n := v.GetValue().(type) {
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	}
	return otherwise
}
