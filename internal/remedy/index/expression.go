package index

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// columnOf returns the access and name of a bare column; nil otherwise.
func (b *builder) columnOf(sc *scope, e ast.ExprNode) (*access, string) {
	n, ok := e.(*ast.ColumnNameExpr)
	if !ok {
		return nil, ""
	}
	return b.resolve(sc, n.Name)
}

// isLocal says whether e mentions a column of this block.
func (b *builder) isLocal(sc *scope, e ast.ExprNode) bool {
	v := &columnFinder{b: b, sc: sc}
	if e != nil {
		e.Accept(v)
	}
	return v.access != nil
}

// columnFinder collects the columns of the scope's block, not descending into
// subqueries.
type columnFinder struct {
	b      *builder
	sc     *scope
	access *access
	found  []string
}

func (v *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SubqueryExpr:
		return n, true
	case *ast.ColumnNameExpr:
		if a, c := v.b.resolve(v.sc, x.Name); a != nil && a.block == v.sc.block {
			if v.access == nil {
				v.access = a
			}
			v.found = append(v.found, c)
		}
		return n, true
	}
	return n, false
}

func (v *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// expression notes the columns that e reads and adds its subqueries.
func (b *builder) expression(sc *scope, e ast.ExprNode) {
	if e != nil {
		e.Accept(&reader{b: b, sc: sc})
	}
}

type reader struct {
	b  *builder
	sc *scope
}

func (v *reader) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr:
		v.b.resolve(v.sc, x.Name)
		return n, true
	case *ast.PatternInExpr:
		if sub, ok := x.Sel.(*ast.SubqueryExpr); ok {
			v.b.expression(v.sc, x.Expr)
			v.b.sub(v.sc, sub, true)
			return n, true
		}
	case *ast.ExistsSubqueryExpr:
		if sub, ok := x.Sel.(*ast.SubqueryExpr); ok {
			v.b.sub(v.sc, sub, true)
		}
		return n, true
	case *ast.SubqueryExpr:
		v.b.sub(v.sc, x, false)
		return n, true
	}
	return n, false
}

func (v *reader) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// sub adds a subquery that runs on its own.
func (b *builder) sub(sc *scope, e *ast.SubqueryExpr, list bool) {
	q, correlated := b.query(e, sc)
	if q == nil {
		return
	}
	if list && q.limit == 0 && correlated {
		q.limit = 1 // EXISTS stops at the first row
	}
	sc.block.subs = append(sc.block.subs, subquery{block: q, perRow: correlated, list: list})
}

func isNumber(e ast.ExprNode) bool {
	if e == nil {
		return false
	}
	e = strip(e)
	if u, ok := e.(*ast.UnaryOperationExpr); ok && u.Op == opcode.Minus {
		e = strip(u.V)
	}
	v, ok := e.(*ast.ValueExprBase)
	if !ok {
		return false
	}
	switch v.Kind() {
	case ast.KindInt64, ast.KindUint64, ast.KindFloat32, ast.KindFloat64, ast.KindMysqlDecimal:
		return true
	}
	return false
}

func countAggregates(e ast.ExprNode) int {
	if e == nil {
		return 0
	}
	v := &aggregateCounter{}
	e.Accept(v)
	return v.n
}

type aggregateCounter struct{ n int }

func (v *aggregateCounter) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.SubqueryExpr:
		return n, true
	case *ast.AggregateFuncExpr:
		v.n++
		return n, true
	}
	return n, false
}

func (v *aggregateCounter) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func sortFloats(f []float64)   { slices.Sort(f) }
func pow(x, y float64) float64 { return math.Pow(x, y) }
func sortedKeys[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), cmp.Compare[string])
}
