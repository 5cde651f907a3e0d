package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// value is one of those that a statement is given for a row.
type value struct {
	expr ast.Expr // nil: the text is a field, or nothing
	text string
	kind types.Type
}

// values are those of a statement, in the order of its placeholders.
func (w *insertLoop) values() []value {
	if w.named != nil {
		return w.named
	}
	var out []value
	for _, a := range w.args {
		out = append(out, value{a, w.f.text(a), w.f.info().TypeOf(a)})
	}
	return out
}

// unnamed understands a statement of sqlx with named values, as it sends it itself: with
// placeholders, and their values by the tags of a struct.
func (w *insertLoop) unnamed() *Refusal {
	f := w.f
	if pathOf(f.calledMethod(w.call)) != sqlxPath || len(w.args) != 1 || f.program.mapped {
		return refuse("statement", "its values are named, and it is not known how")
	}
	text, names, why := placeholders(w.text)
	if why != "" {
		return refuse("statement", "its values are named, and %s", why)
	}
	arg := ast.Unparen(w.args[0])
	fields, r := w.fieldsOf(arg)
	if r != nil {
		return r
	}
	for _, name := range names {
		v, ok := fields(name)
		if !ok {
			return refuse("statement", "nothing plain of %s is called %s", short(f.text(arg)), name)
		}
		w.named = append(w.named, v)
	}
	c := *w.dbCall
	c.text = text
	w.dbCall = &c
	return nil
}

// calledMethod is the function or method that a call names; nil if none is known.
func (f *file) calledMethod(call *ast.CallExpr) *types.Func {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	fn, _ := f.info().Uses[sel.Sel].(*types.Func)
	return fn
}

// fieldsOf finds the value of a name in a struct, which is made there, or a variable.
func (w *insertLoop) fieldsOf(arg ast.Expr) (func(name string) (value, bool), *Refusal) {
	f := w.f
	t := f.info().TypeOf(arg)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, refuse("statement", "its values are named, by a %s", f.typeName(t))
	}
	for v := range s.Fields() {
		if v.Embedded() {
			return nil, refuse("statement", "its values are named, by a struct that embeds %s", v.Name())
		}
	}
	lit := arg
	if u, ok := lit.(*ast.UnaryExpr); ok && u.Op == token.AND {
		lit = u.X
	}
	if made, ok := lit.(*ast.CompositeLit); ok {
		return func(name string) (value, bool) { return f.literalField(made, s, t, name) }, nil
	}
	id, ok := arg.(*ast.Ident)
	if !ok {
		return nil, refuse("statement", "its values are named, by %s", short(f.text(arg)))
	}
	if isPointer(f.info().TypeOf(arg)) && !w.neverNil(id) {
		return nil, refuse("statement", "its values are named, by %s, which may be nil", id.Name)
	}
	return func(name string) (value, bool) {
		field, kind := keyField(t, name)
		return value{nil, id.Name + "." + field, kind}, kind != nil && !strings.Contains(name, ".")
	}, nil
}

// neverNil: a variable of the loop is made as the address of a struct, and nothing else is
// put into it.
func (w *insertLoop) neverNil(id *ast.Ident) bool {
	v, ok := w.f.info().Uses[id].(*types.Var)
	if !ok || !w.loop.inside(v) || w.does.set[v] || w.f.escapes(v) {
		return false
	}
	made, ok := w.f.made(v).(*ast.UnaryExpr)
	return ok && made.Op == token.AND
}

// literalField is the value that a struct made in the call has for a column.
func (f *file) literalField(made *ast.CompositeLit, s *types.Struct, t types.Type, name string) (value, bool) {
	field, kind := keyField(t, name)
	if kind == nil {
		return value{}, false
	}
	for i, e := range made.Elts {
		this := s.Field(min(i, s.NumFields()-1)).Name()
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			this, e = f.text(kv.Key), kv.Value
		}
		if this == field {
			return value{e, f.text(e), kind}, f.keepsType(e, kind)
		}
	}
	b, ok := types.Unalias(kind).(*types.Basic)
	switch { // nothing is said of it
	case !ok:
		return value{}, false
	case b.Info()&types.IsInteger != 0:
		return value{nil, "0", kind}, true
	case b.Info()&types.IsString != 0:
		return value{nil, `""`, kind}, true
	case b.Info()&types.IsBoolean != 0:
		return value{nil, "false", kind}, true
	}
	return value{}, false
}

// keepsType: an expression has the type of the field that it is put into also where it
// stands alone, or one that the driver sends alike.
func (f *file) keepsType(e ast.Expr, kind types.Type) bool {
	if f.info().Types[e].Value == nil {
		return types.Identical(f.info().TypeOf(e), kind)
	}
	b, ok := types.Unalias(kind).(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsString|types.IsBoolean) != 0 && b.Kind() != types.Uint64
}

// placeholders is a text with ? for each :name, and the names; why says what it has that is
// not understood.
func placeholders(text string) (out string, names []string, why string) {
	if strings.ContainsAny(text, `'"?\`) || strings.Contains(text, "::") || strings.Contains(text, ":=") {
		return "", nil, "it has quotes or signs that sqlx looks at"
	}
	parts := strings.Split(text, ":")
	var b strings.Builder
	b.WriteString(parts[0])
	for _, part := range parts[1:] {
		n := 0
		for n < len(part) && (part[n] == '_' || part[n] == '.' || part[n] >= '0' && part[n] <= '9' || part[n]|0x20 >= 'a' && part[n]|0x20 <= 'z') {
			n++
		}
		if n == 0 || n < len(part) && part[n] >= 0x80 {
			return "", nil, "one has no plain name"
		}
		names = append(names, part[:n])
		b.WriteString("?" + part[n:])
	}
	return b.String(), names, ""
}
