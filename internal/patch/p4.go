package patch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// keyedLoop is an UPDATE or DELETE in a loop by a key of each element.
type keyedLoop struct {
	insertLoop
	sql *keyed
	key int // which of the arguments is another one in each turn
}

// keyedPlace looks at one.
func (f *file) keyedPlace(c *dbCall) *Place {
	l, why := (&rowRead{dbCall: c, f: f}).around()
	if l == nil && why == nil {
		return nil
	}
	at := f.place("P4", c.call, "a row changed or deleted by key in each turn of a loop")
	at.Statement = c.text
	at.refused(f.own()).refused(f.program.onlyMySQL())
	if l == nil {
		return at.refused(why)
	}
	w := &keyedLoop{insertLoop: insertLoop{dbCall: c, f: f, at: at, loop: l, does: f.effectsOf(l.body, c.call)}}
	for _, check := range []func() *Refusal{w.checkStatement, w.checkEnd, w.checkCalls, w.checkKey, w.checkTable, w.checkResult, w.checkValues, w.checkTransaction} {
		if r := check(); r != nil {
			return at.refused(r)
		}
	}
	if at.Refused == nil {
		w.write()
	}
	return at
}

func (w *keyedLoop) checkStatement() *Refusal {
	if w.method == "NamedExec" {
		return refuse("statement", "its values are named")
	}
	var why string
	if w.sql, why = parseKeyed(w.text); w.sql == nil {
		return refuse("statement", "%s", why)
	}
	if w.spread || len(w.sql.params) != len(w.args) {
		return refuse("statement", "its placeholders and arguments do not go together one by one")
	}
	w.insertLoop.sql = &insert{table: w.sql.table, columns: w.sql.set}
	return nil
}

// checkKey: one argument is another one in each turn, an integer that is compared with a
// column of integers which the statement does not set. What it does for a key is then the
// same whatever it did for others, and for a key that comes twice.
func (w *keyedLoop) checkKey() *Refusal {
	f := w.f
	w.key = -1
	for i, a := range w.args {
		switch {
		case w.loop.fixed(a, w.does):
		case w.sql.params[i] == nil:
			return refuse("values", "%s may be another value in each turn", short(f.text(a)))
		case w.key >= 0:
			return refuse("key", "its rows are told by more than one value of the loop")
		default:
			w.key = i
		}
	}
	if w.key < 0 {
		return refuse("key", "nothing of it is another one in each turn")
	}
	c, a := w.sql.params[w.key], w.args[w.key]
	switch t := f.program.schema.typeOf(w.sql.table, c.column); {
	case c.to == 0:
		return refuse("key", "%s is not compared by =", c.column)
	case !isInteger(f.info().TypeOf(a)):
		return refuse("key", "%s is no integer", short(f.text(a)))
	case t == "":
		return refuse("key", "neither a .sql file of the checkout nor a run tells what %s.%s is", w.sql.table, c.column)
	case !slices.Contains([]string{"tinyint", "smallint", "mediumint", "int", "integer", "bigint"}, t):
		return refuse("key", "%s.%s is a %s", w.sql.table, c.column, t)
	case slices.Contains(w.sql.set, c.column):
		return refuse("key", "it changes %s, by which its rows are told", c.column)
	}
	if e := f.effectsOf(a); e.statements > 0 || e.unknown != "" {
		return refuse("calls", "the key is made by a call that is not known")
	}
	return nil
}

// checkTable: rows change by the statement alone, in any order.
func (w *keyedLoop) checkTable() *Refusal {
	s := w.f.program.schema
	if s.acts {
		return refuse("writes", "the schema has a trigger, or a foreign key that changes rows")
	}
	if s.refersToItself(w.sql.table) {
		return refuse("writes", "rows of %s refer to each other, so that their order counts", w.sql.table)
	}
	return nil
}

func (w *keyedLoop) write() {
	f, at := w.f, w.at
	in := f.indent(w.loop.node.Pos())
	keys := f.freshLocal(w.call, "keysOf"+camel(w.sql.table))
	outer := ast.Node(w.loop.node)
	if l, ok := f.parents[outer].(*ast.LabeledStmt); ok {
		outer = l
	}
	w.loop.gatherRows(at)
	at.before(outer, fmt.Sprintf("%svar %s []%s // of %s\n", in, keys, f.anyText(), w.sql.table))
	from, to := f.offset(w.stmt.Pos()), f.offset(w.err.End())
	at.edits = append(at.edits, edit{from: from, to: to, text: fmt.Sprintf("%s = append(%s, %s)", keys, keys, f.text(w.args[w.key]))})

	n := f.freshLocal(w.call, "n")
	args, prepare := w.arguments(keys, n, in)
	call := f.text(w.call.Fun) + "("
	if w.ctx != nil {
		call += f.text(w.ctx) + ", "
	}
	call += w.query(n) + ", " + args + "...)"
	assign := f.parents[w.call].(*ast.AssignStmt)
	head := f.text(assign.Lhs[0]) + ", " + f.text(assign.Lhs[1]) + " " + assign.Tok.String() + " " + call
	// The branch moves out of the loop, to the depth that it has there.
	body := strings.ReplaceAll(f.text(w.err.Body), "\n"+f.indent(w.err.Pos()), "\n"+in+"\t")
	var b strings.Builder
	fmt.Fprintf(&b, "%sfor len(%s) > 0 {\n%s\t%s := len(%s)\n%s\tif %s > %d {\n%s\t\t%s = %d\n%s\t}\n%s", in, keys, in, n, keys, in, n, mostKeys, in, n, mostKeys, in, prepare)
	if w.stmt == ast.Stmt(w.err) {
		fmt.Fprintf(&b, "%s\tif %s; %s %s\n", in, head, f.text(w.err.Cond), body)
	} else {
		fmt.Fprintf(&b, "%s\t%s\n%s\tif %s %s\n", in, head, in, f.text(w.err.Cond), body)
	}
	fmt.Fprintf(&b, "%s\t%s = %s[%s:]\n%s}\n", in, keys, keys, n, in)
	at.after(w.loop.node, b.String())
	at.imports = append(at.imports, "strings")
	verb := map[string]string{"UPDATE": "Change", "DELETE": "Delete"}[w.sql.verb]
	at.Subject = fmt.Sprintf("%s the rows of %s together in %s", verb, w.sql.table, f.function(w.call))
	at.Body = fmt.Sprintf("The loop in %s sent one %s to %s for each %s, a round trip each. It now gathers the keys, and statements with IN of up to %d of them follow it, in the same transaction. Each gives every row the same values, so neither their order nor a key that comes twice matters. An error ends the function as before, and the transaction with it. Where the loop refuses one row and the database an earlier one, it is the loop's error that is told now.",
		f.function(w.call), w.sql.verb, w.sql.table, w.loop.elements(), mostKeys)
}

// query is the statement's text with IN for so many keys as n says, as Go writes it.
func (w *keyedLoop) query(n string) string {
	c := w.sql.params[w.key]
	query := fmt.Sprintf("%s+%s.Repeat(%s, %s-1)", literal(w.text[:c.from]+"IN (?"), w.f.packageName("strings"), literal(", ?"), n)
	return query + "+" + literal(")"+strings.TrimRight(w.text[c.to:], " \t\n;"))
}

// arguments of a statement with n keys, and the lines that make them.
func (w *keyedLoop) arguments(keys, n, in string) (args, prepare string) {
	texts := make([]string, len(w.args))
	for i, a := range w.args {
		texts[i] = w.f.text(a)
	}
	before, after := texts[:w.key], texts[w.key+1:]
	args = fmt.Sprintf("%s[:%s]", keys, n)
	if len(before)+len(after) == 0 {
		return args, ""
	}
	name := w.f.freshLocal(w.call, "args")
	prepare = fmt.Sprintf("%s\t%s := append([]%s{%s}, %s...)\n", in, name, w.f.anyText(), strings.Join(before, ", "), args)
	if len(after) > 0 {
		prepare += fmt.Sprintf("%s\t%s = append(%s, %s)\n", in, name, name, strings.Join(after, ", "))
	}
	return name, prepare
}
