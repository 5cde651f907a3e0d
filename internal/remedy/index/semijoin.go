package index

import (
	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// semiJoin adds a subquery's tables to the block around it.
func (b *builder) semiJoin(sc *scope, q *ast.SelectStmt) *scope {
	inner := &scope{block: sc.block, outer: sc, correlated: new(bool)}
	before := len(sc.block.accesses)
	b.from(inner, q.From.TableRefs)
	for _, a := range sc.block.accesses[before:] {
		a.semi = true
	}
	b.conditions(inner, q.Where, nil)
	return inner
}

// exists joins an EXISTS that is tied to the query around it by an equality of two
// columns, as the server does (MariaDB Knowledge Base, "EXISTS-to-IN Optimization"; MySQL
// 8.0.16); false if it runs on its own.
func (b *builder) exists(sc *scope, n *ast.ExistsSubqueryExpr, only []*access) bool {
	sub, _ := n.Sel.(*ast.SubqueryExpr)
	if sub == nil || n.Not || only != nil || sc.block.writes || b.depth >= maxDepth {
		return false
	}
	q, ok := sub.Query.(*ast.SelectStmt)
	if !ok || q.GroupBy != nil || q.Having != nil || q.From == nil || q.With != nil || q.Fields == nil {
		return false
	}
	for _, f := range q.Fields.Fields {
		if f.Expr != nil && countAggregates(f.Expr) > 0 {
			return false
		}
	}
	if !b.tied(sc, q) {
		return false
	}
	b.depth++
	defer func() { b.depth-- }()
	b.semiJoin(sc, q)
	return true
}

// tied says whether a subquery compares a column of its own for equality with one of the
// query around it.
func (b *builder) tied(sc *scope, q *ast.SelectStmt) bool {
	notes := b.statement.notes
	defer func() { b.statement.notes = notes }()
	trial := &scope{block: &block{}, outer: sc, correlated: new(bool)}
	b.from(trial, q.From.TableRefs)
	for _, c := range conjuncts(q.Where, nil) {
		n, ok := c.(*ast.BinaryOperationExpr)
		if !ok || n.Op != opcode.EQ {
			continue
		}
		l, _ := b.columnOf(trial, strip(n.L))
		r, _ := b.columnOf(trial, strip(n.R))
		if l != nil && r != nil && (l.block == trial.block && r.block == sc.block || r.block == trial.block && l.block == sc.block) {
			return true
		}
	}
	return false
}
