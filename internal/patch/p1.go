package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// readWriter checks a read in a loop and writes what it becomes: P1 and P2.
type readWriter struct {
	*rowRead
	place *Place
	loop  *loop
	via   *site // the call of the function that the read stands in; nil: it is in the loop
	sql   *read

	key     equality
	keyArg  int
	keyType types.Type
	before  string // the key, as it is named before the loop
	does    *effects
	field   string // of the struct, that holds the key

	// followers are reads whose keys are of the rows that this one reads; hear is what the
	// call of the new function gives it to be told of them; names are what they call them.
	followers []*eachWriter
	hear      string
	names     []string
}

// check shows the preconditions in the order of their table.
func (w *readWriter) check() *Refusal {
	f := w.f
	w.effects()
	if w.loop.overMap {
		return refuse("end", "the loop is over a map")
	}
	if r := w.loop.readsToEnd(); r != nil {
		return r
	}
	if w.via != nil {
		if r := w.via.keepsParameters(); r != nil {
			return r
		}
		varying, _ := w.via.varying(w.loop, w.does)
		for _, v := range w.via.late(w.loop) {
			if !slices.Contains(varying, v) {
				return refuse("key", "%s cannot be asked for before the loop: a pointer may be nil", short(w.loop.f.text(w.via.args[v])))
			}
		}
	}
	if w.does.unknown != "" {
		return refuse("calls", "%s", w.does.unknown)
	}
	if !w.loop.overFixed(w.does) {
		return refuse("end", "the loop is over %s, which is made by a call or changed in it", short(w.loop.f.text(w.loop.over)))
	}
	if !w.fixed(w.handle) || w.ctx != nil && !w.fixed(w.ctx) {
		return refuse("handle", "%s or its context is another one in each turn", short(f.text(w.handle)))
	}
	for _, check := range []func() *Refusal{w.checkKey, w.checkDestination, w.checkWrites, w.checkHandle} {
		if r := check(); r != nil {
			return r
		}
	}
	return nil
}

// effects of the loop, and of what the row is put into.
func (w *readWriter) effects() {
	if w.does != nil {
		return
	}
	if w.via == nil {
		w.does = w.f.effectsOf(w.loop.body, w.whole, w.call)
	} else {
		w.does = w.via.effects(w.loop, w.whole, w.call)
	}
	for _, d := range w.dsts {
		w.f.walk(w.does, d)
	}
}

// fixed reports an argument of the statement that is the same in each turn.
func (w *readWriter) fixed(e ast.Expr) bool {
	if w.via != nil {
		return w.via.fixed(w.loop, e, w.does)
	}
	return w.loop.fixed(e, w.does)
}

// onlyInTurn: an argument that is the same in each turn cannot be asked for before the
// loop, or a parameter that it is made of.
func (w *readWriter) onlyInTurn(a ast.Expr) bool {
	if w.via == nil {
		return w.f.mayPanic(a, w.loop.node, w.handle)
	}
	late := w.via.late(w.loop)
	return w.f.mayPanic(a, w.via.decl.Body, w.handle) || slices.ContainsFunc(w.via.named(a), func(v *types.Var) bool { return slices.Contains(late, v) })
}

// checkKey finds the one argument that depends on the loop.
func (w *readWriter) checkKey() *Refusal {
	f := w.f
	if w.spread || len(w.args) != w.sql.params {
		return refuse("statement", "its placeholders and arguments do not go together one by one")
	}
	w.keyArg = -1
	for i, a := range w.args {
		if w.fixed(a) {
			if w.onlyInTurn(a) {
				return refuse("key", "%s cannot be asked for before the loop: a pointer may be nil", short(f.text(a)))
			}
			continue
		}
		if w.keyArg >= 0 {
			return refuse("key", "two of its arguments are other ones in each turn")
		}
		w.keyArg = i
	}
	if w.keyArg < 0 {
		return refuse("key", "none of its arguments is another one in each turn")
	}
	found := false
	for _, e := range w.sql.equal {
		if e.param == w.keyArg {
			w.key, found = e, true
		}
	}
	if !found {
		return refuse("statement", "the loop's value is not compared by `column = ?`")
	}
	arg := w.args[w.keyArg]
	w.keyType = types.Default(f.info().TypeOf(arg))
	switch {
	case valuer(w.keyType):
		return refuse("key", "its type %s says itself what it is in a statement", f.typeName(w.keyType))
	case isInteger(w.keyType):
	case !isString(w.keyType) || w.sql.sum:
		return refuse("key", "its type is %s", f.typeName(w.keyType))
	case !f.program.schema.isUnique(w.sql.table, w.key.column):
		return refuse("key", "it is a string, and no schema shows that %s.%s is unique, which collations need", w.sql.table, w.key.column)
	}
	var r *Refusal
	if w.via != nil {
		w.before, r = w.via.turn(w.loop, arg, w.does)
	} else {
		w.before, r = w.loop.turn(arg, w.does)
	}
	return r
}

// valuer: the type has a method Value.
func valuer(t types.Type) bool {
	o, _, _ := types.LookupFieldOrMethod(t, true, nil, "Value")
	_, ok := o.(*types.Func)
	return ok
}

func (w *readWriter) checkDestination() *Refusal {
	f := w.f
	if w.intoStruct == nil {
		if w.sql.star {
			return refuse("destination", "`*` is scanned into single variables")
		}
		if n := len(w.sql.columns); !w.sql.sum && n != len(w.dsts) || w.sql.sum && len(w.dsts) != 1 {
			return refuse("destination", "the columns and what they are put into do not go together one by one")
		}
		for _, d := range w.dsts {
			p, ok := f.info().TypeOf(d).Underlying().(*types.Pointer)
			if !ok || !isPlain(p.Elem()) {
				return refuse("destination", "%s is a %s", short(f.text(d)), f.typeName(f.info().TypeOf(d)))
			}
		}
		return nil
	}
	if f.program.mapped {
		return refuse("destination", "the program tells sqlx which columns belong to which fields")
	}
	if w.sql.sum {
		return refuse("destination", "a sum is read into a struct")
	}
	field, t := keyField(w.intoStruct, w.key.column)
	if t == nil || !w.selects(w.key.column) {
		return refuse("destination", "no field of %s takes the key's column %s", f.typeName(w.intoStruct), w.key.column)
	}
	if isString(w.keyType) && !isString(t) || isInteger(w.keyType) && !isInteger(t) {
		return refuse("destination", "the field %s and the key are not of one kind", field)
	}
	w.field = field
	if r := plainFields(w.intoStruct); r != nil {
		return r
	}
	return w.checkZero()
}

// selects: the column is among those that are read.
func (w *readWriter) selects(name string) bool {
	if w.sql.star {
		return true
	}
	for _, c := range w.sql.columns {
		if c.result == name {
			return true
		}
	}
	return false
}

// checkZero shows that the struct is empty before the read: fields that no column fills
// would be lost otherwise.
func (w *readWriter) checkZero() *Refusal {
	f := w.f
	dst := ast.Unparen(w.dsts[0])
	not := refuse("destination", "%s may hold something before the read", short(f.text(dst)))
	if u, ok := dst.(*ast.UnaryExpr); ok && u.Op == token.AND {
		dst = ast.Unparen(u.X)
	}
	id, ok := dst.(*ast.Ident)
	if !ok {
		return not
	}
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok || !w.ofTurn(v) || !f.madeEmpty(v) {
		return not
	}
	for id, o := range f.info().Uses {
		if o == v && id.Pos() < w.whole.Pos() {
			return not
		}
	}
	return nil
}

// ofTurn: each turn has a variable of its own.
func (w *readWriter) ofTurn(v *types.Var) bool {
	if w.via != nil {
		return w.via.args[v] == nil && v.Pos() >= w.via.decl.Pos() && v.Pos() < w.via.decl.End()
	}
	return w.loop.inside(v) && v != w.loop.value
}

// madeEmpty: `var x T`, `x := T{}`, `x := &T{}`, `x := new(T)`, or a named result.
func (f *file) madeEmpty(v *types.Var) bool {
	made := f.made(v)
	if u, ok := made.(*ast.UnaryExpr); ok && u.Op == token.AND {
		made = u.X
	}
	switch made := made.(type) {
	case nil:
		declared := false
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.ValueSpec); ok && len(s.Values) == 0 {
				for _, id := range s.Names {
					declared = declared || f.info().Defs[id] == v
				}
			}
			if t, ok := n.(*ast.FuncType); ok && t.Results != nil {
				for _, field := range t.Results.List {
					for _, id := range field.Names {
						declared = declared || f.info().Defs[id] == v
					}
				}
			}
			return true
		})
		_, pointer := v.Type().Underlying().(*types.Pointer)
		return declared && !pointer
	case *ast.CompositeLit:
		return len(made.Elts) == 0
	case *ast.CallExpr:
		return f.text(made.Fun) == "new" && f.info().Types[made.Fun].IsBuiltin()
	}
	return false
}

func (w *readWriter) checkWrites() *Refusal { return w.leaves(w.sql.table) }

// maybeTransaction reports whether the read may be one of a transaction. A function that
// takes either (sqlx.Queryer) is given one of them by the loop.
func (w *readWriter) maybeTransaction() bool {
	if id, ok := ast.Unparen(w.handle).(*ast.Ident); ok && w.via != nil {
		if v, ok := w.f.info().Uses[id].(*types.Var); ok && w.via.args[v] != nil && !slices.Contains(w.via.changed, v) {
			return transaction(w.via.f.info().TypeOf(w.via.args[v]))
		}
	}
	return transaction(w.kind)
}

// leaves refuses a loop that may change what the read finds in a table.
func (w *readWriter) leaves(name string) *Refusal {
	s, does := w.f.program.schema, w.does
	switch table := strings.ToLower(name); {
	case does.anyTable:
		return refuse("writes", "the loop may write to any table: a statement of it is not a constant")
	case does.locks && w.maybeTransaction():
		return refuse("writes", "the loop writes or locks, and the read may be in its transaction")
	case len(does.writes) == 0:
	default:
		for _, t := range does.writes {
			if t == table {
				return refuse("writes", "the loop writes to %s", name)
			}
		}
		if s.tables[table] == nil || s.acts {
			return refuse("writes", "the loop writes to %s, and no schema shows that this leaves %s as it is", does.writes[0], name)
		}
	}
	return nil
}

// checkHandle shows that the handle has what the new read calls, and that types can be named.
func (w *readWriter) checkHandle() *Refusal {
	if r := w.loop.apart(w.f, w.call); r != nil {
		return r
	}
	if r := w.checkMethods(); r != nil {
		return r
	}
	if w.via != nil && w.via.recv != nil && !w.loop.fixed(w.via.args[w.via.recv], w.does) {
		return refuse("handle", "%s is a method of another value in each turn", w.f.function(w.via.decl))
	}
	if _, ok := w.loop.f.typeText(w.keyType); !ok {
		return refuse("compiles", "the type %s has no name where the loop is", w.f.typeName(w.keyType))
	}
	return w.canName(w.types())
}

// canName refuses types that cannot be written at the end of the file.
func (w *readWriter) canName(ts []types.Type) *Refusal {
	for _, t := range ts {
		if _, ok := w.f.typeText(t); !ok {
			return refuse("compiles", "the type %s has no name outside of the function", w.f.typeName(t))
		}
	}
	return nil
}

// checkMethods shows that the handle has what the new read calls.
func (w *readWriter) checkMethods() *Refusal {
	f := w.f
	need := "Query"
	if w.intoStruct != nil {
		need = "Select"
	}
	if w.function != "" && need == "Select" {
		return nil // it is a function
	}
	if w.ctx != nil {
		need += "Context"
	}
	o, _, _ := types.LookupFieldOrMethod(w.kind, true, f.pkg.Types, need)
	if _, ok := o.(*types.Func); !ok {
		return refuse("handle", "%s has no method %s", f.typeName(w.kind), need)
	}
	return nil
}

// types that the new function is written with.
func (w *readWriter) types() []types.Type {
	out := append(w.kinds(), w.keyType)
	for i, a := range w.args {
		if i != w.keyArg {
			out = append(out, types.Default(w.f.info().TypeOf(a)))
		}
	}
	return out
}

// kinds are the types of the handle and of what the row is put into.
func (w *readWriter) kinds() []types.Type {
	f := w.f
	out := []types.Type{w.kind}
	if w.list {
		return append(out, w.elem, f.info().TypeOf(w.dst))
	}
	if w.intoStruct != nil {
		out = append(out, w.intoStruct)
	} else {
		for _, d := range w.dsts {
			out = append(out, f.info().TypeOf(d))
		}
	}
	return out
}
