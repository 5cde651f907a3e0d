package patch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// texts are the two texts that a local variable may have where it is named: a constant,
// and that with another one added in an if that stands between. nil if that is not how it
// is made.
func (f *file) texts(e ast.Expr) []string {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.pkg.Types.Scope() || f.escapes(v) {
		return nil
	}
	for n := ast.Node(id); ; n = f.parents[n] {
		switch up := f.parents[n].(type) {
		case *ast.CallExpr, *ast.SelectorExpr, *ast.ExprStmt, *ast.DeclStmt, *ast.GenDecl, *ast.ValueSpec:
		case *ast.IfStmt, *ast.AssignStmt:
			if f.assignedFirst(up, n, v) {
				return nil
			}
		case *ast.BlockStmt:
			return f.textsBefore(up.List, n, v)
		default:
			return nil
		}
	}
}

// textsBefore looks for the if and the assignment in the statements before another one.
func (f *file) textsBefore(block []ast.Stmt, before ast.Node, v *types.Var) []string {
	var added string
	for i := len(block) - 1; i >= 0; i-- {
		s := block[i]
		if s.Pos() >= before.Pos() {
			continue
		}
		if _, label := s.(*ast.LabeledStmt); label {
			return nil
		}
		if !f.assignedIn(s, v) {
			continue
		}
		if added == "" {
			if added = f.addedIf(s, v); added == "" {
				return nil
			}
			continue
		}
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
			return nil
		}
		text, known := f.constant(a.Rhs[0])
		if !known || f.info().Types[a.Rhs[0]].Value == nil {
			return nil
		}
		return []string{text, text + added}
	}
	return nil
}

// addedIf is the constant of `if … { v += "…" }`; "" if the statement is something else.
func (f *file) addedIf(s ast.Stmt, v *types.Var) string {
	cond, ok := s.(*ast.IfStmt)
	if !ok || cond.Init != nil || cond.Else != nil || len(cond.Body.List) != 1 || f.assignedIn(cond.Cond, v) {
		return ""
	}
	a, ok := cond.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ADD_ASSIGN || !f.isName(a.Lhs[0], v) || f.info().Types[a.Rhs[0]].Value == nil {
		return ""
	}
	text, _ := f.constant(a.Rhs[0])
	return text
}
