package index

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// conditions adds a WHERE or ON clause. With only not nil, conditions on other
// accesses are not restrictions (an outer join's ON).
func (b *builder) conditions(sc *scope, e ast.ExprNode, only []*access) {
	for _, c := range conjuncts(e, nil) {
		b.condition(sc, c, only)
	}
}

func conjuncts(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	e = strip(e)
	if e == nil {
		return out
	}
	if n, ok := e.(*ast.BinaryOperationExpr); ok && n.Op == opcode.LogicAnd {
		return conjuncts(n.R, conjuncts(n.L, out))
	}
	return append(out, e)
}

func strip(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func (b *builder) condition(sc *scope, e ast.ExprNode, only []*access) {
	switch n := e.(type) {
	case *ast.BinaryOperationExpr:
		b.comparison(sc, n, only)
	case *ast.BetweenExpr:
		b.expression(sc, n.Left)
		b.expression(sc, n.Right)
		kind, sel := predRange, rangeSelectivity*rangeSelectivity
		if n.Not {
			b.residual(sc, n.Expr, 1-sel)
			return
		}
		b.restrict(sc, n.Expr, &pred{kind: kind, sel: sel}, only, n.Left)
	case *ast.PatternInExpr:
		b.in(sc, n, only)
	case *ast.IsNullExpr:
		if n.Not {
			b.residual(sc, n.Expr, 0.9)
			return
		}
		b.restrict(sc, n.Expr, &pred{kind: predEqual, null: true}, only, nil)
	case *ast.PatternLikeOrIlikeExpr:
		b.like(sc, n, only)
	case *ast.ExistsSubqueryExpr:
		if !b.exists(sc, n, only) {
			b.residual(sc, e, 0.5)
		}
	default:
		b.residual(sc, e, 0.5)
	}
}

func (b *builder) comparison(sc *scope, n *ast.BinaryOperationExpr, only []*access) {
	var kind predKind
	switch n.Op {
	case opcode.EQ, opcode.NullEQ:
		kind = predEqual
	case opcode.LT, opcode.LE, opcode.GT, opcode.GE:
		kind = predRange
	case opcode.LogicOr:
		b.or(sc, n, only)
		return
	default:
		b.residual(sc, n, 0.9)
		return
	}
	l, r := strip(n.L), strip(n.R)
	la, lc := b.columnOf(sc, l)
	ra, rc := b.columnOf(sc, r)
	switch {
	case la != nil && ra != nil && la.block == sc.block && ra.block == sc.block:
		if kind == predEqual && la != ra {
			b.joinPred(la, lc, ra, rc, only)
		} else {
			la.residual *= rangeSelectivity
		}
	case b.isLocal(sc, l):
		b.expression(sc, r)
		b.restrict(sc, l, &pred{kind: kind, outer: ra != nil}, only, r)
	default:
		b.expression(sc, l)
		b.restrict(sc, r, &pred{kind: kind, outer: la != nil}, only, l)
	}
}

func (b *builder) joinPred(l *access, lc string, r *access, rc string, only []*access) {
	b.converted(l, lc, r, rc)
	if only == nil {
		joinColumns(l, lc, r, rc)
		return
	}
	l.needed[lc], r.needed[rc] = true, true
	if isOne(only, l) {
		l.preds = append(l.preds, &pred{column: lc, kind: predJoin, other: r, otherColumn: rc})
	}
	if isOne(only, r) {
		r.preds = append(r.preds, &pred{column: rc, kind: predJoin, other: l, otherColumn: lc})
	}
}

// converted notes a text that is joined to a number: the server converts every row's value, so
// an index on the text finds nothing.
func (b *builder) converted(l *access, lc string, r *access, rc string) {
	if l.table == nil || r.table == nil {
		return
	}
	for _, x := range []struct {
		text, number   *access
		column, joined string
	}{{l, r, lc, rc}, {r, l, rc, lc}} {
		text, number := x.text.table.columns[x.column], x.number.table.columns[x.joined]
		base, _ := columnType(text)
		other, _ := columnType(number)
		if textual(base) && base != "enum" && base != "set" && numeric(other) {
			b.note(x.text.table, []string{x.column}, fmt.Sprintf("%s.%s is %s but joined to %s.%s, which is %s: every row's value is converted, and an index on %s cannot be used for the join; give both columns one type",
				x.text.table.Name, text.Name, text.Type, x.number.table.Name, number.Name, number.Type, text.Name))
		}
	}
}

// restrict adds p on e if e is a column of this block that an index could
// serve; otherwise e is only read. against is what it is compared with.
func (b *builder) restrict(sc *scope, e ast.ExprNode, p *pred, only []*access, against ast.ExprNode) {
	e = strip(e)
	a, c := b.columnOf(sc, e)
	if a == nil || a.block != sc.block || a.table == nil {
		b.wrapped(sc, e)
		b.residual(sc, e, map[predKind]float64{predEqual: 0.1, predIn: 0.1, predRange: rangeSelectivity}[p.kind])
		return
	}
	if only != nil && !isOne(only, a) {
		return
	}
	col := a.table.columns[c]
	if base, _ := columnType(col); textual(base) && base != "enum" && base != "set" && isNumber(against) {
		b.note(a.table, []string{c}, fmt.Sprintf("%s is %s but compared with a number, which converts every row's value: no index can be used; write the value as a string", col.Name, col.Type))
		a.residual *= 0.1
		return
	}
	p.column = c
	a.preds = append(a.preds, p)
}

// residual reads e's columns and narrows the first access it mentions.
func (b *builder) residual(sc *scope, e ast.ExprNode, sel float64) {
	v := &columnFinder{b: b, sc: sc}
	if e != nil {
		e.Accept(v)
	}
	if v.access != nil {
		v.access.residual *= sel
	}
	b.expression(sc, e)
}

func (b *builder) like(sc *scope, n *ast.PatternLikeOrIlikeExpr, only []*access) {
	if n.Not {
		b.residual(sc, n, 0.9)
		return
	}
	v, ok := n.Pattern.(ast.ValueExpr)
	if _, marker := n.Pattern.(ast.ParamMarkerExpr); marker || !ok {
		b.residual(sc, n, 0.1)
		return
	}
	pattern := v.GetString()
	if strings.HasPrefix(pattern, "%") || strings.HasPrefix(pattern, "_") {
		if a, c := b.columnOf(sc, strip(n.Expr)); a != nil && a.table != nil {
			b.wildcard(a.table, c)
		}
		b.residual(sc, n, 0.1)
		return
	}
	// A fixed beginning of some letters: one in 50, or one row in 1/distinct
	// without any wildcard.
	p := &pred{kind: predRange, sel: 0.02}
	if !strings.ContainsAny(pattern, "%_") {
		p = &pred{kind: predEqual}
	}
	b.restrict(sc, n.Expr, p, only, nil)
}

func (b *builder) in(sc *scope, n *ast.PatternInExpr, only []*access) {
	if n.Sel != nil {
		b.inQuery(sc, n, only)
		return
	}
	for _, v := range n.List {
		b.expression(sc, v)
	}
	if n.Not {
		b.residual(sc, n.Expr, 0.9)
		return
	}
	count := float64(len(n.List))
	if row, ok := strip(n.Expr).(*ast.RowExpr); ok {
		for _, v := range row.Values {
			b.restrict(sc, v, &pred{kind: predIn, n: count}, only, nil)
		}
		return
	}
	p := &pred{kind: predIn, n: count}
	if count == 1 {
		p.kind = predEqual
	}
	b.restrict(sc, n.Expr, p, only, n.List[0])
}

// inQuery joins the subquery's tables (a semi-join) where it is simple;
// otherwise it runs on its own.
func (b *builder) inQuery(sc *scope, n *ast.PatternInExpr, only []*access) {
	sub, _ := n.Sel.(*ast.SubqueryExpr)
	if sub == nil {
		return
	}
	q, simple := sub.Query.(*ast.SelectStmt)
	simple = simple && !n.Not && only == nil && q.GroupBy == nil && q.Having == nil && q.Limit == nil &&
		q.From != nil && q.Fields != nil && len(q.Fields.Fields) == 1 && q.Fields.Fields[0].Expr != nil &&
		countAggregates(q.Fields.Fields[0].Expr) == 0
	la, lc := b.columnOf(sc, strip(n.Expr))
	if !simple || la == nil || la.block != sc.block || b.depth >= maxDepth {
		b.expression(sc, n.Expr)
		b.sub(sc, sub, true)
		return
	}
	b.depth++
	defer func() { b.depth-- }()
	b.with(q.With)
	inner := b.semiJoin(sc, q)
	if ra, rc := b.columnOf(inner, strip(q.Fields.Fields[0].Expr)); ra != nil && ra.block == sc.block && ra != la {
		joinColumns(la, lc, ra, rc)
	}
}

func isOne(list []*access, a *access) bool {
	for _, x := range list {
		if x == a {
			return true
		}
	}
	return false
}
