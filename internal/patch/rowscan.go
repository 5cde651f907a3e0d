package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// checkHead understands the loop's first statements: variables, the Scan into them, and
// what looks at its error.
func (r *rowLoop) checkHead() *Refusal {
	f, list := r.f, r.node.Body.List
	for i, s := range list {
		if r.scan = r.scanIn(s); r.scan == nil {
			if !f.onlyDeclares(s) {
				return refuse("rows", "line %d comes before the Scan of a row", f.line(s.Pos()))
			}
			r.head = append(r.head, s)
			continue
		}
		r.stmts = []ast.Stmt{s}
		if refused := r.checkScan(s, list[i+1:]); refused != nil {
			return refused
		}
		r.rest = list[i+len(r.stmts):]
		break
	}
	if r.scan == nil {
		return refuse("rows", "none of its statements scans a row")
	}
	if len(r.rest) == 0 {
		return refuse("rows", "nothing is done with a row")
	}
	return nil
}

// scanIn is the Scan of the result in a statement.
func (r *rowLoop) scanIn(s ast.Stmt) *ast.CallExpr {
	var out *ast.CallExpr
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if ok && r.f.variable(sel.X) == r.result && slices.Contains([]string{"Scan", "StructScan", "MapScan"}, sel.Sel.Name) {
			out = call
		}
		return out == nil
	})
	return out
}

// checkScan understands how the error of a Scan is looked at.
func (r *rowLoop) checkScan(s ast.Stmt, next []ast.Stmt) *Refusal {
	other := refuse("rows", "line %d is more than a Scan whose error is looked at", r.f.line(s.Pos()))
	switch s := s.(type) {
	case *ast.ExprStmt:
		if ast.Unparen(s.X) == ast.Expr(r.scan) {
			return nil
		}
		if call, ok := s.X.(*ast.CallExpr); ok && len(call.Args) == 1 && ast.Unparen(call.Args[0]) == ast.Expr(r.scan) && r.f.endsWithError(call) {
			r.must, r.moves = call, true
			return nil
		}
	case *ast.AssignStmt:
		if !r.namesError(s) {
			return other
		}
		if r.err == nil {
			return nil
		}
		if len(next) > 0 {
			if branch, ok := next[0].(*ast.IfStmt); ok && branch.Init == nil && r.asksScan(branch) {
				r.branch, r.stmts = branch, append(r.stmts, branch)
				return nil
			}
		}
	case *ast.IfStmt:
		if r.branchOfScan(s) {
			r.branch = s
			return nil
		}
	}
	return other
}

// branchOfScan: an if asks for the error of the Scan that stands in it.
func (r *rowLoop) branchOfScan(s *ast.IfStmt) bool {
	if s.Init == nil {
		cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
		return ok && s.Else == nil && cond.Op == token.NEQ && ast.Unparen(cond.X) == ast.Expr(r.scan) && r.f.info().Types[cond.Y].IsNil()
	}
	made, ok := s.Init.(*ast.AssignStmt)
	return ok && r.namesError(made) && r.err != nil && r.asksScan(s)
}

// endsWithError: a function of the program panics, or ends it, if it is given an error, and
// does nothing else.
func (f *file) endsWithError(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	fn, ok := f.info().Uses[id].(*types.Func)
	if !ok {
		return false
	}
	d := f.program.bodies[fn]
	if d == nil || d.Body == nil || len(d.Body.List) != 1 || fn.Signature().Params().Len() != 1 || fn.Signature().Variadic() {
		return false
	}
	in, err := f.program.in[d], fn.Signature().Params().At(0)
	branch, ok := d.Body.List[0].(*ast.IfStmt)
	if !ok || branch.Init != nil || branch.Else != nil || !isError(err.Type()) || len(branch.Body.List) == 0 {
		return false
	}
	cond, ok := ast.Unparen(branch.Cond).(*ast.BinaryExpr)
	last := branch.Body.List[len(branch.Body.List)-1]
	_, returns := last.(*ast.ReturnStmt)
	return ok && cond.Op == token.NEQ && in.isName(cond.X, err) && in.info().Types[cond.Y].IsNil() && !returns && in.leavesFunction(last)
}

// namesError notes the variable that a statement gives the error of the Scan.
func (r *rowLoop) namesError(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || ast.Unparen(s.Rhs[0]) != ast.Expr(r.scan) {
		return false
	}
	id, ok := s.Lhs[0].(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "_" {
		return true
	}
	if r.err = r.f.defined(id); r.err == nil {
		r.err = r.f.variable(id)
	}
	return r.err != nil && isError(r.err.Type())
}

// asksScan: a branch without an else is taken if the Scan fails.
func (r *rowLoop) asksScan(s *ast.IfStmt) bool {
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	return ok && s.Else == nil && cond.Op == token.NEQ && r.f.isName(cond.X, r.err) && r.f.info().Types[cond.Y].IsNil()
}

// onlyDeclares: a statement makes variables that are empty, or of constants.
func (f *file) onlyDeclares(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.DeclStmt:
		decl, ok := s.Decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			return false
		}
		for _, spec := range decl.Specs {
			if !allOf(spec.(*ast.ValueSpec).Values, f.isEmpty) {
				return false
			}
		}
		return true
	case *ast.AssignStmt:
		return s.Tok == token.DEFINE && allOf(s.Rhs, f.isEmpty) && allOf(s.Lhs, func(e ast.Expr) bool { return f.defined(e) != nil })
	}
	return false
}

func allOf(es []ast.Expr, is func(ast.Expr) bool) bool {
	return !slices.ContainsFunc(es, func(e ast.Expr) bool { return !is(e) })
}

// isEmpty: an expression is a constant, or something new that holds constants.
func (f *file) isEmpty(e ast.Expr) bool {
	if tv := f.info().Types[e]; tv.Value != nil || tv.IsNil() {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		_, made := ast.Unparen(e.X).(*ast.CompositeLit)
		return e.Op == token.AND && made && f.isEmpty(e.X)
	case *ast.CompositeLit:
		lit := e
		return allOf(e.Elts, func(e ast.Expr) bool {
			pair, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return f.isEmpty(e)
			}
			_, isStruct := f.info().TypeOf(lit).Underlying().(*types.Struct)
			return (isStruct || f.isEmpty(pair.Key)) && f.isEmpty(pair.Value)
		})
	case *ast.CallExpr:
		name := f.text(e.Fun)
		return f.info().Types[e.Fun].IsBuiltin() && (name == "new" || name == "make" && allOf(e.Args[1:], f.isEmpty))
	}
	return false
}
