package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Reads that stand in functions which a loop calls, or which those call in turn (a function
// that fills an answer calls one that fills its author): the loop tells beforehand which
// elements are to come, each row tells which others will be asked for by it, and a context
// carries what was noted to the reads. What is noted is a guess that decides nothing: a read
// takes a row only by the values that it asks for itself, and only from its own handle.

// deepFn is a function with a context, with the reads in it that can be noted.
type deepFn struct {
	f     *file
	decl  *ast.FuncDecl
	ctx   *types.Var
	reads []*deepRead
	calls []*deepCall
	needs []*types.Var // parameters that its reads' values are of, in their order
	// from are the reads that fill variables of it.
	from map[*types.Var]*deepRead
	// each is a loop over a list that one of its reads fills, whose elements are looked at.
	each *loop
	list *deepRead
}

// deepRead is a read of such a function.
type deepRead struct {
	*eachWriter
	inner  *plan // of the loop that it has in its function; nil: none
	in     *deepFn
	values []hint // one for each of its arguments
	by     *deepRead
	name   string     // of its field
	asked  types.Type // of its handle; that of the loop may be more
	same   *deepRead  // which reads its rows, too: it may be itself
}

// deepCall is a call of another one.
type deepCall struct {
	to   *deepFn
	site *site
	args []hint // for what it needs
	by   *deepRead
}

// hint is a value as it is told before it is asked for.
type hint struct {
	text string       // with rowName for a struct that is told of
	nils []string     // what must not be nil for it
	by   *deepRead    // of the row of a read; nil: of parameters
	of   []*types.Var // parameters
}

// rowName is what a struct is called where it is told of.
const rowName = "row"

// deepSite is a loop that calls one.
type deepSite struct {
	to     *deepFn
	site   *site
	loop   *loop
	does   *effects
	args   []early // for what the function needs
	handle string
	kind   types.Type // of the handle
}

// deeps finds such functions, each once.
type deeps struct {
	p    *Program
	all  []*plan
	made map[*ast.FuncDecl]*deepFn
}

// of is what a function has to note; nil: nothing, or it is not understood.
func (ds *deeps) of(decl *ast.FuncDecl) *deepFn {
	if fn, ok := ds.made[decl]; ok {
		return fn
	}
	ds.made[decl] = nil // while it is looked at, and where it calls itself
	f := ds.p.in[decl]
	fn := &deepFn{f: f, decl: decl, from: map[*types.Var]*deepRead{}}
	if fn.ctx = fn.context(); fn.ctx == nil || f.own() != nil || !ds.p.leavesContext(decl, fn.ctx, nil) {
		return nil
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if r := f.rowRead(n); r != nil {
				ds.noteRead(fn, r)
			} else {
				ds.noteCall(fn, n)
			}
		}
		return true
	})
	if len(fn.reads)+len(fn.calls) == 0 {
		return nil
	}
	fn.note()
	ds.made[decl] = fn
	return fn
}

// context is the only parameter that is one.
func (fn *deepFn) context() *types.Var {
	sig := fn.f.info().Defs[fn.decl.Name].(*types.Func).Signature()
	var out *types.Var
	for v := range sig.Params().Variables() {
		if !named(v.Type(), "context", "Context") {
			continue
		}
		if out != nil || v.Name() == "" || v.Name() == "_" {
			return nil
		}
		out = v
	}
	return out
}

// leavesContext: a function gives its context to reads and to functions that do the same, and
// keeps it nowhere: what it carries is not met again once the function has ended.
func (p *Program) leavesContext(decl *ast.FuncDecl, ctx *types.Var, seen []*types.Var) bool {
	f := p.in[decl]
	if decl.Body == nil || slices.Contains(seen, ctx) {
		return decl.Body != nil
	}
	seen, leaves := append(seen, ctx), true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || f.info().Uses[id] != ctx || !leaves {
			return leaves
		}
		if _, literal := enclosing[*ast.FuncLit](f, id); literal {
			leaves = false
			return false
		}
		switch at := f.parents[id].(type) {
		case *ast.SelectorExpr:
			leaves = slices.Contains([]string{"Err", "Deadline", "Value"}, at.Sel.Name)
		case *ast.CallExpr:
			leaves = p.takesContext(f, at, id, seen)
		default:
			leaves = false
		}
		return leaves
	})
	return leaves
}

// takesContext: what is called with a context leaves it, too.
func (p *Program) takesContext(f *file, call *ast.CallExpr, id *ast.Ident, seen []*types.Var) bool {
	if f.dbCall(call) != nil {
		return true
	}
	fn := f.calledFunction(call)
	if fn == nil || fn.Signature().Variadic() {
		return fn != nil && strings.HasPrefix(pathOf(fn), "log")
	}
	decl := p.bodies[fn]
	i := slices.Index(call.Args, ast.Expr(id))
	if decl == nil || i < 0 || i >= fn.Signature().Params().Len() {
		return false
	}
	return p.leavesContext(decl, fn.Signature().Params().At(i), seen)
}

// calledFunction is the function that a call names; nil: it is none that is known.
func (f *file) calledFunction(call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	}
	if id == nil {
		return nil
	}
	fn, ok := f.info().Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	return fn.Origin()
}

// noteRead notes a read whose values can be told beforehand.
func (ds *deeps) noteRead(fn *deepFn, r *rowRead) {
	f := fn.f
	if r.ctx == nil || f.variable(r.ctx) != fn.ctx || !r.known || r.spread || len(r.args) == 0 {
		return
	}
	l, why := r.around()
	d := &deepRead{in: fn, asked: r.kind}
	switch {
	case why != nil:
		return
	case l != nil:
		if d.inner = ds.innerPlan(r); d.inner == nil || !fn.over(l) {
			return
		}
		defer func() { fn.each = nil }()
	}
	if d.eachWriter = fn.writer(r); d.eachWriter == nil {
		return
	}
	if !fn.noteValues(d, r, l) {
		return
	}
	fn.reads = append(fn.reads, d)
	if d.inner != nil {
		return
	}
	for _, dst := range r.dsts {
		v := f.variable(addressed(dst))
		if _, twice := fn.from[v]; v != nil && !twice {
			fn.from[v] = d
		} else if v != nil {
			fn.from[v] = nil
		}
	}
}

// noteValues notes what a read asks by; false: not all of it can be told before.
func (fn *deepFn) noteValues(d *deepRead, r *rowRead, l *loop) bool {
	for _, a := range r.args {
		h, ok := fn.hint(a)
		if ok && d.inner != nil {
			_, why := l.early(a, d.inner.w.does)
			ok = why == nil
		}
		if !ok {
			return false
		}
		d.values = append(d.values, h)
	}
	by, ok := source(d.values)
	d.by = by
	return ok && (d.inner == nil || by == fn.list)
}

// innerPlan is the plan of a read in a loop of its own, which is offered and stands alone.
func (ds *deeps) innerPlan(r *rowRead) *plan {
	i := slices.IndexFunc(ds.all, func(p *plan) bool { return p.w != nil && p.w.via == nil && p.w.whole == r.whole })
	if i < 0 {
		return nil
	}
	p := ds.all[i]
	if p.at.Refused != nil || p.w.loop.rows != nil || p.w.loop.overMap || len(p.followers) > 0 || p.each != nil && (p.each.given != nil || p.each.emptyOnly) {
		return nil
	}
	return p
}

// over looks at the elements of a loop over a list that a read of the function fills; false:
// it is over something else.
func (fn *deepFn) over(l *loop) bool {
	list := fn.from[fn.f.variable(l.over)]
	if list == nil || !list.list || list.intoStruct == nil {
		return false
	}
	fn.each, fn.list = l, list
	return true
}

// writer is how a read is written; nil: it cannot be. It is judged as one that takes the row
// of another one, but for its values.
func (fn *deepFn) writer(r *rowRead) *eachWriter {
	f := fn.f
	b, why := parseBranch(r.text)
	if why != "" || len(b.tables) == 0 || b.params != len(r.args) {
		return nil
	}
	via := &site{f: f, call: r.call, in: f, decl: fn.decl, args: map[*types.Var]ast.Expr{}}
	for v := range f.info().Defs[fn.decl.Name].(*types.Func).Signature().Params().Variables() {
		via.args[v] = r.call.Fun // anything: it is a parameter
	}
	l := &loop{f: f, node: &ast.RangeStmt{For: fn.decl.Pos()}, body: fn.decl.Body}
	w := &eachWriter{branch: b, readWriter: &readWriter{rowRead: r, loop: l, via: via, sql: &read{table: b.tables[0]}, does: f.effectsOf(&ast.BlockStmt{})}}
	w.given = w.readWriter
	for i, a := range r.args {
		t := types.Default(f.info().TypeOf(a))
		if b.inList[i] || !comparableValue(t) {
			return nil
		}
		name := "key"
		if len(r.args) > 1 {
			name = numbered("key", i)
		}
		w.keys = append(w.keys, eachKey{arg: i, t: t, name: name})
	}
	if w.checkTables() != nil || w.checkInto() != nil || !types.IsInterface(w.kind) && w.checkNames() != nil {
		return nil
	}
	if w.emptyOnly || w.wide != nil || !w.givesNoRows() && !w.list && !w.branch.sum {
		return nil
	}
	return w
}

// source is the read whose row hints are of, if they are of one and of nothing else.
func source(hs []hint) (*deepRead, bool) {
	var by *deepRead
	params := false
	for _, h := range hs {
		switch {
		case h.by != nil && by != nil && by != h.by:
			return nil, false
		case h.by != nil:
			by = h.by
		}
		params = params || len(h.of) > 0
	}
	return by, (by != nil) != params
}

// noteCall notes a call of a function that has something to note.
func (ds *deeps) noteCall(fn *deepFn, call *ast.CallExpr) {
	called := fn.f.calledFunction(call)
	if called == nil || ds.p.bodies[called] == nil {
		return
	}
	to := ds.of(ds.p.bodies[called])
	if to == nil {
		return
	}
	s := &site{f: fn.f, call: call, in: to.f, decl: to.decl}
	if s.bind() != nil || fn.f.variable(s.args[to.ctx]) != fn.ctx {
		return
	}
	c := &deepCall{to: to, site: s}
	if s.inLoop() {
		var args []ast.Expr
		for _, v := range to.needs {
			args = append(args, s.args[v])
		}
		l, _ := (&rowRead{dbCall: &dbCall{call: call, args: args}, f: fn.f}).around()
		if l == nil || l.rows != nil || l.overMap || !fn.over(l) {
			return
		}
		defer func() { fn.each = nil }()
	}
	for _, v := range to.needs {
		h, ok := fn.hint(s.args[v])
		if !ok || s.converted(v) {
			return
		}
		c.args = append(c.args, h)
	}
	by, ok := source(c.args)
	if c.by = by; ok && (fn.each == nil || by == fn.list) {
		fn.calls = append(fn.calls, c)
	}
}

// note notes the parameters that are told.
func (fn *deepFn) note() {
	want := map[*types.Var]bool{}
	for _, d := range fn.reads {
		for _, h := range d.values {
			for _, v := range h.of {
				want[v] = true
			}
		}
	}
	for _, c := range fn.calls {
		for _, h := range c.args {
			for _, v := range h.of {
				want[v] = true
			}
		}
	}
	for v := range fn.f.info().Defs[fn.decl.Name].(*types.Func).Signature().Params().Variables() {
		if want[v] {
			fn.needs = append(fn.needs, v)
		}
	}
}
