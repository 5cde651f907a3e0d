package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// eachWriter checks a read in a loop that becomes branches of a UNION ALL, and writes it.
// It is asked where no IN can give each element the rows of its own statement. The
// statement stays as it is, so that what it gives for given values is what it gave; the
// values of an element are those that its turn has, not the ones gathered before.
type eachWriter struct {
	*readWriter
	branch *branch
	number string // the column with the number of the branch
	keys   []eachKey
	wide   *types.Var // the parameter of an interface that becomes what the loop gives it
	column string     // what the only column is called, where it is read as a field
	// given is the read whose rows give the keys; nil: the loop's elements do. keyVars are
	// the slices that they are put into, then.
	other   *branch // of the other text that the statement may have; nil: there is one text
	given   *readWriter
	keyVars []string
	// emptyOnly: the struct is taken only if what it is put into is empty then.
	emptyOnly bool
	// copied are fields that point to a value, cloned those of bytes: each copy of a row
	// has its own.
	copied, cloned []string
	bytes          bool // the only column is bytes, of which each copy of a row has its own
}

// eachKey is a value that is another one in each turn.
type eachKey struct {
	arg  int
	t    types.Type
	name string // in the new function
	from early
}

const (
	// mostBranches of one statement. Each opens its tables once more, and is planned by itself.
	mostBranches = 64
	// mostLists of one statement, where the statement does not say how long they are: all
	// of them are kept until their turn.
	mostLists = 16
)

// most branches of one statement.
func (w *eachWriter) most() int {
	if w.list && (!w.branch.limited || w.other != nil && !w.other.limited) {
		return mostLists
	}
	return mostBranches
}

// eachOf is the writer of a read, or says what is not understood.
func (w *readWriter) eachOf() (*eachWriter, *Refusal) {
	b, why := parseBranch(w.text)
	if why != "" {
		return nil, refuse("statement", "%s", why)
	}
	e := &eachWriter{readWriter: w, branch: b}
	if w.texts != nil {
		if r := e.checkTexts(); r != nil {
			return nil, r
		}
	}
	for _, check := range []func() *Refusal{e.checkAround, e.checkTables, e.checkKeys, e.checkInto, e.checkEachWrites, e.checkNames} {
		if r := check(); r != nil {
			return nil, r
		}
	}
	return e, nil
}

// checkTexts shows that the longer of two texts is a branch like the first one.
func (w *eachWriter) checkTexts() *Refusal {
	other, why := parseBranch(w.texts[1])
	b := w.branch
	switch {
	case why != "":
		return refuse("statement", "with what is added, %s", why)
	case other.params != b.params || other.text[:other.list] != b.text[:b.list] || other.sum != b.sum || other.ordered != b.ordered || !slices.Equal(other.tables, b.tables):
		return refuse("statement", "what is added changes more than its conditions and its LIMIT")
	}
	w.other, b.names = other, append(b.names, other.names...)
	return nil
}

// checkAround looks at what is called, at the loop and at the handle.
func (w *eachWriter) checkAround() *Refusal {
	w.effects()
	if r := w.loop.apart(w.f, w.call); r != nil {
		return r
	}
	w.widen()
	switch {
	case w.does.unknown != "":
		return refuse("calls", "%s", w.does.unknown)
	case !w.loop.overThere():
		return refuse("end", "the loop is over %s, which is made by a call", short(w.loop.f.text(w.loop.over)))
	case w.onlyLate(w.handle) || w.ctx != nil && w.onlyLate(w.ctx):
		return refuse("handle", "%s or its context cannot be asked for before the loop: a pointer may be nil", short(w.f.text(w.handle)))
	case !w.fixed(w.handle) || w.ctx != nil && !w.fixed(w.ctx) || w.hides(w.handle) || w.ctx != nil && w.hides(w.ctx):
		return refuse("handle", "%s or its context is another one in each turn", short(w.f.text(w.handle)))
	}
	return nil
}

// widen takes the handle as what the loop gives the function, where the function itself
// asks for less than the new read needs.
func (w *eachWriter) widen() {
	id, ok := ast.Unparen(w.handle).(*ast.Ident)
	if w.via == nil || !ok || w.checkMethods() == nil {
		return
	}
	v, ok := w.f.info().Uses[id].(*types.Var)
	if !ok || w.via.args[v] == nil || !types.IsInterface(v.Type()) || slices.Contains(w.via.changed, v) {
		return
	}
	if t := w.loop.f.info().TypeOf(w.via.args[v]); w.via.f.pkg == w.f.pkg {
		call := *w.dbCall // which other loops share
		call.kind = t
		read := *w.rowRead
		read.dbCall, w.rowRead, w.wide = &call, &read, v
	}
}

// asStruct takes a single value as a field of a struct, where the handle has Select but
// no Query.
func (w *eachWriter) asStruct() bool {
	if w.intoStruct != nil || w.dst == nil || w.other != nil || w.f.program.mapped {
		return false
	}
	if w.function != "" {
		w.column = w.branch.named("branch_value")
		return w.column != "" && !slices.Contains(w.branch.names, "branch_value")
	}
	name := "Select"
	if w.ctx != nil {
		name += "Context"
	}
	o, _, _ := types.LookupFieldOrMethod(w.kind, true, w.f.pkg.Types, name)
	if _, ok := o.(*types.Func); !ok {
		return false
	}
	w.column = w.branch.named("branch_value")
	return w.column != "" && !slices.Contains(w.branch.names, "branch_value")
}

// ofOther: the function is a method of another value in each turn.
func (w *eachWriter) ofOther() bool {
	return w.via != nil && w.via.recv != nil && !w.loop.fixed(w.via.args[w.via.recv], w.does)
}

// hides: an expression names a parameter that the function changes.
func (w *eachWriter) hides(e ast.Expr) bool {
	return w.via != nil && slices.ContainsFunc(w.via.named(e), func(v *types.Var) bool { return slices.Contains(w.via.changed, v) })
}

// onlyLate: the function gets its handle or context by what cannot be asked for before
// the loop.
func (w *eachWriter) onlyLate(e ast.Expr) bool {
	if w.via == nil {
		return false
	}
	late := w.via.late(w.loop)
	return slices.ContainsFunc(w.via.named(e), func(v *types.Var) bool { return slices.Contains(late, v) })
}

// checkTables: a column that a UNION gives another form than the table.
func (w *eachWriter) checkTables() *Refusal {
	s := w.f.program.schema
	for _, name := range w.branch.tables {
		if column := s.unlikeInUnion(name); column != "" {
			return refuse("statement", "%s.%s is a %s, which a UNION may give in another form", name, column, strings.ToUpper(s.typeOf(name, column)))
		}
	}
	if w.number = w.branch.numberColumn(s); w.number == "" {
		return refuse("statement", "no name is free for the number of the branch")
	}
	return nil
}

// checkKeys finds the arguments that depend on the loop.
func (w *eachWriter) checkKeys() *Refusal {
	f := w.f
	if w.spread || len(w.args) != w.branch.params {
		return refuse("statement", "its placeholders and arguments do not go together one by one")
	}
	var befores []string
	for i, a := range w.args {
		t := types.Default(f.info().TypeOf(a))
		if w.fixed(a) && !w.hides(a) && !w.onlyInTurn(a) {
			if !isPlain(t) {
				return refuse("key", "%s is a %s", short(f.text(a)), f.typeName(t))
			}
			continue
		}
		if !comparableValue(t) {
			return refuse("key", "its type is %s", f.typeName(t))
		}
		from, r := w.earlyOf(a)
		if r != nil {
			return r
		}
		if w.branch.inList[i] {
			return refuse("statement", "a placeholder among its columns is another one in each turn")
		}
		w.keys = append(w.keys, eachKey{arg: i, t: t, name: "key", from: from})
		befores = append(befores, from.text)
	}
	switch len(w.keys) {
	case 0:
		return refuse("key", "none of its arguments is another one in each turn")
	case 1:
	default:
		for i := range w.keys {
			w.keys[i].name = numbered("key", i)
		}
	}
	w.before = strings.Join(befores, " ")
	if r := w.checkGiven(); r != nil || w.given != nil {
		return r
	}
	return w.checkElement()
}

// checkElement shows that the loop's element gives one of the values.
func (w *eachWriter) checkElement() *Refusal {
	if !w.named(w.before, w.loop.index) && !w.named(w.before, w.loop.value) {
		return refuse("key", "none of its arguments is of the loop's element")
	}
	return nil
}

func (w *eachWriter) earlyOf(a ast.Expr) (early, *Refusal) {
	if w.via != nil {
		return w.via.early(w.loop, a, w.does)
	}
	return w.loop.early(a, w.does)
}

// comparableValue: two values that are equal send the same to the server.
func comparableValue(t types.Type) bool {
	if !isPlain(t) {
		return false
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind() != types.UntypedNil && b.Info()&(types.IsInteger|types.IsString|types.IsBoolean) != 0 && !valuer(t)
	}
	return true
}

// checkEachWrites is checkWrites for all tables that the statement names.
func (w *eachWriter) checkEachWrites() *Refusal {
	w.sql.table = "values"
	if len(w.branch.tables) > 0 {
		w.sql.table = w.branch.tables[0]
	}
	if w.does.anyTable || w.does.locks && w.maybeTransaction() {
		return w.leaves(w.sql.table)
	}
	for _, t := range w.does.writes {
		if slices.Contains(w.branch.names, t) {
			return refuse("writes", "the loop writes to %s", t)
		}
	}
	for _, t := range w.branch.tables {
		if r := w.leaves(t); r != nil {
			return r
		}
	}
	return nil
}

// checkNames shows that the handle has what the new read calls, and that types can be named.
func (w *eachWriter) checkNames() *Refusal {
	if r := w.checkMethods(); r != nil && !w.asStruct() {
		return r
	}
	if w.via != nil && w.via.recv != nil && w.ofOther() && (w.via.recv.Name() == "" || w.via.recv.Name() == "_" || w.via.f.pkg != w.f.pkg) {
		return refuse("handle", "%s is a method of another value in each turn", w.f.function(w.via.decl))
	}
	ts := append(w.kinds(), w.keyTypes()...)
	for i, a := range w.args {
		if !slices.ContainsFunc(w.keys, func(k eachKey) bool { return k.arg == i }) {
			ts = append(ts, types.Default(w.f.info().TypeOf(a)))
		}
	}
	for _, t := range w.keyTypes() {
		if _, ok := w.loop.f.typeText(t); !ok {
			return refuse("compiles", "the type %s has no name where the loop is", w.f.typeName(t))
		}
	}
	return w.canName(ts)
}

func (w *eachWriter) keyTypes() []types.Type {
	var out []types.Type
	for _, k := range w.keys {
		out = append(out, k.t)
	}
	return out
}
