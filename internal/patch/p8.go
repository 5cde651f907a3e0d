package patch

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// numbersOfBlock are drawn at once. A process that ends loses that many at most; a column
// INT has room for twenty million restarts.
const numbersOfBlock = 100

// counter is a statement that draws a number: UPDATE table SET column = LAST_INSERT_ID(column + 1).
type counter struct {
	table, column string
	from, to      int // of "column + 1" in the text
}

// parseCounter understands it; the reason says what it does not. Both are empty of a
// statement that draws none.
func parseCounter(text string) (*counter, string) {
	ws, ok := words(text)
	if !ok || len(ws) == 0 || !ws[0].is("UPDATE") || !slices.ContainsFunc(ws, func(w word) bool { return w.is("LAST_INSERT_ID") }) {
		return nil, ""
	}
	p := &sqlParser{ws: ws, read: &read{text: text}, at: 1}
	c := &counter{}
	var full string
	if c.table, full, ok = p.name(); !ok || strings.Contains(full, ".") {
		return nil, "its table is no plain name"
	}
	set := p.take("SET")
	c.column, _, ok = p.name()
	if !set || !ok || !p.take("=") || !p.take("LAST_INSERT_ID") || !p.take("(") {
		return nil, "it does more than draw a number"
	}
	c.from = p.peek().from
	again, _, ok := p.name()
	if !ok || !strings.EqualFold(again, c.column) || !p.take("+") || p.peek().text != "1" {
		return nil, "it does not count up by one"
	}
	c.to = p.peek().to
	if p.at++; !p.take(")") {
		return nil, "it does not count up by one"
	}
	if p.take("WHERE") {
		if _, _, ok := p.name(); !ok || !p.take("=") || !p.peek().literal {
			return nil, "its condition is no `column = constant`"
		}
		p.at++
	}
	if p.at < len(ws) {
		return nil, "it goes on with " + strings.ToUpper(p.peek().text)
	}
	return c, ""
}

// isCounter: a statement draws a number, in a form that is understood or not.
func isCounter(text string) bool {
	c, why := parseCounter(text)
	return c != nil || why != ""
}

// draw is a call that draws a number.
type draw struct {
	*dbCall
	f   *file
	sql *counter
}

// findDraws finds P8.
func findDraws(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			c := f.dbCall(call)
			if c == nil || !c.known || c.method != "Exec" && c.method != "MustExec" {
				return true
			}
			sql, why := parseCounter(c.text)
			if sql == nil && why == "" {
				return true
			}
			at := f.place("P8", call, "a number drawn from a counter, a commit each")
			at.Statement = c.text
			at.refused(f.own()).refused(p.onlyMySQL())
			if sql == nil {
				out = append(out, at.refused(refuse("statement", "%s", why)))
				return true
			}
			d := &draw{dbCall: c, f: f, sql: sql}
			if at.refused(d.check()); at.Refused == nil {
				d.write(at)
			}
			out = append(out, at)
			return true
		})
	}
	return out
}

func (d *draw) check() *Refusal {
	f := d.f
	if len(d.args) > 0 || d.spread || d.method == "MustExec" {
		return refuse("statement", "it has arguments, or ends the program when it fails")
	}
	if r := f.inRequest(d.call); r != nil {
		return r
	}
	if !named(d.kind, sqlPath, "DB") && !named(d.kind, sqlxPath, "DB") {
		return refuse("handle", "%s is a %s: a transaction that is rolled back gives its numbers back", short(f.text(d.handle)), f.typeName(d.kind))
	}
	if t := f.program.schema.typeOf(d.sql.table, d.sql.column); t != "" && t != "bigint" && t != "int" && t != "integer" {
		return refuse("column", "%s.%s is a %s, in which numbers that nobody uses are missed", d.sql.table, d.sql.column, t)
	}
	if r := d.checkResult(); r != nil {
		return r
	}
	if f.program.schema.acts {
		return refuse("only", "the schema has a trigger, or a foreign key that changes rows")
	}
	return d.checkOnly()
}

// checkResult: nothing of the result but the number is looked at.
func (d *draw) checkResult() *Refusal {
	f := d.f
	lost := refuse("result", "something else than LastInsertId is asked of its result")
	assign, ok := f.parents[d.call].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 {
		return lost
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return lost
	}
	v, ok := f.info().ObjectOf(id).(*types.Var)
	if !ok {
		return lost
	}
	for use, o := range f.info().Uses {
		if o != v || use == id {
			continue
		}
		sel, ok := f.parents[use].(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "LastInsertId" {
			return lost
		}
		if call, ok := f.parents[sel].(*ast.CallExpr); !ok || call.Fun != ast.Expr(sel) {
			return lost
		}
	}
	return nil
}

// checkOnly: no other text of the program names the table, so that nothing else reads the
// counter or puts it back, and no other place draws from it.
func (d *draw) checkOnly() (out *Refusal) {
	for _, f := range d.f.program.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || e == d.query {
				return !ok
			}
			v := f.info().Types[e].Value
			if v == nil || v.Kind() != constant.String {
				return true
			}
			_, declares := f.parents[e].(*ast.ValueSpec)
			if text := constant.StringVal(v); names(text, d.sql.table) && !(declares && text == d.text) {
				out = refuse("only", "line %d of %s names %s, too", f.line(e.Pos()), f.rel, d.sql.table)
			}
			return false
		})
	}
	return out
}

// names reports whether a text has a word in it.
func names(text, word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r > 0x7f || !isWordByte(byte(r)) }),
		func(w string) bool { return strings.EqualFold(w, word) })
}

func (d *draw) write(at *Place) {
	f := d.f
	table := camel(d.sql.table)
	number, blocks, take := f.fresh(d.call, lower(table)+"Number"), f.fresh(d.call, lower(table)+"Blocks"), f.fresh(d.call, "draw"+table)
	handle, _ := f.typeText(d.kind)
	params, args, ctx := "db "+handle, f.text(d.handle), ""
	if d.ctx != nil {
		t, _ := f.typeText(f.info().TypeOf(d.ctx))
		params, args, ctx = "ctx "+t+", "+params, f.text(d.ctx)+", "+args, "ctx, "
	}
	at.replace(d.call, take+"("+args+")")
	method := "Exec"
	if d.ctx != nil {
		method = "ExecContext"
	}
	query := fmt.Sprintf("%sGREATEST(%s, ?) + %d%s", d.text[:d.sql.from], d.sql.column, numbersOfBlock, d.text[d.sql.to:])
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is a number drawn from %s.\ntype %s int64\n\n// LastInsertId is what a sql.Result calls it.\nfunc (n %s) LastInsertId() (int64, error) { return int64(n), nil }\n\n", number, d.sql.table, number, number)
	fmt.Fprintf(&b, "// %s are the numbers that were drawn and not given out yet, by database.\nvar %s = struct {\n\t%s.Mutex\n\tnext, last map[%s]int64\n}{next: map[%s]int64{}, last: map[%s]int64{}}\n\n",
		blocks, blocks, f.packageName("sync"), handle, handle, handle)
	fmt.Fprintf(&b, "// %s gives the next number of %s. One statement draws %d of them, all above what\n// this process has had, even if the counter was put back meanwhile.\nfunc %s(%s) (%s, error) {\n", take, d.sql.table, numbersOfBlock, take, params, number)
	fmt.Fprintf(&b, "\tb := &%s\n\tb.Lock()\n\tdefer b.Unlock()\n\tif b.next[db] == b.last[db] {\n\t\tresult, err := db.%s(%s%s, b.last[db])\n\t\tif err != nil {\n\t\t\treturn 0, err\n\t\t}\n", blocks, method, ctx, literal(query))
	fmt.Fprintf(&b, "\t\tlast, err := result.LastInsertId()\n\t\tif err != nil || last <= b.last[db] {\n\t\t\treturn %s(last), err\n\t\t}\n\t\tb.next[db], b.last[db] = last-%d, last\n\t}\n\tb.next[db]++\n\treturn %s(b.next[db]), nil\n}\n", number, numbersOfBlock, number)
	at.atEnd(b.String())
	at.imports = append(append(at.imports, "sync"), f.lacking([]types.Type{d.kind})...)
	at.Subject = fmt.Sprintf("Draw the numbers of %s a hundred at a time", d.sql.table)
	at.Body = fmt.Sprintf("%s sent an UPDATE of %s for each number, which is a commit of its own, and all requests wait for its one row. It now draws %d numbers by one statement, and gives them out from memory.\n\n"+
		"The counter stays where it is, so that numbers are unique among all that draw from it, processes, hosts and other programs alike, and after a restart. What changes: a process that ends leaves up to %d numbers unused, and where several processes draw, a higher number is not always the later one. A counter that is put back (a restored dump) must not be put back while several processes serve; one alone goes on above what it has had.",
		f.function(d.call), d.sql.table, numbersOfBlock, numbersOfBlock)
}
