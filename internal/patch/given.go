package patch

import (
	"go/ast"
	"go/types"
)

// givenFunctions adds what a parameter does that is a function: all that the callers of its
// function give for it. False where one gives something that is not known, or where not all
// callers are: of a method, of a function that is a value somewhere, or one that other programs
// may call.
func (f *file) givenFunctions(e *effects, id *ast.Ident) bool {
	if id == nil {
		return false
	}
	p := f.program
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok || v.IsField() || p.assigned[v] {
		return false
	}
	fn, at := p.parameterOf(f, v)
	if fn == nil || len(p.callers[fn]) == 0 || fn.Exported() && f.pkg.Name != "main" || fn.Signature().Recv() != nil || fn.Signature().Variadic() || p.namings(fn) != len(p.callers[fn]) {
		return false
	}
	for _, c := range p.callers[fn] {
		if at >= len(c.call.Args) {
			return false
		}
		if lit, ok := ast.Unparen(c.call.Args[at]).(*ast.FuncLit); ok {
			c.f.walk(e, lit.Body)
		} else if !c.f.callee(e, c.call.Args[at]) {
			return false
		}
	}
	return true
}

// parameterOf is the function whose parameter a variable is, and which of them.
func (p *Program) parameterOf(f *file, v *types.Var) (*types.Func, int) {
	for _, d := range f.syntax.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || v.Pos() < d.Pos() || v.Pos() >= d.End() {
			continue
		}
		fn, ok := f.info().Defs[d.Name].(*types.Func)
		if !ok {
			return nil, 0
		}
		for i := range fn.Signature().Params().Len() {
			if fn.Signature().Params().At(i) == v {
				return fn, i
			}
		}
	}
	return nil, 0
}

// namings is how often the program names a function.
func (p *Program) namings(fn *types.Func) int {
	n := 0
	for _, pkg := range p.packages {
		for _, o := range pkg.TypesInfo.Uses {
			if used, ok := o.(*types.Func); ok && used.Origin() == fn {
				n++
			}
		}
	}
	return n
}
