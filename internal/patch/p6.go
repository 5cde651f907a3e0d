package patch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// againRead is a read that its function has made before, with the same text and values: P6.
type againRead struct {
	*rowRead
	first  *rowRead
	body   *ast.BlockStmt // of the function
	at     *Place
	branch *branch
	into   []*types.Var // the variables that the first read filled
	stmt   ast.Stmt     // of the second read, with what looks at its error
}

// findAgain finds P6.
func findAgain(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		for body, rs := range f.readsByFunction() {
			for i, r := range rs {
				if at := f.againOf(body, rs[:i], r); at != nil {
					out = append(out, at)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b *Place) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return out
}

// readsByFunction are the reads of one row with a constant text, in no loop, by the body of their
// function.
func (f *file) readsByFunction() map[*ast.BlockStmt][]*rowRead {
	reads := map[*ast.BlockStmt][]*rowRead{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || f.inAnyLoop(call) {
			return true
		}
		r := f.rowRead(call)
		if r == nil || !r.known || r.list {
			return true
		}
		if body := f.bodyAround(call); body != nil {
			reads[body] = append(reads[body], r)
		}
		return true
	})
	return reads
}

// bodyAround is the body of the innermost function around a node.
func (f *file) bodyAround(n ast.Node) *ast.BlockStmt {
	for at := f.parents[n]; at != nil; at = f.parents[at] {
		switch at := at.(type) {
		case *ast.FuncLit:
			return at.Body
		case *ast.FuncDecl:
			return at.Body
		}
	}
	return nil
}

// inAnyLoop: a loop of its function is around a node.
func (f *file) inAnyLoop(n ast.Node) bool {
	for at := f.parents[n]; at != nil; at = f.parents[at] {
		switch at.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// againOf judges a read with those before that ask the same, the last one first: the place is
// that of one which is offered, or else of the last; nil if there is none.
func (f *file) againOf(body *ast.BlockStmt, before []*rowRead, r *rowRead) *Place {
	var out *Place
	for i := len(before) - 1; i >= 0 && (out == nil || out.Refused != nil); i-- {
		first := before[i]
		if first.text != r.text || first.method != r.method || !f.sameExprs(first.asked(), r.asked()) {
			continue
		}
		at := f.place("P6", r.whole, "the same read again in one function")
		at.Statement = r.text
		w := &againRead{rowRead: r, first: first, body: body, at: at}
		if w.judge(); out == nil || at.Refused == nil {
			out = at
		}
	}
	return out
}

// asked are the expressions that tell what is read beside the text.
func (r *rowRead) asked() []ast.Expr {
	out := append([]ast.Expr{r.handle}, r.args...)
	if r.ctx != nil {
		out = append(out, r.ctx)
	}
	return out
}

// sameExprs: expressions are written alike and name the same.
func (f *file) sameExprs(a, b []ast.Expr) bool {
	names := func(e ast.Expr) (out []types.Object) {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				out = append(out, f.info().ObjectOf(id))
			}
			return true
		})
		return out
	}
	return slices.EqualFunc(a, b, func(x, y ast.Expr) bool { return f.text(x) == f.text(y) && slices.Equal(names(x), names(y)) })
}

// judge shows the preconditions and writes the place.
func (w *againRead) judge() {
	w.at.refused(w.at.file.own()).refused(w.f.program.onlyMySQL())
	for _, check := range []func() *Refusal{w.checkStatement, w.checkFirst, w.checkSecond, w.checkInto, w.checkBetween} {
		if w.at.Refused == nil {
			w.at.refused(check())
		}
	}
	if w.at.Refused == nil {
		w.write()
	}
}

func (w *againRead) checkStatement() *Refusal {
	b, why := parseBranch(w.text)
	switch {
	case why != "":
		return refuse("statement", "%s", why)
	case w.spread || len(w.args) != b.params:
		return refuse("statement", "its placeholders and arguments do not go together one by one")
	case len(b.tables) == 0:
		return refuse("statement", "it reads no table")
	}
	w.branch = b
	for _, e := range w.asked() {
		if !plainPath(e) && w.f.info().Types[e].Value == nil {
			return refuse("key", "%s is more than a variable or a field", short(w.f.text(e)))
		}
	}
	return nil
}

// plainPath reports `a` and `a.b.c`.
func plainPath(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plainPath(e.X)
	}
	return false
}

// checkFirst: behind the first read, and wherever the second one is reached, its rows are there.
func (w *againRead) checkFirst() *Refusal {
	stmt, _, ok := w.f.looked(w.first)
	if !ok || w.first.row != nil {
		return refuse("error", "the first read in line %d does not end the function when it fails", w.f.line(w.first.whole.Pos()))
	}
	block, ok := w.f.parents[stmt].(*ast.BlockStmt)
	if !ok || w.whole.Pos() < block.Pos() || w.whole.End() > block.End() {
		return refuse("order", "the first read in line %d is not always made before it", w.f.line(w.first.whole.Pos()))
	}
	return nil
}

// looked is the statement of a read, and what looks at its error and ends the function with it:
// `if err := …; err != nil { … return }`, or the if that follows.
func (f *file) looked(r *rowRead) (stmt ast.Stmt, by *ast.IfStmt, ok bool) {
	made, ok := f.parents[r.whole].(*ast.AssignStmt)
	if !ok || len(made.Lhs) != 1 || len(made.Rhs) != 1 {
		return nil, nil, false
	}
	stmt = made
	if in, ok := f.parents[made].(*ast.IfStmt); ok && in.Init == made {
		stmt, by = in, in
	} else if block, ok := f.parents[made].(*ast.BlockStmt); ok {
		if i := slices.Index(block.List, stmt); i+1 < len(block.List) {
			by, _ = block.List[i+1].(*ast.IfStmt)
		}
	}
	if by == nil || by.Else != nil || by != stmt && by.Init != nil || len(by.Body.List) == 0 {
		return nil, nil, false
	}
	cond, ok := by.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || f.text(cond.X) != f.text(made.Lhs[0]) || f.text(cond.Y) != "nil" {
		return nil, nil, false
	}
	_, returns := by.Body.List[len(by.Body.List)-1].(*ast.ReturnStmt)
	return stmt, by, returns
}

// checkSecond: nothing is done with its error but to end the function.
func (w *againRead) checkSecond() *Refusal {
	stmt, by, ok := w.f.looked(w.rowRead)
	if !ok || w.row != nil || stmt != by {
		return refuse("error", "its error is looked at by more than `if err := …; err != nil { … return }`")
	}
	w.stmt = stmt
	return nil
}

// checkInto: what the first read filled holds all that the second one gives.
func (w *againRead) checkInto() *Refusal {
	if len(w.dsts) != len(w.first.dsts) {
		return refuse("destination", "the two are put into different numbers of variables")
	}
	for i, d := range w.dsts {
		from, to := addressOf(w.first.dsts[i]), addressOf(d)
		id, ok := from.(*ast.Ident)
		if !ok || to == nil || !plainPath(to) {
			return refuse("destination", "%s or %s is not the address of a variable", short(w.f.text(w.first.dsts[i])), short(w.f.text(d)))
		}
		v, ok := w.f.info().ObjectOf(id).(*types.Var)
		if !ok || v.Pos() < w.body.Pos() || v.Pos() >= w.body.End() {
			return refuse("destination", "%s is no variable of the function", id.Name)
		}
		if t := w.f.info().TypeOf(to); !types.Identical(t, v.Type()) {
			return refuse("destination", "%s is a %s, %s a %s", id.Name, w.f.typeName(v.Type()), short(w.f.text(to)), w.f.typeName(t))
		}
		if found := w.f.pkg.Types.Scope().Innermost(w.whole.Pos()); found != nil {
			if _, o := found.LookupParent(id.Name, w.whole.Pos()); o != v {
				return refuse("destination", "%s is something else there", id.Name)
			}
		}
		if r := w.checkWhole(v, to); r != nil {
			return r
		}
		w.into = append(w.into, v)
	}
	return nil
}

// checkWhole: a copy of a variable is all that the second read gives, and shares nothing.
func (w *againRead) checkWhole(v *types.Var, to ast.Expr) *Refusal {
	if isPlain(v.Type()) {
		return nil
	}
	if _, ok := v.Type().Underlying().(*types.Struct); !ok {
		return refuse("destination", "%s is a %s", v.Name(), w.f.typeName(v.Type()))
	}
	if r := plainFields(v.Type()); r != nil {
		return r
	}
	id, ok := to.(*ast.Ident)
	if !ok {
		return refuse("destination", "%s may hold more than what is read", short(w.f.text(to)))
	}
	other, _ := w.f.info().ObjectOf(id).(*types.Var)
	if other == v {
		return nil
	}
	for _, one := range []struct {
		v  *types.Var
		at *ast.CallExpr
	}{{v, w.first.whole}, {other, w.whole}} {
		if one.v == nil || !w.f.madeEmpty(one.v) || w.f.usedBefore(one.v, one.at) {
			return refuse("destination", "%s may hold more than what is read", one.v.Name())
		}
	}
	return nil
}

// usedBefore: something names a variable before a call.
func (f *file) usedBefore(v *types.Var, call *ast.CallExpr) bool {
	for id, o := range f.info().Uses {
		if o == v && id.Pos() < call.Pos() {
			return true
		}
	}
	return false
}

// addressOf is x of `&x`.
func addressOf(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return ast.Unparen(u.X)
	}
	return nil
}

// checkBetween: nothing between the two changes what is read, or what tells what is read, and
// nothing waits there for others to do so.
func (w *againRead) checkBetween() *Refusal {
	first, _, _ := w.f.looked(w.first)
	does := w.f.effectsOf(&ast.BlockStmt{})
	waits := ""
	ast.Inspect(w.body, func(n ast.Node) bool {
		if n == nil || n.End() <= first.Pos() || n.Pos() >= w.stmt.Pos() {
			return false
		}
		if n.Pos() < first.End() && n.End() <= first.End() {
			return false
		}
		if n.Pos() >= first.End() && n.End() <= w.stmt.Pos() {
			w.f.walk(does, n)
			waits = w.f.waitsIn(n, waits)
			return false
		}
		return true
	})
	for fn := range does.seen {
		if d := w.f.program.bodies[fn]; d != nil {
			waits = w.f.program.in[d].waitsIn(d, waits)
		}
	}
	switch {
	case does.unknown != "":
		return refuse("calls", "between the two, %s", does.unknown)
	case waits != "":
		return refuse("calls", "between the two it calls %s: it may read again what others have written meanwhile", waits)
	case does.anyTable || does.locks:
		return refuse("writes", "between the two it writes or locks, or may end a transaction")
	case len(does.writes) > 0:
		return refuse("writes", "between the two it writes to %s", does.writes[0])
	}
	return w.checkKept(does)
}

// checkKept: the variables of the first read, and those that tell what is read, stay as they are.
func (w *againRead) checkKept(does *effects) *Refusal {
	for _, v := range w.into {
		if does.assigned[v] || changesType(does, v.Type()) || w.f.pointedTo(v) {
			return refuse("destination", "%s may be another value when it is read again", v.Name())
		}
	}
	var changed *Refusal
	for _, e := range w.asked() {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if v, ok := w.f.info().ObjectOf(id).(*types.Var); ok && (does.assigned[v] || changesType(does, v.Type()) || w.f.pointedTo(v)) {
				changed = refuse("key", "%s may be another value when it is read again", id.Name)
			}
			return true
		})
	}
	return changed
}

// pointedTo: the address of a variable is more than what a call is given.
func (f *file) pointedTo(v *types.Var) bool {
	for id, o := range f.info().Uses {
		u, ok := f.parents[id].(*ast.UnaryExpr)
		if o != v || !ok || u.Op != token.AND {
			continue
		}
		if call, ok := f.parents[u].(*ast.CallExpr); !ok || !slices.Contains(call.Args, ast.Expr(u)) {
			return true
		}
	}
	return false
}

// changesType: a value of a type, or a field of it, is assigned, which may be one that a
// pointer leads to.
func changesType(does *effects, t types.Type) bool {
	if slices.ContainsFunc(does.whole, func(one types.Type) bool { return types.Identical(one, t) }) {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if does.assigned[field] || changesType(does, field.Type()) {
			return true
		}
	}
	return false
}

// waitsIn is a call of a node that waits for other goroutines, or what was found before.
func (f *file) waitsIn(n ast.Node, found string) string {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if fn, ok := f.info().Uses[id].(*types.Func); ok && (strings.HasPrefix(pathOf(fn), "sync") || strings.HasPrefix(pathOf(fn), "golang.org/x/sync")) {
				found = pathOf(fn) + "." + fn.Name()
			}
		}
		return true
	})
	return found
}

// write gives the place its edits.
func (w *againRead) write() {
	var to, from []string
	for i, d := range w.dsts {
		name, text := w.into[i].Name(), w.f.text(addressOf(d))
		if id, ok := addressOf(d).(*ast.Ident); ok && w.f.info().ObjectOf(id) == w.into[i] {
			continue // it is there
		}
		to, from = append(to, text), append(from, name)
	}
	made := w.madeFor(to)
	switch {
	case len(to) == 0:
		w.at.remove(w.stmt)
	case made != nil:
		w.at.edits = append(w.at.edits, edit{from: w.f.offset(made.Pos()), to: w.f.offset(w.stmt.End()), text: to[0] + " := " + from[0]})
	default:
		w.at.replace(w.stmt, strings.Join(to, ", ")+" = "+strings.Join(from, ", "))
	}
	in := w.f.functionName(w.whole)
	w.at.Subject = "Keep what " + in + " has read of " + w.branch.tables[0]
	w.at.Body = fmt.Sprintf("%s sent this statement twice, with the same values, and nothing between the two writes:\n\n%s\n\nIt now takes what the first one gave. What other requests write between the two is no longer seen by it.", in, strings.Join(strings.Fields(w.text), " "))
}

// madeFor is the statement before the second read that does no more than make the one variable
// which is filled, nil if there is none.
func (w *againRead) madeFor(to []string) ast.Stmt {
	block, ok := w.f.parents[w.stmt].(*ast.BlockStmt)
	if !ok || len(to) != 1 || len(w.dsts) != 1 {
		return nil
	}
	i := slices.Index(block.List, w.stmt)
	if i == 0 {
		return nil
	}
	made, ok := block.List[i-1].(*ast.DeclStmt)
	if !ok {
		return nil
	}
	decl, ok := made.Decl.(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR || len(decl.Specs) != 1 || decl.Lparen.IsValid() {
		return nil
	}
	spec := decl.Specs[0].(*ast.ValueSpec)
	if len(spec.Names) != 1 || spec.Names[0].Name != to[0] || len(spec.Values) != 0 || w.f.line(made.End())+1 != w.f.line(w.stmt.Pos()) {
		return nil
	}
	return made
}
