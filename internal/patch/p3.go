package patch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mostRows of one INSERT: the gain beyond is small, and rows of 160 KB each still fit in
// max_allowed_packet as it is by default (16 MiB).
const mostRows = 100

// findWrites finds P3 and P4.
func findWrites(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			c := f.dbCall(call)
			if c == nil || c.method != "Exec" && c.method != "MustExec" && c.method != "NamedExec" || !c.known {
				return true
			}
			ws, ok := words(c.text)
			if !ok || len(ws) == 0 {
				return true
			}
			var at *Place
			switch {
			case ws[0].is("INSERT"), ws[0].is("REPLACE"):
				at = f.insertPlace(c)
			case isCounter(c.text): // P8
			case ws[0].is("UPDATE"), ws[0].is("DELETE"):
				at = f.keyedPlace(c)
			}
			if at != nil {
				out = append(out, at)
			}
			return true
		})
	}
	return out
}

// insertLoop is an INSERT in a loop.
type insertLoop struct {
	*dbCall
	f    *file
	at   *Place
	loop *loop
	does *effects
	sql  *insert
	stmt ast.Stmt    // that the call is in, of the loop's body
	err  *ast.IfStmt // that looks at its error
	// named are the values of a statement that names them; nil of others.
	named []value
}

func (f *file) insertPlace(c *dbCall) *Place {
	l, why := (&rowRead{dbCall: c, f: f}).around()
	if l == nil && why == nil {
		return nil
	}
	at := f.place("P3", c.call, "a row inserted in each turn of a loop")
	at.Statement = c.text
	at.refused(f.own()).refused(f.program.onlyMySQL())
	if l == nil {
		return at.refused(why)
	}
	w := &insertLoop{dbCall: c, f: f, at: at, loop: l, does: f.effectsOf(l.body, c.call)}
	if r := w.check(); r != nil {
		return at.refused(r)
	}
	if at.Refused == nil {
		w.write()
	}
	return at
}

func (w *insertLoop) check() *Refusal {
	for _, check := range []func() *Refusal{w.checkStatement, w.checkEnd, w.checkCalls, w.checkResult, w.checkValues, w.checkTransaction} {
		if r := check(); r != nil {
			return r
		}
	}
	return nil
}

func (w *insertLoop) checkStatement() *Refusal {
	if w.method == "NamedExec" {
		if r := w.unnamed(); r != nil {
			return r
		}
	}
	var why string
	if w.sql, why = parseInsert(w.text); w.sql == nil {
		return refuse("statement", "%s", why)
	}
	if n := len(w.values()); w.spread || w.sql.params != n || n == 0 {
		return refuse("statement", "its placeholders and arguments do not go together one by one")
	}
	return nil
}

func (w *insertLoop) checkCalls() *Refusal {
	f := w.f
	if r := w.loop.apart(f, w.call); r != nil {
		return r
	}
	switch {
	case w.does.unknown != "":
		return refuse("calls", "%s", w.does.unknown)
	case !w.loop.fixed(w.handle, w.does) || w.ctx != nil && !w.loop.fixed(w.ctx, w.does):
		return refuse("handle", "%s or its context is another one in each turn", short(f.text(w.handle)))
	case w.does.statements > 0 || w.does.locks:
		return refuse("alone", "the loop has another statement, which would then run before the rows are there")
	}
	for _, a := range w.args {
		if e := f.effectsOf(a); e.statements > 0 || e.unknown != "" {
			return refuse("alone", "an argument is made by a call that may use the database")
		}
	}
	return nil
}

// checkResult understands what follows the call: its result is thrown away, and an error
// ends the function.
func (w *insertLoop) checkResult() *Refusal {
	f := w.f
	lost := refuse("result", "something looks at its result, or nothing at its error")
	assign, ok := f.parents[w.call].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || f.text(assign.Lhs[0]) != "_" || f.text(assign.Lhs[1]) == "_" {
		return lost
	}
	switch at := f.parents[assign].(type) {
	case *ast.IfStmt:
		w.err, w.stmt = at, at
	case *ast.BlockStmt:
		w.stmt = assign
		for i, s := range at.List {
			if s == assign && i+1 < len(at.List) {
				w.err, _ = at.List[i+1].(*ast.IfStmt)
			}
		}
		if w.err == nil || w.err.Init != nil {
			return lost
		}
	}
	if w.err == nil || w.err.Else != nil {
		return lost
	}
	name := f.text(assign.Lhs[1])
	cond, ok := ast.Unparen(w.err.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || f.text(cond.X) != name || f.text(cond.Y) != "nil" || !isError(f.info().TypeOf(cond.X)) {
		return refuse("error", "its error is asked for more than that it is there")
	}
	return w.checkError(assign, name)
}

// checkError: the branch returns, and names nothing that the loop declares but the error.
func (w *insertLoop) checkError(assign *ast.AssignStmt, name string) *Refusal {
	f := w.f
	body := w.err.Body
	last, ok := ast.Stmt(nil), false
	if n := len(body.List); n > 0 {
		last = body.List[n-1]
		_, ok = last.(*ast.ReturnStmt)
	}
	if !ok {
		return refuse("error", "an error does not end the function")
	}
	var r *Refusal
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := f.info().Uses[id]
		if v, ok := o.(*types.Var); ok && w.does.assigned[v] && id.Name != name {
			r = refuse("error", "what an error leads to tells %s, which the loop changes", id.Name)
		}
		if o != nil && id.Name != name && w.loop.inside(o) && !(o.Pos() >= body.Pos() && o.Pos() < body.End()) {
			r = refuse("error", "what an error leads to names %s of the loop", id.Name)
		}
		return true
	})
	if r != nil {
		return r
	}
	if ret := last.(*ast.ReturnStmt); !w.tellsError(ret) && !w.rollsBackItself() && !w.rollsBackBefore(ret) {
		return refuse("error", "an error ends the function as if there was none")
	}
	if assign.Tok == token.ASSIGN { // an error that outlives the loop
		if v, ok := f.info().Uses[assign.Lhs[1].(*ast.Ident)].(*types.Var); !ok || w.loop.inside(v) && w.stmt == assign {
			return refuse("error", "its error is a variable of the loop")
		}
	}
	if e := f.effectsOf(body); e.statements > 1 {
		return refuse("error", "an error leads to more statements")
	}
	return nil
}

// tellsError: the function returns an error that is there.
func (w *insertLoop) tellsError(ret *ast.ReturnStmt) bool {
	for _, res := range ret.Results {
		if isError(w.f.info().TypeOf(res)) && w.f.text(res) != "nil" {
			return true
		}
	}
	return false
}

// givesError: who called the function is given the error itself, or one made of it.
func (w *insertLoop) givesError() bool {
	name, found := w.f.text(w.f.parents[w.call].(*ast.AssignStmt).Lhs[1]), false
	for _, res := range w.err.Body.List[len(w.err.Body.List)-1].(*ast.ReturnStmt).Results {
		ast.Inspect(res, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name && isError(w.f.info().TypeOf(res))
			return true
		})
	}
	return found
}

// checkTransaction: what failed in the middle is rolled back.
func (w *insertLoop) checkTransaction() *Refusal {
	f := w.f
	if !named(w.kind, sqlPath, "Tx") && !named(w.kind, sqlxPath, "Tx") {
		return refuse("transaction", "%s is a %s: rows before one that fails would no longer stay", short(f.text(w.handle)), f.typeName(w.kind))
	}
	id, ok := ast.Unparen(w.handle).(*ast.Ident)
	if !ok {
		return refuse("transaction", "nothing shows who rolls %s back", short(f.text(w.handle)))
	}
	v, _ := f.info().Uses[id].(*types.Var)
	var around ast.Node
	for n := f.parents[ast.Node(w.call)]; n != nil && around == nil; n = f.parents[n] {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			around = n
		}
	}
	rolled, param := false, false
	ast.Inspect(around, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				param = param || f.info().Defs[name] == v
			}
		case *ast.DeferStmt:
			rolled = rolled || n.Pos() < w.loop.node.Pos() && f.callsRollback(n, v)
		}
		return true
	})
	if rolled || f.callsRollback(w.err.Body, v) || param && w.givesError() {
		if r := w.checkState(around); r != nil {
			return r
		}
		return w.checkSchema()
	}
	return refuse("transaction", "nothing rolls %s back when an insert fails", id.Name)
}

func (f *file) callsRollback(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Rollback" {
			if id, ok := sel.X.(*ast.Ident); ok && f.info().Uses[id] == v {
				found = true
			}
		}
		return true
	})
	return found
}

// checkSchema refuses rows that may be larger than a statement with a hundred of them may.
func (w *insertLoop) checkSchema() *Refusal {
	for _, c := range w.sql.columns {
		if t := w.f.program.schema.typeOf(w.sql.table, c); strings.HasPrefix(t, "long") || strings.HasPrefix(t, "medium") && t != "mediumint" {
			return refuse("values", "the column %s is a %s: many rows may be larger than the server takes", c, t)
		}
	}
	d, ok := enclosing[*ast.FuncDecl](w.f, w.call)
	if ok && w.f.effectsOf(d.Body).lastID {
		return refuse("result", "a statement of the function asks for LAST_INSERT_ID()")
	}
	return nil
}

// checkValues: what is kept until the statement runs is then what it was.
func (w *insertLoop) checkValues() *Refusal {
	for _, a := range w.values() {
		t := a.kind
		if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.UntypedNil {
			continue
		}
		if _, ok := t.Underlying().(*types.Struct); ok && isPlain(t) && !named(t, "time", "Time") {
			return refuse("values", "%s may be NULL, which a server without strict mode takes in one row otherwise than in several", short(a.text))
		}
		if !isPlain(t) || types.IsInterface(t) {
			return refuse("values", "%s is a %s, which may be changed before the statement runs", short(a.text), w.f.typeName(t))
		}
	}
	return nil
}

func (w *insertLoop) write() {
	f, at := w.f, w.at
	in := f.indent(w.loop.node.Pos())
	args := f.freshLocal(w.call, "rowsOf"+camel(w.sql.table))
	outer := ast.Node(w.loop.node)
	if l, ok := f.parents[outer].(*ast.LabeledStmt); ok {
		outer = l
	}
	var values []string
	for _, a := range w.values() {
		values = append(values, a.text)
	}
	w.loop.gatherRows(at)
	at.before(outer, fmt.Sprintf("%svar %s []%s // of %s, %d values each\n", in, args, f.anyText(), w.sql.table, len(values)))

	from, to := f.offset(w.stmt.Pos()), f.offset(w.err.End())
	at.edits = append(at.edits, edit{from: from, to: to, text: fmt.Sprintf("%s = append(%s, %s)", args, args, strings.Join(values, ", "))})

	n := f.freshLocal(w.call, "n")
	text := w.text
	row := text[w.sql.from:w.sql.to]
	if w.sql.to < len(text) && text[w.sql.to-1] != ')' {
		row = text[w.sql.from : w.sql.to+1]
	}
	end := w.sql.from + len(row)
	query := fmt.Sprintf("%s+%s.Repeat(%s, %s/%d-1)", literal(text[:end]), f.packageName("strings"), literal(", "+row), n, len(values))
	if rest := strings.TrimRight(text[end:], " \t\n;"); rest != "" {
		query += "+" + literal(rest)
	}
	sel := w.call.Fun.(*ast.SelectorExpr)
	call := f.text(sel.X) + "." + strings.TrimPrefix(sel.Sel.Name, "Named") + "("
	if w.ctx != nil {
		call += f.text(w.ctx) + ", "
	}
	call += fmt.Sprintf("%s, %s[:%s]...)", query, args, n)

	assign := f.parents[w.call].(*ast.AssignStmt)
	head := f.text(assign.Lhs[0]) + ", " + f.text(assign.Lhs[1]) + " " + assign.Tok.String() + " " + call
	body := f.text(w.err.Body)
	// The branch moves out of the loop, to the depth that it has there.
	body = strings.ReplaceAll(body, "\n"+f.indent(w.err.Pos()), "\n"+in+"\t")
	var b strings.Builder
	fmt.Fprintf(&b, "%sfor len(%s) > 0 {\n%s\t%s := len(%s)\n%s\tif %s > %d*%d {\n%s\t\t%s = %d * %d\n%s\t}\n", in, args, in, n, args, in, n, mostRows, len(values), in, n, mostRows, len(values), in)
	if w.stmt == ast.Stmt(w.err) {
		fmt.Fprintf(&b, "%s\tif %s; %s %s\n", in, head, f.text(w.err.Cond), body)
	} else {
		fmt.Fprintf(&b, "%s\t%s\n%s\tif %s %s\n", in, head, in, f.text(w.err.Cond), body)
	}
	fmt.Fprintf(&b, "%s\t%s = %s[%s:]\n%s}\n", in, args, args, n, in)
	at.after(w.loop.node, b.String())
	at.imports = append(at.imports, "strings")
	at.Subject = fmt.Sprintf("Insert the rows of %s together in %s", w.sql.table, f.function(w.call))
	at.Body = fmt.Sprintf("The loop in %s sent one INSERT to %s for each %s, a round trip each. It now gathers their values, and statements of up to %d rows insert them after it, in the same order and in the same transaction. An error ends the function as before, and the transaction with it; what the loop did before one was met is rolled back, as it was. Where the loop refuses one row and the database an earlier one, it is the loop's error that is told now.",
		f.function(w.call), w.sql.table, w.loop.elements(), mostRows)
}
