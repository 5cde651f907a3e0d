package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// checkBranch understands what an error of the Scan leads to: the end of the function,
// which then comes behind what is done with the rows before, or the next row.
func (r *rowLoop) checkBranch() *Refusal {
	if r.branch == nil {
		return nil
	}
	list := r.branch.Body.List
	last := ast.Stmt(nil)
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	if r.f.leavesFunction(last) {
		r.moves = true
		return r.checkMoved()
	}
	if jump, ok := last.(*ast.BranchStmt); ok && jump.Label == nil && jump.Tok != token.GOTO {
		list = list[:len(list)-1]
	}
	for _, s := range list {
		if !r.f.onlyLogs(s) {
			return refuse("error", "line %d does something where a Scan fails: it would be done before what is done with the rows before", r.f.line(s.Pos()))
		}
	}
	return nil
}

// leavesFunction: a statement returns, panics, or ends the program.
func (f *file) leavesFunction(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if f.info().Types[call.Fun].IsBuiltin() {
			return f.text(call.Fun) == "panic"
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			fn, ok := f.info().Uses[sel.Sel].(*types.Func)
			return ok && (pathOf(fn) == "log" && (strings.HasPrefix(fn.Name(), "Fatal") || strings.HasPrefix(fn.Name(), "Panic")) || pathOf(fn) == "os" && fn.Name() == "Exit")
		}
	}
	return false
}

// checkMoved: a branch that comes after the loop names nothing of the loop but the error.
func (r *rowLoop) checkMoved() *Refusal {
	var out *Refusal
	ast.Inspect(r.branch.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := r.f.info().Uses[n].(*types.Var)
			if ok && v != r.err && (slices.Contains(r.into, v) || within(n, r.node) && v.Pos() >= r.node.Pos() && v.Pos() < r.branch.Body.Pos()) {
				out = refuse("error", "what a failed Scan leads to names %s of the loop", v.Name())
			}
		case *ast.BranchStmt:
			out = refuse("error", "what a failed Scan leads to has a %s", n.Tok)
		}
		return out == nil
	})
	return out
}

// onlyLogs: a statement writes a line of a log.
func (f *file) onlyLogs(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	path := pathOf(fn)
	known := slices.Contains([]string{"log", "logs", "slog", "logger", "logging", "logrus", "zerolog", "glog", "klog", "zap"}, path[strings.LastIndex(path, "/")+1:]) ||
		strings.Contains(path, "labstack/echo") && named(f.receiver(call), path, "Logger")
	return ok && known && !f.program.isOwn(fn) && f.effectsOf(call).statements == 0 && !strings.HasPrefix(fn.Name(), "Fatal") && !strings.HasPrefix(fn.Name(), "Panic")
}

// checkOuterError: an error variable from outside of the loop has, in what is done with a
// row and after the loop, the value that it had.
func (r *rowLoop) checkOuterError() *Refusal {
	f := r.f
	if r.err == nil || r.err.Pos() >= r.node.Pos() && r.err.Pos() < r.node.End() {
		return r.checkOwnError()
	}
	other := refuse("error", "%s is made outside of the loop, and may be asked for when it holds something else", r.err.Name())
	if f.escapes(r.err) || f.literalOf(r.err) != f.literalAround(r.node) {
		return other
	}
	after := r.errorOutlives()
	switch inRest := r.firstInRest(); {
	case !r.moves && (after || inRest != nil):
		return other
	case inRest != nil && !r.assignsFirst(inRest):
		return other
	case inRest == nil && after && !r.noErrorBefore():
		return other
	}
	return nil
}

// errorOutlives: something may ask for the error that the loop leaves.
func (r *rowLoop) errorOutlives() bool {
	f := r.f
	if f.isResult(r.err) {
		return true
	}
	for n := f.parents[ast.Node(r.node)]; n != nil; n = f.parents[n] { // a loop around it
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if r.err.Pos() < n.Pos() {
				return true
			}
		}
	}
	first := true // of the names behind the loop
	for _, id := range f.namesOf(r.err) {
		if f.literalAround(id) != f.literalAround(r.node) {
			return true
		}
		if id.Pos() < r.node.End() {
			continue
		}
		if a, ok := f.parents[id].(*ast.AssignStmt); !first || ok && slices.Contains(a.Lhs, ast.Expr(id)) && !f.names(a.Rhs, r.err) && f.parents[a] == f.parents[ast.Node(r.node)] {
			first = false
			continue
		}
		return true
	}
	return false
}

// checkOwnError: where a failed Scan changes nothing, what is done with the row does not
// ask for the error.
func (r *rowLoop) checkOwnError() *Refusal {
	if r.err == nil || r.moves || r.firstInRest() == nil {
		return nil
	}
	if list := r.branch.Body.List; len(list) > 0 {
		if _, jumps := list[len(list)-1].(*ast.BranchStmt); jumps {
			return nil
		}
	}
	return refuse("error", "what is done with a row asks for the error of its Scan")
}

// firstInRest is the first name of the error in what is done with a row.
func (r *rowLoop) firstInRest() *ast.Ident {
	for _, id := range r.f.namesOf(r.err) {
		if id.Pos() >= r.rest[0].Pos() && id.Pos() < r.node.End() {
			return id
		}
	}
	return nil
}

// assignsFirst: a name is what a statement assigns that each row comes to.
func (r *rowLoop) assignsFirst(id *ast.Ident) bool {
	a, ok := r.f.parents[id].(*ast.AssignStmt)
	if !ok || !slices.Contains(a.Lhs, ast.Expr(id)) || r.f.names(a.Rhs, r.err) {
		return false
	}
	up := r.f.parents[a]
	if branch, ok := up.(*ast.IfStmt); ok && branch.Init == ast.Stmt(a) {
		up = r.f.parents[branch]
	}
	return up == ast.Node(r.node.Body)
}

// names: one of some expressions names a variable.
func (f *file) names(es []ast.Expr, v *types.Var) bool {
	found := false
	for _, e := range es {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && f.info().Uses[id] == v
			return !found
		})
	}
	return found
}

// isResult: a variable is a named result of a function.
func (f *file) isResult(v *types.Var) bool {
	found := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok && t.Results != nil && v.Pos() >= t.Results.Pos() && v.Pos() < t.Results.End() {
			found = true
		}
		return !found
	})
	return found
}

// noErrorBefore: the loop is reached only if the error of the rows' statement is nil, and
// nothing between assigns it.
func (r *rowLoop) noErrorBefore() bool {
	f := r.f
	block, ok := f.parents[r.sent].(*ast.BlockStmt)
	if !ok || len(r.sent.Lhs) != 2 || !f.isName(r.sent.Lhs[1], r.err) || f.parents[r.node] != ast.Node(block) {
		return false
	}
	at := slices.Index(block.List, ast.Stmt(r.sent))
	to := slices.Index(block.List, ast.Stmt(r.node))
	if at < 0 || to < at+2 {
		return false
	}
	ask, ok := block.List[at+1].(*ast.IfStmt)
	if !ok || ask.Init != nil || !r.asksScan(ask) || !ends(ask.Body) {
		return false
	}
	return !slices.ContainsFunc(block.List[at+2:to], func(s ast.Stmt) bool { return f.assignedIn(s, r.err) })
}
