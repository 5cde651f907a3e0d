package patch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// readsToEnd is toEnd for a loop whose reads are made before it: that the later ones are
// made in vain where an element is refused changes no answer, and is as rare as an error.
// Of pointers a later one may be nil, which such a loop does not reach.
func (l *loop) readsToEnd() *Refusal {
	if l.rows != nil { // of which none is nil
		return l.ends(func(r *ast.ReturnStmt) bool { return l.f.returnsError(r) || l.f.returnsMadeError(r) })
	}
	if elem, ok := elementOf(l.f.info().TypeOf(l.over)); !ok || isPointer(elem) {
		return l.toEnd()
	}
	return l.ends(func(r *ast.ReturnStmt) bool { return l.f.returnsError(r) || l.f.returnsMadeError(r) })
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// elementOf a slice, an array, or a pointer to one.
func elementOf(t types.Type) (types.Type, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem(), true
	case *types.Array:
		return t.Elem(), true
	}
	return nil, false
}

// returnsMadeError: the last result is an error that is there for sure.
func (f *file) returnsMadeError(r *ast.ReturnStmt) bool {
	n := len(r.Results)
	return n > 0 && f.isMadeError(r.Results[n-1], true)
}

// isMadeError reports an expression that is an error and never nil: made by errors.New or
// fmt.Errorf, a value that is not nil by its form, one of the package's own errors made
// so, or, if own, what a function of the program returns that returns nothing else.
func (f *file) isMadeError(e ast.Expr, own bool) bool {
	if t := f.info().TypeOf(e); t == nil || !types.Implements(t, errorType) {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr: // &failure{…}
		return e.Op == token.AND
	case *ast.CompositeLit:
		_, isStruct := f.info().TypeOf(e).Underlying().(*types.Struct)
		return isStruct
	case *ast.CallExpr:
		var id *ast.Ident
		switch fun := ast.Unparen(e.Fun).(type) {
		case *ast.Ident:
			id = fun
		case *ast.SelectorExpr:
			id = fun.Sel
		default:
			return false
		}
		fn, ok := f.info().Uses[id].(*types.Func)
		if !ok {
			return false
		}
		if path := pathOf(fn); path == "errors" && fn.Name() == "New" || path == "fmt" && fn.Name() == "Errorf" {
			return true
		}
		return own && f.program.makesErrors(fn.Origin())
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// makesErrors: a function of the program has an error as its only result, and each return
// makes one.
func (p *Program) makesErrors(fn *types.Func) bool {
	d := p.bodies[fn]
	if d == nil || fn.Signature().Results().Len() != 1 {
		return false
	}
	f, all, some := p.in[d], true, false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			some, all = true, all && f.returnsMadeErrorItself(n)
		}
		return true
	})
	return some && all
}

func (f *file) returnsMadeErrorItself(r *ast.ReturnStmt) bool {
	return len(r.Results) == 1 && f.isMadeError(r.Results[0], false)
}
