package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// early is what an expression of the loop's body is before the loop.
type early struct {
	text string
	nils []string // what must not be nil, in the order in which it is looked at
	row  *given   // it is of a row that an earlier read of the turn gives; root: that itself
	root bool
}

// early names the value that an expression is made of, as turn does, but for reads that
// compare the value when its turn has come: that something may change it is no matter,
// as long as no statement of the loop assigns it in each turn.
func (l *loop) early(e ast.Expr, does *effects) (early, *Refusal) {
	f := l.f
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.earlyName(e, does)
	case *ast.BasicLit:
		return early{text: e.Value}, nil
	case *ast.SelectorExpr:
		chosen := f.info().Selections[e]
		if chosen == nil && f.info().Types[e].Value != nil {
			return early{text: f.text(e)}, nil
		}
		if chosen == nil || chosen.Kind() != types.FieldVal || chosen.Indirect() != isPointer(f.info().TypeOf(e.X)) {
			return early{}, refuse("key", "%s is no field", short(f.text(e)))
		}
		x, r := l.early(e.X, does)
		if x.row != nil && does.assigned[chosen.Obj().(*types.Var)] {
			return early{}, refuse("key", "the loop changes %s", short(f.text(e)))
		}
		return x.pointed(f.info().TypeOf(e.X)).with("", "."+e.Sel.Name), r
	case *ast.StarExpr:
		x, r := l.early(e.X, does)
		return x.pointed(f.info().TypeOf(e.X)).with("*", ""), r
	case *ast.IndexExpr:
		if l.index == nil || f.text(e.X) != l.overText() || f.text(e.Index) != l.index.Name() {
			return early{}, refuse("key", "%s is no element of what the loop is over", short(f.text(e)))
		}
		return early{text: f.text(e)}, nil
	case *ast.CallExpr:
		if f.info().Types[e.Fun].IsType() && len(e.Args) == 1 {
			x, r := l.early(e.Args[0], does)
			return x.with(f.text(e.Fun)+"(", ")"), r
		}
		if f.ofTimeByConstants(e) {
			sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
			x, r := l.early(sel.X, does)
			return x.pointed(f.info().TypeOf(sel.X)).with("", "."+f.textAfter(sel.X, e)), r
		}
	}
	return early{}, refuse("key", "%s is more than a value of the loop's element", short(f.text(e)))
}

// ofTimeByConstants is a method of a point in time with arguments that the compiler knows.
func (f *file) ofTimeByConstants(call *ast.CallExpr) bool {
	return f.ofTime(call) && !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return f.info().Types[a].Value == nil })
}

// textAfter is what stands behind the dot after a part of an expression.
func (f *file) textAfter(part, whole ast.Node) string {
	return strings.TrimPrefix(strings.TrimSpace(string(f.src[f.offset(part.End()):f.offset(whole.End())])), ".")
}

// earlyName is early of a name.
func (l *loop) earlyName(e *ast.Ident, does *effects) (early, *Refusal) {
	v, ok := l.f.info().Uses[e].(*types.Var)
	switch {
	case !ok:
		return early{text: e.Name}, nil // a constant
	case l.given[v] != nil:
		return early{text: e.Name, row: l.given[v], root: true}, nil
	case does.set[v]:
		return early{}, refuse("key", "the loop changes %s", e.Name)
	case l.part(v) != "":
		return early{text: l.part(v)}, nil
	case v == l.index || v == l.value:
		return early{text: e.Name}, nil
	case !l.inside(v) && does.assigned[v]:
		return early{}, refuse("key", "the loop changes %s", e.Name)
	case !l.inside(v):
		return early{text: e.Name}, nil
	}
	made := l.f.made(v)
	if made == nil {
		return early{}, refuse("key", "%s is not made of the loop's element in one place", e.Name)
	}
	if !types.Identical(l.f.info().TypeOf(made), v.Type()) {
		return early{}, refuse("key", "%s is of another type than what it is made of", e.Name)
	}
	return l.early(made, does)
}

func (x early) with(before, after string) early {
	return early{text: before + x.text + after, nils: x.nils, row: x.row}
}

// pointed is what a pointer points to, which is looked at only if there is something.
func (x early) pointed(t types.Type) early {
	if !isPointer(t) || x.root {
		return x
	}
	return early{text: x.text, nils: append(slices.Clone(x.nils), x.text), row: x.row}
}

// early is what the loop's early is, for an expression of the function: a parameter, or
// a field of one.
func (s *site) early(l *loop, e ast.Expr, does *effects) (early, *Refusal) {
	f := s.in
	if slices.ContainsFunc(s.named(e), func(v *types.Var) bool { return slices.Contains(s.changed, v) }) {
		return early{}, s.keepsParameters()
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := f.info().Uses[e].(*types.Var); ok && s.args[v] != nil {
			if s.converted(v) {
				return early{}, refuse("key", "%s becomes another type as a parameter", short(s.f.text(s.args[v])))
			}
			return l.early(s.args[v], does)
		}
	case *ast.StarExpr:
		x, r := s.early(l, e.X, does)
		return x.pointed(f.info().TypeOf(e.X)).with("*", ""), r
	case *ast.SelectorExpr:
		chosen := f.info().Selections[e]
		if chosen == nil || chosen.Kind() != types.FieldVal || chosen.Indirect() != isPointer(f.info().TypeOf(e.X)) {
			break
		}
		if id, ok := ast.Unparen(e.X).(*ast.Ident); ok {
			if v, ok := f.info().Uses[id].(*types.Var); ok && s.args[v] != nil {
				x, r := s.earlyStruct(l, s.args[v], does)
				return x.with("", "."+e.Sel.Name), r
			}
		}
		x, r := s.early(l, e.X, does)
		return x.pointed(f.info().TypeOf(e.X)).with("", "."+e.Sel.Name), r
	case *ast.CallExpr:
		if f == s.f {
			return s.earlyCall(l, e, does)
		}
	}
	return early{}, refuse("key", "%s is more than a parameter of %s", short(f.text(e)), f.function(s.decl))
}

// converted: what a parameter is given becomes another type by that.
func (s *site) converted(v *types.Var) bool {
	given := s.f.info().Types[s.args[v]]
	return !types.Identical(given.Type, v.Type()) && given.Value == nil
}

// earlyCall is early of a conversion, or of a method of a point in time.
func (s *site) earlyCall(l *loop, e *ast.CallExpr, does *effects) (early, *Refusal) {
	f := s.in
	switch {
	case f.info().Types[e.Fun].IsType() && len(e.Args) == 1:
		x, r := s.early(l, e.Args[0], does)
		return x.with(f.text(e.Fun)+"(", ")"), r
	case f.ofTimeByConstants(e):
		sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		x, r := s.early(l, sel.X, does)
		return x.pointed(f.info().TypeOf(sel.X)).with("", "."+f.textAfter(sel.X, e)), r
	}
	return early{}, refuse("key", "%s is more than a parameter of %s", short(f.text(e)), f.function(s.decl))
}

// earlyStruct is what a struct is given by, or a pointer to one, so that a field can be
// taken of it: x of &x, and p of *p.
func (s *site) earlyStruct(l *loop, arg ast.Expr, does *effects) (early, *Refusal) {
	arg = ast.Unparen(arg)
	switch e := arg.(type) {
	case *ast.UnaryExpr:
		arg = addressed(arg)
	case *ast.StarExpr:
		arg = e.X
	}
	x, r := l.early(arg, does)
	return x.pointed(s.f.info().TypeOf(arg)), r
}
