package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// mayPanic: an expression that the loop asks for in its turns cannot be asked for before
// it, as far as the code before the loop shows: it looks behind a pointer that may be nil
// there, or divides. What handles are asked of is there, as their own place tells.
func (f *file) mayPanic(e ast.Expr, loop ast.Node, handles ...ast.Expr) bool {
	may := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			chosen := f.info().Selections[n]
			if chosen == nil || chosen.Kind() != types.FieldVal || !chosen.Indirect() {
				break
			}
			id, ok := ast.Unparen(n.X).(*ast.Ident)
			if !ok || len(chosen.Index()) != 1 {
				may = true
				break
			}
			v, _ := f.info().Uses[id].(*types.Var)
			known := slices.ContainsFunc(handles, func(h ast.Expr) bool { return v != nil && f.behind(h, v) })
			may = may || v == nil || !known && !f.thereBefore(v, loop)
		case *ast.StarExpr, *ast.IndexExpr:
			may = true
		case *ast.BinaryExpr:
			may = may || (n.Op == token.QUO || n.Op == token.REM) && f.info().Types[n.Y].Value == nil
		}
		return !may
	})
	return may
}

// thereBefore: a pointer is a method's receiver, or has been looked behind, or asked for
// nil, in a statement that is always run before another one.
func (f *file) thereBefore(v *types.Var, n ast.Node) bool {
	if d, ok := enclosing[*ast.FuncDecl](f, n); ok && d.Recv != nil && len(d.Recv.List) == 1 && len(d.Recv.List[0].Names) == 1 && f.defined(d.Recv.List[0].Names[0]) == v {
		return true
	}
	if f.program.assigned[v] {
		return false
	}
	for up := f.parents[n]; up != nil; n, up = up, f.parents[up] {
		var block []ast.Stmt
		switch up := up.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			block = up.List
		case *ast.CaseClause:
			block = up.Body
		case *ast.IfStmt:
			if n == up.Body && f.asksNil(up.Cond, v, token.NEQ) {
				return true
			}
		}
		for _, s := range block {
			if s.Pos() < n.Pos() && f.looksBehind(s, v) {
				return true
			}
		}
	}
	return false
}

// looksBehind: a statement looks behind the pointer whenever it is run, or ends what comes
// after it where there is nothing.
func (f *file) looksBehind(s ast.Stmt, v *types.Var) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		if s.Init == nil && s.Else == nil && f.asksNil(s.Cond, v, token.EQL) && ends(s.Body) {
			return true
		}
		return s.Init != nil && f.looksBehind(s.Init, v) || f.behind(s.Cond, v)
	case *ast.RangeStmt:
		return f.behind(s.X, v)
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt:
		return f.behind(s, v)
	}
	return false
}

// ends: a block ends with a return.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

// asksNil: a condition is `v op nil`, or for != one of several that must all be true.
func (f *file) asksNil(cond ast.Expr, v *types.Var, op token.Token) bool {
	c, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if c.Op == token.LAND && op == token.NEQ || c.Op == token.LOR && op == token.EQL {
		return f.asksNil(c.X, v, op) || f.asksNil(c.Y, v, op)
	}
	return c.Op == op && f.isName(c.X, v) && f.info().Types[c.Y].IsNil()
}

// behind: a node looks behind the pointer, not only perhaps.
func (f *file) behind(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				found = found || f.behind(n.X, v)
				return false
			}
		case *ast.SelectorExpr:
			if chosen := f.info().Selections[n]; chosen != nil && chosen.Kind() == types.FieldVal && isPointer(f.info().TypeOf(n.X)) && f.isName(n.X, v) {
				found = true
			}
		case *ast.StarExpr:
			found = found || f.info().Types[n].IsValue() && f.isName(n.X, v)
		}
		return !found
	})
	return found
}
