package patch

import (
	"go/ast"
	"go/types"
	"slices"
)

// hint is a value of parameters, or of the row of a read before; false: it is something else.
func (fn *deepFn) hint(e ast.Expr) (hint, bool) {
	f := fn.f
	e = ast.Unparen(e)
	if value := f.info().Types[e].Value; value != nil {
		return hint{text: value.ExactString()}, true
	}
	if fn.isElement(e) {
		text := rowName
		if !isPointer(f.info().TypeOf(e)) {
			text = "*" + text
		}
		return hint{text: text, by: fn.list}, true
	}
	switch e := e.(type) {
	case *ast.Ident:
		return fn.hintOf(e)
	case *ast.SelectorExpr:
		return fn.hintOfField(e)
	case *ast.StarExpr:
		x, ok := fn.hint(e.X)
		if x.text != rowName {
			x.nils = append(slices.Clone(x.nils), x.text)
		}
		x.text = "*" + x.text
		return x, ok
	case *ast.CallExpr:
		if tv := f.info().Types[e.Fun]; tv.IsType() && len(e.Args) == 1 && !types.IsInterface(tv.Type) {
			x, ok := fn.hint(e.Args[0])
			t, named := f.typeText(tv.Type)
			x.text = t + "(" + x.text + ")"
			return x, ok && named
		}
	}
	return hint{}, false
}

// hintOfField is a field of an element, of a row that was read, or of another hint.
func (fn *deepFn) hintOfField(e *ast.SelectorExpr) (hint, bool) {
	chosen := fn.f.info().Selections[e]
	if chosen == nil || chosen.Kind() != types.FieldVal || len(chosen.Index()) != 1 {
		return hint{}, false
	}
	base := ast.Unparen(e.X)
	if fn.isElement(base) {
		return hint{text: rowName + "." + e.Sel.Name, by: fn.list}, true
	}
	if id, ok := base.(*ast.Ident); ok && fn.rowOf(id) != nil {
		return hint{text: rowName + "." + e.Sel.Name, by: fn.rowOf(id)}, true
	}
	x, ok := fn.hint(base)
	if isPointer(fn.f.info().TypeOf(base)) {
		x.nils = append(slices.Clone(x.nils), x.text)
	}
	x.text += "." + e.Sel.Name
	return x, ok
}

// rowOf is the read that fills a struct of a name; nil: none.
func (fn *deepFn) rowOf(id *ast.Ident) *deepRead {
	v := fn.f.variable(id)
	if d := fn.from[v]; v != nil && d != nil && d.intoStruct != nil && !d.list {
		return d
	}
	return nil
}

// hintOf is a parameter, what a read has filled, or what is made of these in one place.
func (fn *deepFn) hintOf(id *ast.Ident) (hint, bool) {
	f := fn.f
	v := f.variable(id)
	if v == nil || v.IsField() || isHandle(v.Type()) {
		return hint{}, false
	}
	if d := fn.from[v]; d != nil && !d.list {
		text := id.Name
		if d.intoStruct != nil {
			if text = rowName; !isPointer(v.Type()) {
				text = "*" + text // it is told as a pointer
			}
		}
		return hint{text: text, by: d}, true
	}
	for p := range f.info().Defs[fn.decl.Name].(*types.Func).Signature().Params().Variables() {
		if p == v {
			return hint{text: id.Name, of: []*types.Var{v}}, v != fn.ctx
		}
	}
	made := f.made(v)
	if made == nil || v.Parent() == f.pkg.Types.Scope() || !types.Identical(f.info().TypeOf(made), v.Type()) {
		return hint{}, false
	}
	return fn.hint(made)
}

// isElement: it is the element of the list that a loop goes over.
func (fn *deepFn) isElement(e ast.Expr) bool {
	l, f := fn.each, fn.f
	if l == nil {
		return false
	}
	switch e := e.(type) {
	case *ast.Ident:
		return l.value != nil && f.variable(e) == l.value
	case *ast.IndexExpr:
		return l.index != nil && f.variable(e.Index) == l.index && f.variable(e.X) != nil && f.variable(e.X) == f.variable(l.over)
	}
	return false
}
