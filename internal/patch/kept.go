package patch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// keeper follows a value, or memory that is a part of it, through a function and those of
// the program that it is given to. It refuses what may hold it longer than the function
// runs: a return, a field, a goroutine, code that is not known.
type keeper struct {
	program *Program
	seen    map[*types.Var]bool
}

// variable refuses a local variable whose value is kept. in is the function that it is
// declared in.
func (k *keeper) variable(f *file, v *types.Var, in ast.Node) (out *Refusal) {
	if k.seen[v] {
		return nil
	}
	k.seen[v] = true
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || out != nil || f.info().Uses[id] != v {
			return out == nil
		}
		if out = k.literals(f, id, in); out == nil {
			out = k.value(f, id)
		}
		return true
	})
	return out
}

// literals refuses a name in a function literal that may run later, or beside the function.
func (k *keeper) literals(f *file, id *ast.Ident, in ast.Node) *Refusal {
	for n := f.parents[id]; n != nil && n != in; n = f.parents[n] {
		if _, ok := n.(*ast.FuncLit); !ok {
			continue
		}
		call, ok := f.parents[n].(*ast.CallExpr)
		if !ok || call.Fun != n {
			return refuse("kept", "a function literal has %s, in line %d", id.Name, f.line(id.Pos()))
		}
		if _, ok := f.parents[call].(*ast.GoStmt); ok {
			return refuse("kept", "a goroutine has %s, in line %d", id.Name, f.line(id.Pos()))
		}
	}
	return nil
}

// value refuses an expression whose value is kept.
func (k *keeper) value(f *file, e ast.Expr) *Refusal {
	switch up := f.parents[e].(type) {
	case *ast.ParenExpr:
		return k.value(f, up)
	case *ast.UnaryExpr:
		if _, part := ast.Unparen(e).(*ast.IndexExpr); up.Op == token.AND && !part {
			return k.value(f, up)
		}
	case *ast.SelectorExpr:
		return k.selected(f, up)
	case *ast.CallExpr:
		return k.given(f, up, e)
	case *ast.AssignStmt:
		return k.assigned(f, up, e)
	case *ast.ValueSpec:
		if len(up.Names) == 1 && len(up.Values) == 1 {
			return k.named(f, up.Names[0])
		}
	case *ast.ExprStmt:
		return nil
	case *ast.BinaryExpr:
		if !isSlice(f.info().TypeOf(e)) {
			return nil // compared with nil
		}
		return refuse("kept", "%s is compared, in line %d: what is used again is empty where it was nil", short(f.text(e)), f.line(e.Pos()))
	case *ast.SliceExpr:
		if up.X == e {
			return k.value(f, up)
		}
	case *ast.CompositeLit:
		return k.ranged(f, up, e)
	case *ast.KeyValueExpr:
		if lit, ok := f.parents[up].(*ast.CompositeLit); ok && up.Value == e {
			return k.ranged(f, lit, e)
		}
	}
	if f.readsBytes(e) {
		return nil
	}
	return k.keeps(f, e)
}

// readsBytes: one element of some bytes is looked at, or each in a loop.
func (f *file) readsBytes(e ast.Expr) bool {
	if !isBytes(f.info().TypeOf(e)) {
		return false
	}
	switch up := f.parents[e].(type) {
	case *ast.IndexExpr:
		_, addressed := f.parents[up].(*ast.UnaryExpr)
		return up.X == e && !addressed
	case *ast.RangeStmt:
		return up.X == e
	}
	return false
}

func (k *keeper) keeps(f *file, e ast.Expr) *Refusal {
	return refuse("kept", "%s may be kept by what line %d does", short(f.text(e)), f.line(e.Pos()))
}

// ranged: a list or a map of values that a loop goes over, and nobody else has.
func (k *keeper) ranged(f *file, lit *ast.CompositeLit, e ast.Expr) *Refusal {
	loop, ok := f.parents[lit].(*ast.RangeStmt)
	if !ok || loop.X != ast.Expr(lit) || loop.Tok == token.ASSIGN {
		return k.keeps(f, e)
	}
	if id, ok := loop.Value.(*ast.Ident); ok {
		return k.named(f, id)
	}
	return nil
}

// named follows a variable that is declared by a name.
func (k *keeper) named(f *file, id *ast.Ident) *Refusal {
	if id.Name == "_" {
		return nil
	}
	v, ok := f.info().Defs[id].(*types.Var)
	if !ok || v.Parent() == f.pkg.Types.Scope() {
		return k.keeps(f, id)
	}
	d, ok := enclosing[*ast.FuncDecl](f, id)
	if !ok {
		return k.keeps(f, id)
	}
	return k.variable(f, v, k.functionOf(f, id, d))
}

// functionOf is the innermost function around a node.
func (k *keeper) functionOf(f *file, n ast.Node, outer *ast.FuncDecl) ast.Node {
	if lit, ok := enclosing[*ast.FuncLit](f, n); ok {
		return lit
	}
	return outer
}

// assigned follows a value into the variable that it is put into.
func (k *keeper) assigned(f *file, a *ast.AssignStmt, e ast.Expr) *Refusal {
	for i, r := range a.Rhs {
		if r != e {
			continue
		}
		id, ok := a.Lhs[i].(*ast.Ident) // of several results it is the first one that shares memory
		if !ok || a.Tok != token.DEFINE && id.Name != "_" {
			return k.keeps(f, e)
		}
		return k.named(f, id)
	}
	return refuse("kept", "%s is assigned again, in line %d", short(f.text(e)), f.line(e.Pos()))
}

// selected follows a field or a method of a value.
func (k *keeper) selected(f *file, sel *ast.SelectorExpr) *Refusal {
	chosen := f.info().Selections[sel]
	if chosen == nil {
		return k.keeps(f, sel)
	}
	if chosen.Kind() == types.FieldVal {
		if up, ok := f.parents[sel].(*ast.SelectorExpr); ok && !isPlain(chosen.Type()) {
			return k.selected(f, up)
		}
		if isPlain(chosen.Type()) {
			return nil
		}
		return k.keeps(f, sel)
	}
	call, ok := f.parents[sel].(*ast.CallExpr)
	if !ok || call.Fun != ast.Expr(sel) {
		return k.keeps(f, sel)
	}
	if _, ok := f.parents[call].(*ast.GoStmt); ok {
		return refuse("kept", "a goroutine has %s, in line %d", short(f.text(sel.X)), f.line(sel.Pos()))
	}
	t := f.info().TypeOf(sel.X)
	if r := reusableType(t); r != nil {
		shares, known := r.methods[sel.Sel.Name]
		switch {
		case !known:
			return refuse("kept", "%s is called of it, in line %d, which Reset may not undo", sel.Sel.Name, f.line(sel.Pos()))
		case shares:
			return k.value(f, call)
		}
		return nil
	}
	return k.results(f, call)
}

// results follows what a method of something that holds the value gives.
func (k *keeper) results(f *file, call *ast.CallExpr) *Refusal {
	_, _, fn := f.calls(call)
	if fn == nil {
		return k.keeps(f, call)
	}
	for v := range fn.Signature().Results().Variables() {
		if !sharesNothing(v.Type()) {
			return k.value(f, call)
		}
	}
	return nil
}

// sharesNothing: a value of the type has no memory of what gives it.
func sharesNothing(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return isString(s.Elem())
	}
	return isPlain(t) || types.Identical(t, types.Universe.Lookup("error").Type())
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// isBytes reports a slice of numbers.
func isBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}
