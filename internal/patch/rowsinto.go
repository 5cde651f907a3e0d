package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// checkInto finds the variables that a row is scanned into.
func (r *rowLoop) checkInto() *Refusal {
	f := r.f
	for _, arg := range r.scan.Args {
		v := r.intoOf(arg)
		if v == nil || r.scan.Ellipsis.IsValid() {
			return refuse("destination", "%s is no variable, or field of one", short(f.text(arg)))
		}
		t := f.info().TypeOf(arg)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if refused := r.canKeep(t, f.text(arg)); refused != nil {
			return refused
		}
		if !slices.Contains(r.into, v) {
			r.into = append(r.into, v)
		}
	}
	return r.checkKept()
}

// checkKept finds those of them that are named where something is done with a row.
func (r *rowLoop) checkKept() *Refusal {
	f, rest := r.f, r.body()
	for _, v := range r.into {
		if refused := r.checkVariable(v); refused != nil {
			return refused
		}
		if slices.ContainsFunc(f.namesOf(v), func(id *ast.Ident) bool { return within(id, rest) && id.Pos() >= r.rest[0].Pos() }) {
			r.kept = append(r.kept, v)
		}
	}
	if len(r.kept) == 0 {
		return refuse("rows", "nothing is done with a row")
	}
	if refused := r.checkDeclared(); refused != nil {
		return refused
	}
	for _, v := range r.kept {
		if text, ok := f.typeAt(v.Type(), r.node.Pos()); !ok {
			return refuse("compiles", "the type %s has no name before the loop", text)
		}
	}
	return nil
}

func within(n, around ast.Node) bool { return n.Pos() >= around.Pos() && n.Pos() < around.End() }

// intoOf is the variable that an argument of a Scan points to, or to a field of; a pointer
// that the loop makes, or a map, stands for what is behind it.
func (r *rowLoop) intoOf(arg ast.Expr) *types.Var {
	f := r.f
	u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
	if !ok {
		if v := f.variable(arg); v != nil && r.makes(v) {
			return v
		}
		return nil
	}
	if u.Op != token.AND {
		return nil
	}
	e := u.X
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return f.variable(x)
		case *ast.SelectorExpr:
			chosen := f.info().Selections[x]
			if chosen == nil || chosen.Kind() != types.FieldVal {
				return nil
			}
			if chosen.Indirect() {
				if v := f.variable(x.X); v != nil && len(chosen.Index()) == 1 && r.makes(v) {
					return v
				}
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// moved: a statement makes variables that rows are scanned into.
func (r *rowLoop) moved(s ast.Stmt) bool {
	return slices.ContainsFunc(r.into, func(v *types.Var) bool { return v.Pos() >= s.Pos() && v.Pos() < s.End() })
}

// checkDeclared: a statement that makes such variables makes no other ones.
func (r *rowLoop) checkDeclared() *Refusal {
	for id, o := range r.f.info().Defs {
		v, ok := o.(*types.Var)
		if !ok || slices.Contains(r.into, v) {
			continue
		}
		for _, s := range r.head {
			if within(id, s) && r.moved(s) {
				return refuse("rows", "line %d makes variables that a row is scanned into, and others", r.f.line(s.Pos()))
			}
		}
	}
	return nil
}

// makes: the loop makes what a pointer or a map is, in each turn, before the Scan.
func (r *rowLoop) makes(v *types.Var) bool {
	made := r.f.made(v)
	if made == nil || !r.declares(v) {
		return false
	}
	switch made := ast.Unparen(made).(type) {
	case *ast.UnaryExpr:
		return made.Op == token.AND
	case *ast.CallExpr:
		return true // of new or make: onlyDeclares
	case *ast.CompositeLit:
		_, isMap := v.Type().Underlying().(*types.Map)
		return isMap
	}
	return false
}

// declares: a variable is made before the Scan, in each turn.
func (r *rowLoop) declares(v *types.Var) bool {
	return slices.ContainsFunc(r.head, func(s ast.Stmt) bool { return v.Pos() >= s.Pos() && v.Pos() < s.End() })
}

// checkVariable: a variable that rows are scanned into is the turn's own, or might as well be.
func (r *rowLoop) checkVariable(v *types.Var) *Refusal {
	f := r.f
	if r.declares(v) {
		return nil
	}
	shared := refuse("rows", "%s is made outside of the loop, and used for more than one row at a time", v.Name())
	decl, ok := enclosing[*ast.FuncDecl](f, r.node)
	if !ok || v.IsField() || v.Pos() < decl.Body.Pos() || v.Pos() >= decl.End() || f.literalOf(v) != f.literalAround(r.node) {
		return shared
	}
	if slices.ContainsFunc(f.namesOf(v), func(id *ast.Ident) bool {
		return !within(id, r.node) || f.literalAround(id) != f.literalAround(r.node)
	}) {
		return shared
	}
	changed := false
	f.changes(r.body(), func(e ast.Expr) {
		changed = changed || f.valueRoot(e) == v && e.Pos() >= r.rest[0].Pos()
	})
	if _, mutable := v.Type().Underlying().(*types.Map); changed || mutable {
		return shared
	}
	return nil
}

// literalOf is the function literal that a variable is declared in, or a parameter of.
func (f *file) literalOf(v *types.Var) *ast.FuncLit {
	var out *ast.FuncLit
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && v.Pos() >= lit.Pos() && v.Pos() < lit.End() {
			if out = lit; v.Pos() < lit.Body.Pos() {
				out = nil // a parameter or result: not of the body
			}
		}
		return true
	})
	return out
}

// canKeep refuses types of which a copy would not hold what the row held, or whose Scan
// may keep the driver's memory, which is good until the next row only.
func (r *rowLoop) canKeep(t types.Type, what string) *Refusal {
	not := refuse("destination", "%s is a %s, of which a copy may change with the next row", short(what), r.f.typeName(t))
	if named(t, sqlPath, "RawBytes") {
		return not
	}
	if isPlain(t) {
		return nil
	}
	if isScanner(t) {
		if !holdsNothing(t) {
			return not
		}
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return r.canKeep(u.Elem(), what)
	case *types.Interface:
		if u.NumMethods() == 0 {
			return nil
		}
	case *types.Slice:
		if types.Identical(u.Elem(), types.Typ[types.Byte]) {
			return nil
		}
	case *types.Map:
		if r.scan.Fun.(*ast.SelectorExpr).Sel.Name == "MapScan" {
			return nil
		}
	case *types.Struct:
		if r.scan.Fun.(*ast.SelectorExpr).Sel.Name == "StructScan" {
			return r.canKeepFields(u, what, map[*types.Struct]bool{})
		}
	}
	return not
}

// canKeepFields is canKeep of a struct, of which sqlx fills fields by their names. A field
// that no column can be put into holds what it held.
func (r *rowLoop) canKeepFields(s *types.Struct, what string, seen map[*types.Struct]bool) *Refusal {
	if seen[s] {
		return nil
	}
	seen[s] = true
	for field := range s.Fields() {
		t := field.Type()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		name := what + "." + field.Name()
		if inner, ok := t.Underlying().(*types.Struct); ok && !isPlain(t) && !isScanner(t) {
			if refused := r.canKeepFields(inner, name, seen); refused != nil {
				return refused
			}
			continue
		}
		if named(t, sqlPath, "RawBytes") || isScanner(t) {
			if refused := r.canKeep(t, name); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// isScanner: a type says itself how a column is put into it.
func isScanner(t types.Type) bool {
	o, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, "Scan")
	_, ok := o.(*types.Func)
	return ok
}

// holdsNothing: a value of the type points to nothing but texts.
func holdsNothing(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return holdsNothing(u.Elem())
	case *types.Struct:
		if named(t, "time", "Time") {
			return true
		}
		for field := range u.Fields() {
			if !holdsNothing(field.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
