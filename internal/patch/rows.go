package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// needRows and needMemory are of loops over the rows of a result.
var (
	needRows   = Need{"rows", "where the loop is over the rows of a result: it scans each of them first of all, into values that a copy of can be kept, and uses the result for nothing else; they may be read to their end before anything is done with them"}
	needMemory = Need{"memory", "where the loop is over the rows of a result: their statement has a LIMIT, or the loop keeps something of each of them anyway"}
)

// rowLoop is a loop over the rows of a result, `for rows.Next()`. Its rows are gathered
// before anything is done with them: a loop reads them to their end, and a second one, over
// the slice that they are put into, does the rest.
type rowLoop struct {
	f      *file
	node   *ast.ForStmt
	result *types.Var // rows
	from   *dbCall    // that sends the statement
	sent   *ast.AssignStmt

	head   []ast.Stmt // the variables that are made before the Scan
	scan   *ast.CallExpr
	stmts  []ast.Stmt    // the Scan, and what looks at its error
	err    *types.Var    // its error; nil: nothing names it
	branch *ast.IfStmt   // that an error leads to; nil: there is none
	must   *ast.CallExpr // of a function that ends the program if it is given an error; nil
	moves  bool          // the branch ends the function: it comes after the loop then
	rest   []ast.Stmt    // what is done with a row
	// into are the variables that rows are scanned into, kept those that the rest names.
	into, kept []*types.Var

	list, one, rowType, failed string // names
}

// overRows: a loop asks for the next row of a result.
func overRows(f *file, n *ast.ForStmt) bool {
	found := false
	if n.Cond != nil {
		ast.Inspect(n.Cond, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Next" && isRows(f.info().TypeOf(sel.X)) {
				found = true
			}
			return !found
		})
	}
	return found
}

func isRows(t types.Type) bool {
	return t != nil && isPointer(t) && (named(t, sqlPath, "Rows") || named(t, sqlxPath, "Rows"))
}

// loopOfRows understands a loop over the rows of a result as one over a slice.
func (f *file) loopOfRows(n *ast.ForStmt) (*loop, *Refusal) {
	known, ok := f.rowLoops[n]
	if !ok {
		r := &rowLoop{f: f, node: n}
		known = gathered{r, r.check()}
		if known.refused == nil {
			r.name()
		}
		if f.rowLoops == nil {
			f.rowLoops = map[*ast.ForStmt]gathered{}
		}
		f.rowLoops[n] = known
	}
	if known.refused != nil {
		return nil, known.refused
	}
	r := known.loop
	l := &loop{f: f, node: n, body: r.body(), rows: r, value: r.kept[0]}
	if len(r.kept) > 1 {
		l.value = types.NewVar(token.NoPos, f.pkg.Types, r.one, types.Typ[types.Invalid])
	}
	return l, nil
}

// gathered is a loop over rows with what keeps it from being one over a slice.
type gathered struct {
	loop    *rowLoop
	refused *Refusal
}

// body is what is done with a row.
func (r *rowLoop) body() *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: r.node.Body.Lbrace, List: r.rest, Rbrace: r.node.Body.Rbrace}
}

func (r *rowLoop) check() *Refusal {
	for _, check := range []func() *Refusal{r.checkHeader, r.checkSent, r.checkHead, r.checkUses, r.checkInto, r.checkBranch, r.checkOuterError, r.checkRest, r.checkMemory, r.checkLines} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

// checkHeader: the loop is `for rows.Next()`, of a variable.
func (r *rowLoop) checkHeader() *Refusal {
	n := r.node
	call, ok := ast.Unparen(n.Cond).(*ast.CallExpr)
	if !ok || n.Init != nil || n.Post != nil {
		return refuse("rows", "its header asks for more than the next row")
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Next" {
		return refuse("rows", "its header asks for more than the next row")
	}
	if r.result = r.f.variable(sel.X); r.result == nil || r.result.IsField() || r.result.Parent() == r.f.pkg.Types.Scope() {
		return refuse("rows", "%s is no variable of the function", short(r.f.text(sel.X)))
	}
	return nil
}

// checkSent finds the call that gave the rows.
func (r *rowLoop) checkSent() *Refusal {
	f := r.f
	unknown := refuse("rows", "nothing before the loop shows which statement %s are of", r.result.Name())
	if f.escapes(r.result) {
		return unknown
	}
	if r.sent = f.assignedBefore(r.node, r.result); r.sent == nil || len(r.sent.Rhs) != 1 || !f.isName(r.sent.Lhs[0], r.result) {
		return unknown
	}
	call, ok := ast.Unparen(r.sent.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return unknown
	}
	if r.from = f.dbCall(call); r.from == nil || isStatement(f.receiver(call)) {
		return unknown
	}
	if r.from.known {
		if _, writes, locks, all := touched(r.from.text); writes || locks || all {
			return refuse("writes", "the statement of the rows is no SELECT that neither writes nor locks")
		}
	} else if !isPool(f.receiver(call)) {
		return refuse("constant", "the text of the rows' statement is put together when it runs, and it may lock in a transaction")
	}
	return nil
}

// assignedBefore is the last statement before another one that assigns a variable, in its
// block or in one around it, up to a loop or the function.
func (f *file) assignedBefore(n ast.Node, v *types.Var) *ast.AssignStmt {
	for up := f.parents[n]; up != nil; n, up = up, f.parents[up] {
		var block []ast.Stmt
		switch up := up.(type) {
		case *ast.BlockStmt:
			block = up.List
		case *ast.CaseClause:
			block = up.Body
		case *ast.IfStmt:
			if up.Init != nil && f.assignedIn(up.Init, v) {
				a, _ := up.Init.(*ast.AssignStmt)
				return a
			}
		case *ast.FuncDecl, *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return nil
		}
		for i := len(block) - 1; i >= 0; i-- {
			if block[i].Pos() < n.Pos() && f.assignedIn(block[i], v) {
				a, _ := block[i].(*ast.AssignStmt)
				return a
			}
		}
	}
	return nil
}

// receiver is the type that a called method is of.
func (f *file) receiver(call *ast.CallExpr) types.Type {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if fn, ok := f.info().Uses[sel.Sel].(*types.Func); ok && fn.Signature().Recv() != nil {
			return fn.Signature().Recv().Type()
		}
	}
	return types.Typ[types.Invalid]
}

func isPool(t types.Type) bool { return named(t, sqlPath, "DB") || named(t, sqlxPath, "DB") }

func isStatement(t types.Type) bool {
	return named(t, sqlPath, "Stmt") || named(t, sqlxPath, "Stmt") || named(t, sqlxPath, "NamedStmt")
}

// apart refuses a statement of the loop that may be sent by the connection whose rows are
// open: the driver refuses it, and the loop has never worked.
func (l *loop) apart(f *file, call *ast.CallExpr) *Refusal {
	if l.rows == nil {
		return nil
	}
	own, rows := f.receiver(call), l.f.receiver(l.rows.from.call)
	if isPool(own) || isPool(rows) || types.IsInterface(own) && types.IsInterface(rows) {
		return nil
	}
	return refuse("handle", "it may be sent by the connection whose rows are open, where the driver refuses it")
}

// checkUses: nothing but the header and the Scan uses the result in the loop, and nothing
// around it does more than close it, or ask for its error and its columns.
func (r *rowLoop) checkUses() *Refusal {
	f := r.f
	for _, id := range f.namesOf(r.result) {
		in := func(n ast.Node) bool { return id.Pos() >= n.Pos() && id.Pos() < n.End() }
		if in(r.node.Cond) || in(r.scan.Fun) || in(r.sent) {
			continue
		}
		name := "" // of the method
		if sel, ok := f.parents[id].(*ast.SelectorExpr); ok {
			if _, ok := f.parents[sel].(*ast.CallExpr); ok {
				name = sel.Sel.Name
			}
		}
		own := f.literalAround(id) == f.literalAround(r.node)
		_, compared := f.parents[id].(*ast.BinaryExpr)
		assigned, _ := f.parents[id].(*ast.AssignStmt)
		switch {
		case in(r.node) && name == "Close" && f.endsInReturn(f.parents[f.parents[id]].(*ast.CallExpr)):
		case in(r.node):
			return refuse("rows", "line %d of the loop uses %s", f.line(id.Pos()), id.Name)
		case name == "Close", compared, own && slices.Contains([]string{"Err", "Columns", "ColumnTypes"}, name):
		case assigned != nil && slices.Contains(assigned.Lhs, ast.Expr(id)): // for another statement
		case own && f.ofAnother(id, r):
		default:
			return refuse("rows", "line %d uses %s for something else", f.line(id.Pos()), id.Name)
		}
	}
	return nil
}

// ofAnother: where a name of the result stands, it is that of another statement.
func (f *file) ofAnother(id *ast.Ident, r *rowLoop) bool {
	at := f.assignedBefore(id, r.result)
	if loop, ok := enclosing[*ast.ForStmt](f, id); ok && at == nil {
		at = f.assignedBefore(loop, r.result)
	}
	return at != nil && at != r.sent
}

// usesOf a variable, in their order.
func (f *file) namesOf(v *types.Var) []*ast.Ident {
	var out []*ast.Ident
	for id, o := range f.info().Uses {
		if o == v {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	return out
}

// literalAround is the function literal that a node stands in; nil if it is in none.
func (f *file) literalAround(n ast.Node) *ast.FuncLit {
	lit, _ := enclosing[*ast.FuncLit](f, n)
	return lit
}

// checkRest: what is done with a row may be done when all are read.
func (r *rowLoop) checkRest() *Refusal {
	l := &loop{f: r.f, node: r.node, body: r.body(), rows: r}
	bound := r.bound()
	if refused := l.ends(func(ret *ast.ReturnStmt) bool {
		return r.f.returnsError(ret) || r.f.returnsMadeError(ret) || bound > 0 && bound <= mostKeys
	}); refused != nil {
		return refuse("end", "%s, before all rows are read", refused.Reason)
	}
	does := r.f.effectsOf(r.body())
	if len(does.writes) == 0 && !does.anyTable {
		return nil
	}
	ws, ok := words(r.from.text)
	if !r.from.known || !ok {
		return refuse("writes", "the loop writes, and the text of the rows' statement is put together when it runs")
	}
	for _, t := range tablesOf(ws) {
		w := &readWriter{rowRead: &rowRead{dbCall: &dbCall{kind: types.Typ[types.Invalid]}, f: r.f}, does: does}
		if refused := w.leaves(t); refused != nil {
			return refused
		}
	}
	return nil
}

// mostGathered rows are kept at a time where a LIMIT says how many there are.
const mostGathered = 100000

// bound is the constant LIMIT of the rows' statement; -1: it has one that is no constant,
// 0: it has none.
func (r *rowLoop) bound() int {
	ws, _ := words(r.from.text)
	depth, bound := 0, 0
	for i, w := range ws {
		switch {
		case w.is("("):
			depth++
		case w.is(")"):
			depth--
		case w.is("LIMIT") && depth == 0 && i+1 < len(ws):
			at := i + 1
			if i+3 < len(ws) && ws[i+2].is(",") {
				at = i + 3
			}
			if bound = -1; ws[at].literal {
				n, err := strconv.Atoi(ws[at].text)
				if bound = n; err != nil || n == 0 {
					bound = mostGathered + 1
				}
			}
		}
	}
	return bound
}

// checkMemory: that all rows are kept at a time needs no memory that is not needed anyway.
func (r *rowLoop) checkMemory() *Refusal {
	switch bound := r.bound(); {
	case r.from.known && bound != 0 && bound <= mostGathered:
		return nil
	case bound == 0 && r.keeps():
		return nil
	}
	return refuse("memory", "the rows' statement has no LIMIT, and the loop keeps nothing of each row: nothing shows that all of them fit into memory")
}

// keeps: each row adds an element to a slice or a map from outside of the loop.
func (r *rowLoop) keeps() bool {
	for _, s := range r.rest {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		if index, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok && r.outside(index.X) {
			if _, ok := r.f.info().TypeOf(index.X).Underlying().(*types.Map); ok {
				return true
			}
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if ok && r.f.info().Types[call.Fun].IsBuiltin() && r.f.text(call.Fun) == "append" && r.outside(a.Lhs[0]) {
			return true
		}
	}
	return false
}

// outside: an expression is a variable from outside of the loop, or a field of one.
func (r *rowLoop) outside(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v := r.f.variable(x)
			return v != nil && !(v.Pos() >= r.node.Pos() && v.Pos() < r.node.End())
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return false
		}
	}
}

// checkLines: statements that move have lines of their own.
func (r *rowLoop) checkLines() *Refusal {
	line := r.f.line(r.node.Body.Lbrace)
	if r.f.line(r.node.Pos()) != line {
		return refuse("rows", "its header has several lines")
	}
	for _, s := range slices.Concat(r.head, r.stmts, r.rest[:1]) {
		if r.f.line(s.Pos()) <= line {
			return refuse("rows", "two statements of it share a line")
		}
		line = r.f.line(s.End())
	}
	if end := r.rest[len(r.rest)-1].End(); strings.Contains(string(r.f.src[r.f.offset(end):r.f.offset(r.node.Body.Rbrace)]), ";") || r.f.line(end) == r.f.line(r.node.Body.Rbrace) {
		return refuse("rows", "two statements of it share a line")
	}
	return nil
}
