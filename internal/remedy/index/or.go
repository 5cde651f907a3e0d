package index

import (
	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// orGroup is an OR whose arms all restrict one access. The server reads each arm by an
// index of its own and puts the rows together (MariaDB Knowledge Base, "Fair Choice
// Between Range and Index_merge Optimization"; MySQL 8.0 Reference Manual, "Index Merge
// Optimization"), or all of them by one index.
type orGroup struct {
	arms []arm
	// scale corrects the arms' shares where the server's counts tell what they meet
	// together; 0: not known.
	scale float64
}

// arm is one side of an OR.
type arm struct {
	preds    []*pred
	residual float64 // share that meets conditions which no index serves
}

// or is an IN list if all arms compare one column with constants, else a group if each has
// a condition on one and the same table that an index could serve.
func (b *builder) or(sc *scope, n *ast.BinaryOperationExpr, only []*access) {
	parts := disjuncts(n, nil)
	if a, column, values := b.sameColumn(sc, parts); a != nil {
		if only == nil || isOne(only, a) {
			a.preds = append(a.preds, &pred{column: column, kind: predIn, n: values})
		}
		return
	}
	var target *access
	g := &orGroup{}
	tables := map[*access]bool{}
	for _, part := range parts {
		x, touched := b.arm(sc, part)
		for _, a := range touched {
			tables[a] = true
			target = a
		}
		g.arms = append(g.arms, x)
	}
	switch {
	case len(tables) == 1 && g.served():
		if only == nil || isOne(only, target) {
			target.ors = append(target.ors, g)
		}
		return
	case len(tables) > 1:
		b.note(nil, nil, "OR joins conditions on several tables: no index serves them; a UNION of one SELECT per table can use one each")
	case target != nil && target.table != nil:
		b.note(target.table, nil, "OR with a condition that no index serves: the table is read whole whatever the other one says; a UNION does not help either until that condition can use an index")
	}
	if a := sc.first(tables); a != nil {
		a.residual *= 0.5
	}
}

// first of the accesses, in the order of the FROM clause.
func (sc *scope) first(of map[*access]bool) *access {
	for _, a := range sc.block.accesses {
		if of[a] {
			return a
		}
	}
	return nil
}

// served says whether every arm has a condition for an index.
func (g *orGroup) served() bool {
	for _, x := range g.arms {
		if len(x.preds) == 0 {
			return false
		}
	}
	return true
}

// arm reads one side of an OR: its conditions are taken as if they stood alone, and taken
// away again from the accesses that they were added to.
func (b *builder) arm(sc *scope, e ast.ExprNode) (arm, []*access) {
	type before struct {
		preds    []*pred
		ors      []*orGroup
		residual float64
	}
	saved := map[*access]before{}
	for _, a := range sc.block.accesses {
		saved[a] = before{a.preds, a.ors, a.residual}
		a.preds, a.ors, a.residual = nil, nil, 1
	}
	for _, c := range conjuncts(e, nil) {
		b.condition(sc, c, nil)
	}
	out := arm{residual: 1}
	var touched []*access
	for _, a := range sc.block.accesses {
		if len(a.preds) > 0 || len(a.ors) > 0 || a.residual != 1 {
			touched = append(touched, a)
			out.preds = append(out.preds, a.preds...)
			out.residual *= a.residual
			for _, g := range a.ors { // an OR within an arm
				out.residual *= a.groupShare(g)
			}
		}
		a.preds, a.ors, a.residual = saved[a].preds, saved[a].ors, saved[a].residual
	}
	return out, touched
}

// sameColumn of equalities with constants, and how many values there are; nil if they are
// of several columns, or something else.
func (b *builder) sameColumn(sc *scope, parts []ast.ExprNode) (target *access, column string, values float64) {
	for _, part := range parts {
		a, c, count := b.equality(sc, part)
		if a == nil || target != nil && (a != target || c != column) {
			return nil, "", 0
		}
		target, column = a, c
		values += count
	}
	return target, column, values
}

func disjuncts(e ast.ExprNode, out []ast.ExprNode) []ast.ExprNode {
	e = strip(e)
	if n, ok := e.(*ast.BinaryOperationExpr); ok && n.Op == opcode.LogicOr {
		return disjuncts(n.R, disjuncts(n.L, out))
	}
	return append(out, e)
}

// equality of one bare column of this block with n constants.
func (b *builder) equality(sc *scope, e ast.ExprNode) (a *access, column string, n float64) {
	switch x := e.(type) {
	case *ast.BinaryOperationExpr:
		if x.Op != opcode.EQ {
			return nil, "", 0
		}
		l, r := strip(x.L), strip(x.R)
		if !b.isLocal(sc, l) {
			l, r = r, l
		}
		if b.isLocal(sc, r) {
			return nil, "", 0
		}
		a, column = b.columnOf(sc, l)
		n = 1
	case *ast.PatternInExpr:
		if x.Not || x.Sel != nil {
			return nil, "", 0
		}
		a, column = b.columnOf(sc, strip(x.Expr))
		n = float64(len(x.List))
	}
	if a == nil || a.table == nil || a.block != sc.block {
		return nil, "", 0
	}
	return a, column, n
}

// armShare is the share of the table's rows that meets an arm.
func (a *access) armShare(x arm) float64 {
	var sel []float64
	for _, p := range x.preds {
		sel = append(sel, a.selectivity(p))
	}
	return combine(sel) * x.residual
}

// groupShare is the share of the table's rows that meets one of the arms.
func (a *access) groupShare(g *orGroup) float64 {
	sum := 0.0
	for _, x := range g.arms {
		sum += a.armShare(x)
	}
	if g.scale > 0 {
		sum *= g.scale
	}
	return min(1, sum)
}
