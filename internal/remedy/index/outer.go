package index

import (
	"slices"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"
)

// sources of a FROM clause by the name that columns carry; the table is nil where it is
// derived or not known.
type sources []source

type source struct {
	alias string
	table *table
}

// simplify turns outer joins into inner ones where a condition that holds for every row of
// the answer is never true of the NULLs that an outer join fills in: then the order of the
// tables is free, and the conditions of its ON restrict both sides. Both servers do so (MySQL
// Reference Manual, "Outer Join Optimization" and "Nested Join Optimization").
func (b *builder) simplify(refs *ast.TableRefsClause, where ast.ExprNode) {
	if refs == nil || refs.TableRefs == nil {
		return
	}
	s := b.sources(refs.TableRefs, nil)
	s.simplify(refs.TableRefs, s.rejected(where))
}

func (b *builder) sources(n ast.ResultSetNode, out sources) sources {
	switch f := n.(type) {
	case *ast.Join:
		if f != nil {
			return b.sources(f.Right, b.sources(f.Left, out))
		}
	case *ast.TableSource:
		have := source{alias: aliasOf(f)}
		if name, ok := f.Source.(*ast.TableName); ok && (b.ctes[name.Name.L] == nil || name.Schema.L != "") {
			have.table = b.table(name)
		}
		return append(out, have)
	}
	return out
}

// aliasOf is the name that columns of a table carry; "" if it has none.
func aliasOf(f *ast.TableSource) string {
	if name, ok := f.Source.(*ast.TableName); ok && f.AsName.L == "" {
		return name.Name.L
	}
	return f.AsName.L
}

// within says whether an alias is one of a join's.
func within(n ast.ResultSetNode, alias string) bool {
	switch f := n.(type) {
	case *ast.Join:
		return f != nil && (within(f.Left, alias) || within(f.Right, alias))
	case *ast.TableSource:
		return aliasOf(f) == alias
	}
	return false
}

// simplify a join of which no row of the answer has NULLs for the aliases given.
func (s sources) simplify(n ast.ResultSetNode, known []string) {
	j, ok := n.(*ast.Join)
	if !ok || j == nil {
		return
	}
	inner := j.Right
	if j.Tp == ast.RightJoin {
		inner = j.Left
	}
	if j.Tp == ast.LeftJoin || j.Tp == ast.RightJoin {
		if !slices.ContainsFunc(s, func(a source) bool { return slices.Contains(known, a.alias) && within(inner, a.alias) }) {
			s.outer(j, inner, known)
			return
		}
		j.Tp = ast.CrossJoin
	}
	if j.On != nil {
		known = append(slices.Clone(known), s.rejected(j.On.Expr)...)
	}
	s.simplify(j.Left, known)
	s.simplify(j.Right, known)
}

// outer is a join that stays: its ON holds for the joined rows of its inner side alone.
func (s sources) outer(j *ast.Join, inner ast.ResultSetNode, known []string) {
	joined := slices.Clone(known)
	if j.On != nil {
		joined = append(joined, s.rejected(j.On.Expr)...)
	}
	s.simplify(inner, joined)
	if inner == j.Right {
		s.simplify(j.Left, known)
		return
	}
	s.simplify(j.Right, known)
}

// rejected are the aliases of which a condition is not true where they hold NULLs only.
func (s sources) rejected(e ast.ExprNode) []string {
	switch n := strip(e).(type) {
	case *ast.BinaryOperationExpr:
		return s.compared(n)
	case *ast.PatternInExpr:
		if n.Not && n.Sel != nil { // true of everything where the subquery has no rows
			return nil
		}
		return s.strict(n.Expr)
	case *ast.PatternLikeOrIlikeExpr:
		return s.strict(n.Expr)
	case *ast.PatternRegexpExpr:
		return s.strict(n.Expr)
	case *ast.BetweenExpr:
		if n.Not { // one bound may decide it
			return s.strict(n.Expr)
		}
		return append(append(s.strict(n.Expr), s.strict(n.Left)...), s.strict(n.Right)...)
	case *ast.IsNullExpr:
		if n.Not {
			return s.strict(n.Expr)
		}
	case *ast.ColumnNameExpr:
		return s.strict(n)
	}
	return nil
}

func (s sources) compared(n *ast.BinaryOperationExpr) []string {
	switch n.Op {
	case opcode.LogicAnd:
		return append(s.rejected(n.L), s.rejected(n.R)...)
	case opcode.LogicOr:
		right := s.rejected(n.R)
		return slices.DeleteFunc(s.rejected(n.L), func(a string) bool { return !slices.Contains(right, a) })
	case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE:
		return append(s.strict(n.L), s.strict(n.R)...)
	}
	return nil
}

// strict are the aliases with whose NULLs an expression is NULL. Functions are left out, as
// some give a value for NULL.
func (s sources) strict(e ast.ExprNode) []string {
	switch n := strip(e).(type) {
	case *ast.ColumnNameExpr:
		return s.of(n.Name)
	case *ast.UnaryOperationExpr:
		if n.Op == opcode.Minus || n.Op == opcode.Plus {
			return s.strict(n.V)
		}
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.Plus, opcode.Minus, opcode.Mul, opcode.Div, opcode.Mod, opcode.IntDiv:
			return append(s.strict(n.L), s.strict(n.R)...)
		}
	}
	return nil
}

func (s sources) of(n *ast.ColumnName) []string {
	if n.Table.L != "" {
		return []string{n.Table.L}
	}
	for _, have := range s {
		if have.table == nil {
			continue
		}
		if _, ok := have.table.columns[n.Name.L]; ok {
			return []string{have.alias}
		}
	}
	return nil
}
