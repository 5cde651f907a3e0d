package patch

import (
	"go/ast"
	"go/types"
)

// checkInto looks at what the row is put into.
func (w *eachWriter) checkInto() *Refusal {
	f := w.f
	if w.intoStruct == nil {
		return w.checkPlain()
	}
	if f.program.mapped {
		return refuse("destination", "the program tells sqlx which columns belong to which fields")
	}
	n, ok := types.Unalias(w.intoStruct).(*types.Named)
	if !ok || n.TypeArgs().Len() > 0 {
		return refuse("destination", "%s is no struct with a name", f.typeName(w.intoStruct))
	}
	if o, _, _ := types.LookupFieldOrMethod(w.intoStruct, true, nil, "Scan"); o != nil {
		return refuse("destination", "%s has a method Scan", f.typeName(w.intoStruct))
	}
	if _, t := keyField(w.intoStruct, w.number); t != nil {
		return refuse("destination", "%s has a field for %s", f.typeName(w.intoStruct), w.number)
	}
	if r := w.ownFields(w.intoStruct, ""); r != nil {
		return r
	}
	if w.list {
		return nil
	}
	if r := w.checkZero(); r != nil && !w.filledByThis() {
		if !w.ofElement() || len(w.cloned) > 0 {
			return r
		}
		w.emptyOnly = true
	}
	return nil
}

// checkPlain looks at single values.
func (w *eachWriter) checkPlain() *Refusal {
	f := w.f
	if w.list {
		if !isPlain(w.elem) {
			return refuse("destination", "it reads a list of %s", f.typeName(w.elem))
		}
		return nil
	}
	for _, d := range w.dsts {
		p, ok := f.info().TypeOf(d).Underlying().(*types.Pointer)
		if ok && len(w.dsts) == 1 && types.Identical(p.Elem(), types.NewSlice(types.Typ[types.Byte])) {
			w.bytes = true
			continue
		}
		if ok && isPointer(p.Elem()) && isPlain(p.Elem().Underlying().(*types.Pointer).Elem()) {
			continue // each copy of a row gets its own, as hand writes it
		}
		if !ok || !isPlain(p.Elem()) {
			return refuse("destination", "%s is a %s", short(f.text(d)), f.typeName(f.info().TypeOf(d)))
		}
	}
	return nil
}

// filledByThis: the row is put into a variable that is made empty, and that nothing but
// this read writes to.
func (w *eachWriter) filledByThis() bool {
	f := w.f
	u, ok := ast.Unparen(w.dsts[0]).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	if made, ok := ast.Unparen(u.X).(*ast.CompositeLit); ok {
		return len(made.Elts) == 0 // for its error alone
	}
	id, ok := ast.Unparen(u.X).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.info().Uses[id].(*types.Var)
	decl, in := enclosing[*ast.FuncDecl](f, w.whole)
	if !ok || !in || v.Pos() < decl.Pos() || v.Pos() >= decl.End() || !f.madeEmpty(v) || isPointer(v.Type()) {
		return false
	}
	alone := true
	f.changes(decl.Body, func(e ast.Expr) {
		if f.valueRoot(e) == v && (e.Pos() < w.whole.Pos() || e.Pos() >= w.whole.End()) {
			alone = false
		}
	})
	return alone
}

// ofElement: the row is put into a part of the loop's element, which each turn has of its own.
func (w *eachWriter) ofElement() bool {
	u, ok := ast.Unparen(w.dsts[0]).(*ast.UnaryExpr)
	if !ok || w.via != nil {
		return false
	}
	sel, ok := ast.Unparen(u.X).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, r := w.loop.early(sel, w.does)
	return r == nil && (w.named(x.text, w.loop.value) || w.named(x.text, w.loop.index))
}

// ownFields notes the fields of a struct that point to a plain value or are bytes.
func (w *eachWriter) ownFields(t types.Type, in string) *Refusal {
	for v := range t.Underlying().(*types.Struct).Fields() {
		if isPlain(v.Type()) {
			continue
		}
		if _, ok := v.Type().Underlying().(*types.Struct); ok && (v.Exported() || v.Embedded()) {
			if r := w.ownFields(v.Type(), in+v.Name()+"."); r != nil {
				return r
			}
		} else if !w.ownField(v, in+v.Name()) {
			return refuse("destination", "its field %s is a %s, which two copies of a row would share", v.Name(), types.TypeString(v.Type(), types.RelativeTo(v.Pkg())))
		}
	}
	return nil
}

// ownField notes one field; false if it cannot be copied.
func (w *eachWriter) ownField(v *types.Var, name string) bool {
	switch u := v.Type().Underlying().(type) {
	case *types.Pointer:
		w.copied = append(w.copied, name)
		return isPlain(u.Elem()) && v.Exported()
	case *types.Slice:
		w.cloned = append(w.cloned, name)
		return types.Identical(u.Elem(), types.Typ[types.Byte]) && v.Exported()
	}
	return false
}
