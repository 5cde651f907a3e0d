package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// reaching is the constant text that a local variable has where it is named, if it was
// assigned in a statement that stands before in the same block, or in one around it, and
// nothing between may assign it. A variable that a function literal assigns, or whose
// address is taken, is not known.
func (f *file) reaching(id *ast.Ident) (string, bool) {
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.pkg.Types.Scope() || f.escapes(v) {
		return "", false
	}
	for n := ast.Node(id); ; n = f.parents[n] {
		switch up := f.parents[n].(type) {
		case nil, *ast.FuncDecl, *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.LabeledStmt:
			return "", false
		case *ast.ForStmt, *ast.RangeStmt:
			if f.assignedIn(up, v) {
				return "", false // by the turn before, or its own header
			}
		case *ast.IfStmt, *ast.SwitchStmt, *ast.AssignStmt:
			if f.assignedFirst(up, n, v) {
				return "", false
			}
		case *ast.BlockStmt:
			if text, found, known := f.lastBefore(up.List, n, v); found {
				return text, known
			}
		case *ast.CaseClause:
			if text, found, known := f.lastBefore(up.Body, n, v); found {
				return text, known
			}
		}
	}
}

// assignedFirst: a statement may assign the variable before what stands in it is run, or
// assigns it itself.
func (f *file) assignedFirst(s, in ast.Node, v *types.Var) bool {
	var first ast.Stmt
	switch s := s.(type) {
	case *ast.IfStmt:
		first = s.Init
	case *ast.SwitchStmt:
		first = s.Init
	case *ast.AssignStmt:
		return slices.ContainsFunc(s.Lhs, func(l ast.Expr) bool { return f.isName(l, v) })
	}
	return first != nil && in != first && f.assignedIn(first, v)
}

// lastBefore looks for the last statement of a block before another one that assigns the
// variable.
func (f *file) lastBefore(block []ast.Stmt, before ast.Node, v *types.Var) (text string, found, known bool) {
	for i := len(block) - 1; i >= 0; i-- {
		s := block[i]
		if s.Pos() >= before.Pos() || !f.assignedIn(s, v) {
			if _, label := s.(*ast.LabeledStmt); label && s.Pos() < before.Pos() {
				return "", true, false // something may jump to it
			}
			continue
		}
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE || f.info().Types[a.Rhs[0]].Value == nil {
			return "", true, false
		}
		text, known = f.constant(a.Rhs[0])
		return text, true, known
	}
	return "", false, false
}

func (f *file) isName(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && (f.info().Uses[id] == v || f.info().Defs[id] == v)
}

// assignedIn: a statement, or one within it, makes or assigns the variable.
func (f *file) assignedIn(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(l ast.Expr) bool { return f.isName(l, v) })
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return f.info().Defs[id] == v })
		case *ast.RangeStmt:
			found = found || n.Key != nil && f.isName(n.Key, v) || n.Value != nil && f.isName(n.Value, v)
		}
		return !found
	})
	return found
}

// escapes: a function literal assigns the variable, or its address is taken.
func (f *file) escapes(v *types.Var) bool {
	found := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && f.isName(n.X, v)
		case *ast.FuncLit:
			found = found || (v.Pos() < n.Pos() || v.Pos() >= n.End()) && f.assignedIn(n, v)
		}
		return !found
	})
	return found
}
