package patch

import (
	"fmt"
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpNumbers are drawn at once: what PHP keeps ends with the request, and the numbers that
// it has not given out are lost.
const phpNumbers = 20

// phpDraw is a function that draws a number from a counter, P8.
type phpDraw struct {
	*phpWriter
	call, asked *phpNode // that sends the statement; that asks for the number
	ret         *phpNode // the statement that returns it
	text        string
	sql         *counter
}

var phpForks = lazyregexp.New(`(?i)\bpcntl_fork\b|\bparallel\\`)

// draws looks for functions that draw numbers.
func (f *phpFinder) draws() {
	for _, of := range f.holding("last_insert_id") {
		of.php.tree.Walk(func(n *phpNode) bool {
			if b := bareName(n); b == "exec" || b == "query" {
				f.draw(of, n)
			}
			return true
		})
	}
}

func (f *phpFinder) draw(of *file, call *phpNode) {
	args, plain := ownArgs(call)
	stmt, list, at := phpStatement(call)
	if !plain || len(args) != 1 || stmt == nil || stmt.Node("expr") != call || at+1 >= len(list) {
		return
	}
	ps := f.pieces(args[0])
	if len(ps) != 1 || ps[0].hole != nil {
		return
	}
	sql, why := parseCounter(ps[0].text)
	if sql == nil && why == "" {
		return
	}
	r := &phpRead{f: of, text: ps[0].text, source: args[0], handle: objectOf(call)}
	place := f.place(of, call, "a number drawn from a counter, a commit each", r)
	place.Shape = "P8"
	d := &phpDraw{phpWriter: &phpWriter{php: f.php, f: of, read: r, place: place, at: stmt, scope: phpScope(call)}, call: call, ret: list[at+1], text: ps[0].text, sql: sql}
	place.refused(of.phpOwn()).refused(f.text.driver)
	if sql == nil {
		place.refused(refuse("statement", "%s", why))
	}
	if place.Refused == nil {
		place.refused(d.check())
	}
	if place.Refused == nil {
		d.write()
	}
}

func (d *phpDraw) check() *Refusal {
	for _, check := range []func() *Refusal{d.checkResult, d.checkHandle, d.checkColumn, d.checkOnly} {
		if why := check(); why != nil {
			return why
		}
	}
	return nil
}

// checkResult: the next statement returns the number, as an integer, and the function has
// no parameters.
func (d *phpDraw) checkResult() *Refusal {
	given := d.ret.Node("expr")
	if d.asked = given.Node("expr"); !d.ret.Is("Stmt_Return") || !given.Is("Expr_Cast_Int") || calledNameOf(d.asked) != "lastinsertid" || d.f.phpText(objectOf(d.asked)) != d.f.phpText(d.read.handle) {
		return refuse("result", "what follows is no `return (int) …->lastInsertId()`")
	}
	if !d.scope.Is("Stmt_Function", "Stmt_ClassMethod") || len(d.scope.List("params")) > 0 || d.scope.Has("byRef") {
		return refuse("function", "it is in no function without parameters")
	}
	if !d.f.firstOnLine(d.at) || !d.f.firstOnLine(d.ret) || !d.f.firstOnLine(d.scope.List("stmts")[0]) || !d.read.source.Is("Scalar_String") {
		return refuse("layout", "no statement can be put before line %d", d.at.Line)
	}
	return nil
}

// checkHandle: a transaction that is rolled back would give the number back, and the next
// one the same.
func (d *phpDraw) checkHandle() *Refusal {
	handle := d.read.handle
	if d.handleType(d.f, handle, 0) != "PDO" {
		return refuse("handle", "it cannot be shown that %s is a connection of PDO", short(d.f.phpText(handle)))
	}
	if !d.php.text.transactions || d.ofItsOwn(handle.Variable()) {
		return nil
	}
	return refuse("handle", "%s may be in a transaction, which gives its numbers back when it is rolled back", short(d.f.phpText(handle)))
}

// ofItsOwn: a variable is static in the function, and holds a new connection that only the
// function uses, for this alone.
func (d *phpDraw) ofItsOwn(name string) bool {
	static := false
	for _, use := range usesOf(d.scope, name) {
		in := use.Parent
		switch {
		case in.Is("Stmt_StaticVar"):
			static = true
		case in.Is("Expr_Assign", "Expr_AssignOp_Coalesce") && in.Node("var") == use:
			if !d.opens(in.Node("expr"), mostTypeDepth) {
				return false
			}
		case in.Is("Expr_MethodCall") && in.Node("var") == use && (in == d.call || in == d.asked):
		case in.Is("Expr_BinaryOp_Identical", "Expr_BooleanNot", "Expr_Isset"):
		default:
			return false
		}
	}
	return static
}

// opens: an expression makes a new connection each time.
func (d *phpDraw) opens(e *phpNode, depth int) bool {
	if e.Is("Expr_New") {
		return handleClass(e.Node("class")) != ""
	}
	own := d.named(calledNameOf(e))
	if !e.Is("Expr_FuncCall") || len(own) != 1 || own[0].class != nil || depth == 0 {
		return false
	}
	returns, opens := 0, 0
	inScope(own[0].node, func(n *phpNode) {
		if n.Is("Stmt_Return") {
			returns++
			if d.opens(n.Node("expr"), depth-1) {
				opens++
			}
		}
	})
	return returns > 0 && returns == opens
}

// checkColumn: the counter has room for numbers that nobody uses.
func (d *phpDraw) checkColumn() *Refusal {
	switch t := d.program.schema.typeOf(d.sql.table, d.sql.column); {
	case t == "":
		return refuse("column", "neither a .sql file nor a run shows the type of %s.%s", d.sql.table, d.sql.column)
	case t != "bigint":
		return refuse("column", "%s.%s is a %s, in which numbers that nobody uses are missed", d.sql.table, d.sql.column, t)
	case d.program.schema.acts:
		return refuse("only", "the schema has a trigger, or a foreign key that changes rows")
	}
	return nil
}

// checkOnly: no other text of the program names the table, and no process goes on with what
// another one has drawn.
func (d *phpDraw) checkOnly() (out *Refusal) {
	for _, f := range d.files {
		if m := phpForks.FindString(string(f.src)); m != "" {
			return refuse("only", "%s starts processes that go on with the same numbers: %s", f.rel, m)
		}
	}
	for _, f := range d.holding(d.sql.table) {
		f.php.tree.Walk(func(n *phpNode) bool {
			if n.Is("Scalar_String", "Scalar_EncapsedStringPart") && n != d.read.source && names(n.Text("value"), d.sql.table) {
				out = refuse("only", "line %d of %s names %s, too", n.Line, f.rel, d.sql.table)
			}
			return true
		})
	}
	return out
}

func (d *phpDraw) write() {
	first, f, at := d.scope.List("stmts")[0], d.f, d.place
	in, unit := f.phpIndent(first), strings.TrimPrefix(f.phpIndent(first), f.phpIndent(d.scope))
	next, last, drawn := "$"+d.freshVariable(d.at, "next"), "$"+d.freshVariable(d.at, "last"), "$"+d.freshVariable(d.at, "drawn")
	d.insert(first, in, []string{
		"static " + next + " = 1, " + last + " = 0; // numbers that were drawn and not given out yet",
		"if (" + next + " <= " + last + ") {",
		unit + "return " + next + "++;",
		"}",
	})
	d.edit(d.read.source.From, d.read.source.To, phpQuote(fmt.Sprintf("%s%s + %d%s", d.text[:d.sql.from], d.sql.column, phpNumbers, d.text[d.sql.to:])))
	lines := []string{
		drawn + " = " + f.phpText(d.ret.Node("expr")) + ";",
		"if (" + drawn + " > " + last + ") {",
		unit + last + " = " + drawn + ";",
		unit + next + " = " + drawn + fmt.Sprintf(" - %d;", phpNumbers-2),
		unit + drawn + fmt.Sprintf(" -= %d;", phpNumbers-1),
		"}",
		"return " + drawn + ";",
	}
	d.edit(d.ret.From, d.ret.To, strings.Join(lines, "\n"+f.phpIndent(d.ret)))
	at.Subject = fmt.Sprintf("Draw the numbers of %s %d at a time", d.sql.table, phpNumbers)
	at.Body = fmt.Sprintf("%s sent an UPDATE of %s for each number, which is a commit of its own, and all requests wait for its one row. It now draws %d numbers by one statement, and gives them out until the request ends.\n\n"+
		"The counter stays where it is, so that numbers are unique among all that draw from it, processes, hosts and other programs alike. What changes: a request that draws leaves up to %d numbers unused, and of two requests at the same time a higher number is not always the later one.",
		d.scope.Name(), d.sql.table, phpNumbers, phpNumbers-1)
}
