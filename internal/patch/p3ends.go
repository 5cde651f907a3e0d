package patch

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// checkEnd: the loop goes to its end, or ends early where that changes nothing. A break
// leads to the statement behind the loop, which has what was gathered until then. A return
// that refuses the request ends a transaction of the function's own with it, so that it
// does not matter whether rows were in it.
func (w *insertLoop) checkEnd() *Refusal {
	if w.loop.rows != nil { // which are then read to their end before the loop
		return w.loop.toEnd()
	}
	undone := w.rollsBackItself()
	return w.loop.endsBy(func(r *ast.ReturnStmt) bool {
		return w.f.returnsError(r) || (undone || w.rollsBackBefore(r)) && (w.f.returnsMadeError(r) || w.f.refusesRequest(r))
	}, true)
}

// rollsBackBefore: a statement before a return, in the same block, rolls back.
func (w *insertLoop) rollsBackBefore(r *ast.ReturnStmt) bool {
	id, ok := ast.Unparen(w.handle).(*ast.Ident)
	block, inBlock := w.f.parents[r].(*ast.BlockStmt)
	if !ok || !inBlock {
		return false
	}
	v, _ := w.f.info().Uses[id].(*types.Var)
	return v != nil && slices.ContainsFunc(block.List, func(s ast.Stmt) bool {
		call, ok := s.(*ast.ExprStmt)
		return ok && w.f.isRollback(call.X, v)
	})
}

// rollsBackItself: the function around the loop makes the transaction, and rolls it back
// however it ends: by a defer whose block holds the loop, and by none that does more.
func (w *insertLoop) rollsBackItself() bool {
	f := w.f
	id, ok := ast.Unparen(w.handle).(*ast.Ident)
	if !ok {
		return false
	}
	v, _ := f.info().Uses[id].(*types.Var)
	body := f.bodyAround(w.call)
	if v == nil || body == nil || v.Pos() <= body.Lbrace || v.Pos() >= body.Rbrace {
		return false
	}
	deferred, sure := false, true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			if !f.namesVar(n, v) {
				return true
			}
			sure = sure && f.onlyRollsBack(n.Call, v)
			block, ok := f.parents[n].(*ast.BlockStmt)
			deferred = deferred || ok && n.Pos() < w.loop.node.Pos() && block.Pos() <= w.loop.node.Pos() && w.loop.node.End() <= block.End()
		case *ast.AssignStmt:
			sure = sure && !slices.ContainsFunc(n.Lhs, func(l ast.Expr) bool { id, ok := l.(*ast.Ident); return ok && f.info().Uses[id] == v })
		case *ast.UnaryExpr:
			sure = sure && !(n.Op == token.AND && f.isName(n.X, v))
		}
		return true
	})
	return deferred && sure
}

func (f *file) namesVar(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.info().Uses[id] == v
		return !found
	})
	return found
}

// onlyRollsBack: what is deferred rolls a transaction back first, under no condition.
func (f *file) onlyRollsBack(call *ast.CallExpr, v *types.Var) bool {
	if f.isRollback(call, v) {
		return true
	}
	lit, ok := call.Fun.(*ast.FuncLit)
	if !ok || len(lit.Body.List) == 0 {
		return false
	}
	first := lit.Body.List[0]
	if s, ok := first.(*ast.IfStmt); ok && s.Init != nil {
		first = s.Init
	}
	switch s := first.(type) {
	case *ast.ExprStmt:
		return f.isRollback(s.X, v)
	case *ast.AssignStmt:
		return len(s.Rhs) == 1 && f.isRollback(s.Rhs[0], v)
	}
	return false
}

func (f *file) isRollback(e ast.Expr, v *types.Var) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Rollback" && f.isName(sel.X, v)
}

// refusesRequest: a return, or the statement in front of it, answers with a status of HTTP
// from 400 on, which is a constant.
func (f *file) refusesRequest(r *ast.ReturnStmt) bool {
	if slices.ContainsFunc(r.Results, f.tellsRefusal) {
		return true
	}
	var list []ast.Stmt
	switch at := f.parents[r].(type) {
	case *ast.BlockStmt:
		list = at.List
	case *ast.CaseClause:
		list = at.Body
	}
	i := slices.Index(list, ast.Stmt(r))
	if len(r.Results) > 0 || i < 1 {
		return false
	}
	s, ok := list[i-1].(*ast.ExprStmt)
	return ok && f.tellsRefusal(s.X)
}

// tellsRefusal: a call of another package that is given such a status, as http.Error,
// c.JSON and echo.NewHTTPError are.
func (f *file) tellsRefusal(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
		v := f.info().Types[a].Value
		if v == nil || v.Kind() != constant.Int {
			return false
		}
		status, exact := constant.Int64Val(v)
		return exact && status >= 400 && status < 600
	})
}
