package patch

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// rowRead is a call that reads one row by a key in a loop.
type rowRead struct {
	*dbCall
	f     *file
	whole *ast.CallExpr // with its Scan
	row   ast.Stmt      // `row := db.QueryRow(…)` where it stands apart; nil
	dsts  []ast.Expr    // where the columns go
	// one struct takes all columns: Get or StructScan.
	intoStruct types.Type
	// list: Select puts all rows into a slice, of elements or of pointers to them.
	list     bool
	elem     types.Type // of a list: what a row is scanned into
	pointers bool
	method   string     // that takes the struct: "Get", "StructScan"
	unused   []ast.Stmt // `query := "…"` that nothing else reads, the last first
	texts    []string   // the two that it may have, if it is no constant; text is the first
}

// findReads finds P1 and P2.
func findReads(p *Program) []*Place {
	var all []*plan
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if r := f.rowRead(call); r != nil {
					if one := r.loopPlan(); one != nil {
						all = append(all, one)
					} else {
						all = append(all, r.sitePlans()...)
					}
				}
			}
			return true
		})
	}
	follow(all)
	out := p.deep(all)
	for _, one := range all {
		one.write()
		out = append(out, one.at)
	}
	return out
}

// rowRead understands db.Get(&x, …), db.QueryRow(…).Scan(&x) and the like; nil if the
// call is none.
func (f *file) rowRead(call *ast.CallExpr) *rowRead {
	c := f.dbCall(call)
	if c == nil {
		return nil
	}
	r := &rowRead{dbCall: c, f: f, whole: call, method: c.method}
	switch c.method {
	case "Get":
		r.dsts = []ast.Expr{c.dst}
	case "Select":
		if !r.listOf(f.info().TypeOf(c.dst)) {
			return nil
		}
		r.dsts, r.unused = []ast.Expr{c.dst}, f.onlyFor(c.query)
		return r
	case "QueryRow", "QueryRowx":
		scan := f.scanOf(r)
		if scan == nil {
			return nil
		}
		r.whole, r.dsts = scan, scan.Args
		r.method = scan.Fun.(*ast.SelectorExpr).Sel.Name
	default:
		return nil
	}
	r.unused = f.onlyFor(c.query)
	if r.method != "Scan" && len(r.dsts) == 1 {
		if p, ok := f.info().TypeOf(r.dsts[0]).Underlying().(*types.Pointer); ok {
			if _, ok := p.Elem().Underlying().(*types.Struct); ok && !isPlain(p.Elem()) {
				r.intoStruct = p.Elem()
			}
		}
	}
	return r
}

// listOf notes what the rows of a Select become; false if the destination is not a pointer
// to a slice.
func (r *rowRead) listOf(dst types.Type) bool {
	p, ok := dst.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	s, ok := p.Elem().Underlying().(*types.Slice)
	if !ok {
		return false
	}
	r.list, r.elem = true, s.Elem()
	if p, ok := r.elem.Underlying().(*types.Pointer); ok {
		r.elem, r.pointers = p.Elem(), true
	}
	if _, ok := r.elem.Underlying().(*types.Struct); ok && !isPlain(r.elem) {
		r.intoStruct = r.elem
	}
	return true
}

// onlyFor are the statements that give a local variable constants, if nothing but one
// expression reads it, or other names of it: they go with the expressions.
func (f *file) onlyFor(e ast.Expr, others ...*ast.Ident) []ast.Stmt {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok || v.Parent() == f.pkg.Types.Scope() {
		return nil
	}
	var out []ast.Stmt
	gives := func(name *ast.Ident) bool {
		made, ok := f.parents[name].(*ast.AssignStmt)
		if !ok || len(made.Lhs) != 1 || made.Lhs[0] != name || f.info().Types[made.Rhs[0]].Value == nil {
			return false
		}
		_, ok = f.parents[made].(*ast.BlockStmt)
		out = append(out, made)
		return ok
	}
	for name, o := range f.info().Uses {
		if o == v && name != id && !slices.Contains(others, name) && !gives(name) {
			return nil
		}
	}
	for name, o := range f.info().Defs {
		if o == v && !gives(name) {
			return nil
		}
	}
	slices.SortFunc(out, func(a, b ast.Stmt) int { return cmp.Compare(b.Pos(), a.Pos()) })
	return out
}

// scanOf is the call of Scan or StructScan of a row, at once or in the next statement.
func (f *file) scanOf(r *rowRead) *ast.CallExpr {
	if sel, ok := f.parents[r.call].(*ast.SelectorExpr); ok {
		call, ok := f.parents[sel].(*ast.CallExpr)
		if ok && (sel.Sel.Name == "Scan" || sel.Sel.Name == "StructScan") {
			return call
		}
		return nil
	}
	made, ok := f.parents[r.call].(*ast.AssignStmt)
	if !ok || made.Tok != token.DEFINE || len(made.Lhs) != 1 {
		return nil
	}
	v := f.defined(made.Lhs[0])
	var uses []*ast.Ident
	for id, o := range f.info().Uses {
		if v != nil && o == v {
			uses = append(uses, id)
		}
	}
	if len(uses) != 1 {
		return nil
	}
	sel, ok := f.parents[uses[0]].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Scan" && sel.Sel.Name != "StructScan" {
		return nil
	}
	call, ok := f.parents[sel].(*ast.CallExpr)
	if !ok || !f.follows(made, call) {
		return nil
	}
	r.row = made
	return call
}

// follows reports whether a node is in the statement after another of the same block, but
// for variables that are made empty, and is run first of it.
func (f *file) follows(first ast.Stmt, n ast.Node) bool {
	block, ok := f.parents[first].(*ast.BlockStmt)
	if !ok {
		return false
	}
	for i, s := range block.List {
		if s == first {
			rest := block.List[i+1:]
			for len(rest) > 0 && f.onlyDeclares(rest[0]) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				return false
			}
			next := rest[0]
			switch s := next.(type) {
			case *ast.IfStmt:
				if s.Init == nil {
					return false
				}
				next = s.Init
			case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt:
			default:
				return false
			}
			return n.Pos() >= next.Pos() && n.End() <= next.End()
		}
	}
	return false
}

// loopPlan is the place of a read in a loop that goes over what gives its key; nil if
// there is none, or if it reads by no key.
func (r *rowRead) loopPlan() *plan {
	f := r.f
	l, why := r.around()
	if l == nil && why == nil {
		return nil
	}
	sel, notRead := (*read)(nil), "its text is put together when it runs"
	if r.known {
		sel, notRead = parseRead(r.text)
	} else if r.texts = f.texts(r.query); r.texts != nil {
		sel, r.text = &read{}, r.texts[0]
	}
	shape, what := r.title(sel)
	at := f.place(shape, r.whole, what)
	return r.judged(at, &readWriter{rowRead: r, place: at, loop: l, sql: sel}, why, notRead)
}

// title is the shape of a read in a loop, and what it is in words.
func (r *rowRead) title(sel *read) (shape, what string) {
	shape, what = "P1", "a row"
	switch {
	case r.list:
		shape, what = "P2", "a list"
	case sel != nil && sel.sum:
		shape, what = "P2", "a sum"
	}
	if len(r.args) == 0 {
		return shape, what + " read in each turn of a loop"
	}
	return shape, what + " read by key in each turn of a loop"
}

// judged says how a place is written, or refuses it.
func (r *rowRead) judged(at *Place, w *readWriter, noLoop *Refusal, notRead string) *plan {
	out := &plan{at: at, w: w}
	at.Statement = r.text
	at.refused(at.file.own()).refused(r.f.own()).refused(r.f.program.onlyMySQL())
	if w.loop == nil {
		at.refused(noLoop)
		return out
	}
	if !r.known && r.texts == nil {
		at.refused(refuse("constant", "%s", notRead))
	}
	if at.Refused != nil || !r.list && notRead == "" && w.check() == nil {
		return out
	}
	each, refused := w.eachOf()
	at.refused(refused)
	out.each = each
	return out
}

// sitePlans are the places of a read that stands in no loop itself, in a function that
// loops call with what gives its key.
func (r *rowRead) sitePlans() []*plan {
	f := r.f
	decl, ok := enclosing[*ast.FuncDecl](f, r.call)
	if _, literal := enclosing[*ast.FuncLit](f, r.call); !ok || literal || len(r.args) == 0 {
		return nil
	}
	fn, ok := f.info().Defs[decl.Name].(*types.Func)
	if !ok {
		return nil
	}
	var out []*plan
	for _, s := range f.program.sites(fn.Origin()) {
		bound := s.bind()
		l, why := (*loop)(nil), (*Refusal)(nil)
		if bound == nil {
			if l, why = s.loop(r.args); l == nil && why == nil {
				continue
			}
		} else if !s.inLoop() {
			continue
		}
		sel, notRead := (*read)(nil), "its text is put together when it runs"
		if r.known {
			sel, notRead = parseRead(r.text)
		}
		shape, what := r.title(sel)
		at := s.f.place(shape, s.call, what+", by "+f.function(decl))
		at.statementAt(f, r.whole)
		if bound != nil {
			at.Statement = r.text
			out = append(out, &plan{at: at.refused(at.file.own()).refused(bound)})
			continue
		}
		out = append(out, r.judged(at, &readWriter{rowRead: r, place: at, loop: l, via: s, sql: sel}, why, notRead))
	}
	return out
}

// around is the innermost loop over a slice that an argument depends on; the refusal
// says why a loop that is there is none. Neither: no loop gives the statement a value.
func (r *rowRead) around() (*loop, *Refusal) {
	f, why := r.f, (*Refusal)(nil)
	for n := f.parents[ast.Node(r.call)]; n != nil; n = f.parents[n] {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return nil, why
		case *ast.FuncLit:
			if why != nil {
				return nil, why
			}
			if _, out := (&rowRead{dbCall: r.dbCall, f: f}).outside(n); out {
				return nil, refuse("end", "it stands in a function of its own within the loop")
			}
			return nil, nil
		case *ast.ForStmt, *ast.RangeStmt:
			l, not := f.readLoopOf(n.(ast.Stmt))
			switch {
			case l == nil && r.ofRows(n):
				return nil, not // whatever is around them
			case l == nil:
				why = cmp.Or(why, not)
			case r.dependsOn(l):
				return l, nil
			}
		}
	}
	return nil, why
}

// ofRows: an argument is made of something that a loop over the rows of a result declares.
func (r *rowRead) ofRows(n ast.Node) bool {
	rows, ok := n.(*ast.ForStmt)
	return ok && overRows(r.f, rows) && r.dependsOn(&loop{f: r.f, node: rows})
}

// outside looks for a loop around a function literal that gives the statement a value.
func (r *rowRead) outside(lit ast.Node) (*loop, bool) {
	for n := r.f.parents[lit]; n != nil; n = r.f.parents[n] {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return nil, false
		case *ast.ForStmt, *ast.RangeStmt:
			if l, _ := r.f.readLoopOf(n.(ast.Stmt)); l != nil && r.dependsOn(l) {
				return l, true
			}
		}
	}
	return nil, false
}

// dependsOn: an argument is made of something that the loop declares.
func (r *rowRead) dependsOn(l *loop) bool {
	for _, a := range r.args {
		found := false
		ast.Inspect(a, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				v, ok := r.f.info().Uses[id].(*types.Var)
				found = found || ok && !v.IsField() && l.inside(v)
			}
			return true
		})
		if found {
			return true
		}
	}
	return false
}
