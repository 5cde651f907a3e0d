package patch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// mostKept is how many answers a function keeps before it forgets them all: a page asks for
// fewer, and a program that goes on for long stays as small as it was.
const mostKept = "1000"

// phpKept is a function that gives what one statement reads by its parameters, P6.
type phpKept struct {
	*php
	fn     *phpFunc
	place  *Place
	given  *phpNode // what it returns
	call   *phpNode // that sends the statement
	text   string
	tables []string
}

// phpStays are what programs have in which a function outlives a request.
var phpStays = lazyregexp.New(`(?i)frankenphp_handle_request|swoole|roadrunner|workerman|reactphp|react\\|amp\\loop|pcntl_fork|while\s*\(\s*(true|1)\s*\)|for\s*\(\s*;\s*;\s*\)`)

// kept looks for functions whose answers can be kept for the request.
func (f *phpFinder) kept() {
	for _, of := range f.php.files {
		for _, fn := range of.php.funcs {
			if k := f.keptOf(fn); k != nil {
				if why := k.check(); why != nil {
					k.place.refused(why)
				} else {
					k.write()
				}
			}
		}
	}
}

// keptOf is a function whose one statement returns what it reads, and that is called in a
// loop, or in several places; nil if it is none.
func (f *phpFinder) keptOf(fn *phpFunc) *phpKept {
	body := fn.node.List("stmts")
	if len(body) != 1 || !body[0].Is("Stmt_Return") {
		return nil
	}
	k := &phpKept{php: f.php, fn: fn, given: body[0].Node("expr")}
	k.call = k.sent(k.given)
	if k.call == nil {
		return nil
	}
	args, plain := k.call.Args()
	if !plain || len(args) == 0 {
		return nil
	}
	ps := f.pieces(args[0])
	if len(ps) == 0 || !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(ps[0].text)), "SELECT") || !f.calledAgain(fn) {
		return nil
	}
	if len(ps) == 1 {
		k.text = ps[0].text
	}
	k.place = f.place(fn.f, body[0], "the same read again in one request", &phpRead{f: fn.f, text: ps[0].text, source: args[0]})
	k.place.Shape = "P6"
	return k
}

// sent is the call of a function that sends any statement within what is only taken apart,
// or given another value where there is none.
func (k *phpKept) sent(e *phpNode) *phpNode {
	switch {
	case e.Is("Expr_Cast_Int", "Expr_Cast_String", "Expr_Cast_Double", "Expr_Cast_Bool"):
		return k.sent(e.Node("expr"))
	case e.Is("Expr_ArrayDimFetch") && constantPHP(e.Node("dim")):
		return k.sent(e.Node("var"))
	case e.Is("Expr_BinaryOp_Coalesce") && (constantPHP(e.Node("right")) || e.Node("right").Is("Expr_Throw")):
		return k.sent(e.Node("left"))
	case e.Is("Expr_Ternary") && !e.Has("if") && (constantPHP(e.Node("else")) || e.Node("else").Is("Expr_Throw")):
		return k.sent(e.Node("cond"))
	case isFetch(e), calledNameOf(e) == "fetchall":
		if call := objectOf(e); call.Is("Expr_FuncCall") {
			if s := k.senderOf(calledName(call), false); s != nil && !s.row {
				return call
			}
		}
	case e.Is("Expr_FuncCall") && k.readsRows(calledName(e)):
		return e
	}
	return nil
}

// readsRows: a function of the program does nothing but send the text that it is given, and
// gives the first row, or all.
func (k *phpKept) readsRows(name string) bool {
	if s := k.senderOf(name, false); s != nil {
		return s.row
	}
	own := k.named(name)
	if len(own) != 1 || own[0].class != nil || len(own[0].node.List("params")) != 2 || len(own[0].node.List("stmts")) != 1 {
		return false
	}
	all := own[0].node.List("stmts")[0].Node("expr")
	inner := objectOf(all)
	args, plain := inner.Args()
	s := k.senderOf(calledName(inner), !inner.Is("Expr_FuncCall"))
	given, none := all.Args()
	return calledNameOf(all) == "fetchall" && none && len(given) == 0 && plain && passes(args, own[0].node) && s != nil && !s.row
}

// calledAgain: a function is called in a loop, or in several places.
func (f *phpFinder) calledAgain(fn *phpFunc) bool {
	calls := 0
	for _, of := range f.holding(fn.node.Name()) {
		of.php.tree.Walk(func(n *phpNode) bool {
			if (&phpVia{fn: fn}).isCall(n) {
				calls++
				if n.Around(append(phpLoops, phpScopes...)...).Is(phpLoops...) {
					calls++
				}
			}
			return true
		})
	}
	return calls > 1
}

// check shows the preconditions.
func (k *phpKept) check() *Refusal {
	for _, check := range []func() *Refusal{k.fn.f.phpOwn, k.understand, k.checkFunction, k.checkWritten, k.checkRequest} {
		if why := check(); why != nil {
			return why
		}
	}
	return nil
}

// understand reads the statement.
func (k *phpKept) understand() *Refusal {
	if k.php.text.driver != nil {
		return k.php.text.driver
	}
	if k.text == "" {
		return refuse("constant", "its text is no constant")
	}
	text, _, ok := positional(k.text)
	if !ok {
		return refuse("statement", "it has placeholders of both kinds, a comment, or a string without end")
	}
	b, why := parseBranch(text)
	switch {
	case why != "":
		return refuse("statement", "%s", why)
	case len(b.tables) == 0:
		return refuse("statement", "it reads no table")
	}
	k.tables = b.tables
	return nil
}

// checkFunction: what it reads depends on its parameters alone, and these tell each other
// apart as the key of an array.
func (k *phpKept) checkFunction() *Refusal {
	fn, name := k.fn.node, k.fn.node.Name()
	same := slices.DeleteFunc(slices.Clone(k.named(name)), func(other *phpFunc) bool { return (other.class == nil) != (k.fn.class == nil) })
	if len(same) != 1 || fn.Has("byRef") {
		return refuse("function", "several functions are named %s, or it returns a reference", name)
	}
	words := 0
	var params []string
	for _, p := range fn.List("params") {
		v := p.Node("var").Variable()
		params = append(params, v)
		switch kind := strings.ToLower(p.Node("type").Name()); {
		case p.Has("byRef") || p.Has("variadic"):
			return refuse("function", "%s takes a parameter by reference, or many", name)
		case kind == "string":
			words++
		case kind != "int":
			return refuse("key", "$%s is declared as neither int nor string", v)
		}
	}
	if words > 1 {
		return refuse("key", "several parameters are texts")
	}
	var why *Refusal
	k.given.Walk(func(n *phpNode) bool {
		if v := n.Variable(); n.Is("Expr_Variable") && !slices.Contains(params, v) {
			why = refuse("function", "what %s reads depends on more than its parameters", name)
		}
		if mode, of := strings.CutPrefix(n.Constant(), "PDO::FETCH_"); of && !phpPlainModes[strings.ToLower(mode)] {
			why = refuse("mode", "it is not known that rows are no objects")
		}
		if n.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall", "Expr_New") && n != k.call && !isFetch(n) && calledNameOf(n) != "fetchall" && n.Around("Expr_Throw") == nil {
			why = refuse("function", "%s calls %s beside the read", name, short(k.fn.f.phpText(n)))
		}
		return true
	})
	if mode := k.php.text.fetchMode; why == nil && (mode == "" || mode == "OBJ" || mode == "CLASS") {
		return refuse("mode", "it is not known that rows are no objects")
	}
	return why
}

// phpPlainModes are forms of rows that are no objects.
var phpPlainModes = phpNames(`assoc num both column key_pair unique group`)

// checkWritten: nothing of the program writes to the tables.
func (k *phpKept) checkWritten() *Refusal {
	switch {
	case k.vendored:
		return refuse("writes", "what vendored code writes to is not known")
	case k.program.schema.acts:
		return refuse("writes", "the schema has a trigger, or a foreign key that changes rows")
	}
	for _, f := range k.files {
		src := string(f.src)
		for _, m := range phpWritten.FindAllStringIndex(src, -1) {
			rest := src[m[0]:min(len(src), m[0]+400)]
			if target := phpTarget.FindStringSubmatch(rest); target == nil || strings.HasPrefix(target[1], "$") || strings.HasPrefix(target[1], "{") {
				return refuse("writes", "%s writes to a table whose name is put together", f.rel)
			}
			for _, t := range k.tables {
				if regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(t) + `\b`).MatchString(rest) {
					return refuse("writes", "%s may write to %s", f.rel, t)
				}
			}
		}
	}
	return nil
}

var (
	// phpWritten is where a text that writes begins.
	phpWritten = lazyregexp.New(`(?i)\b(INSERT\s+(?:IGNORE\s+|LOW_PRIORITY\s+|DELAYED\s+)*(?:INTO\b)?|REPLACE\s+INTO\b|REPLACE\s+\w+\s*\(|UPDATE\s+(?:IGNORE\s+|LOW_PRIORITY\s+)?\S+(?:\s+\S+){0,12}?\s+SET\b|DELETE\s+(?:\S+\s+){0,4}?FROM\b|TRUNCATE\s+(?:TABLE\s+)?[\w$]|LOAD\s+DATA\b|(?:ALTER|DROP|RENAME|CREATE)\s+(?:TEMPORARY\s+)?TABLE\b|CALL\s+\w+\s*\()`)
	phpTarget  = lazyregexp.New("(?i)^(?:INSERT\\s+(?:\\w+\\s+)*?(?:INTO\\s+)?|REPLACE\\s+(?:INTO\\s+)?|UPDATE\\s+(?:IGNORE\\s+|LOW_PRIORITY\\s+)?|DELETE\\s+(?:\\S+\\s+)*?FROM\\s+|TRUNCATE\\s+(?:TABLE\\s+)?|(?:ALTER|DROP|RENAME|CREATE)\\s+(?:TEMPORARY\\s+)?TABLE\\s+(?:IF\\s+(?:NOT\\s+)?EXISTS\\s+)?)`?([\\w${]+)")
)

// checkRequest: the program ends with the request, and what functions keep with it.
func (k *phpKept) checkRequest() *Refusal {
	for _, f := range k.files {
		if m := phpStays.FindString(string(f.src)); m != "" {
			return refuse("request", "%s may serve several requests: %s", f.rel, m)
		}
	}
	return nil
}

// write gives the place its edits.
func (k *phpKept) write() {
	fn, f, at := k.fn.node, k.fn.f, k.place
	kept := "$" + k.freshVariable(k.given, "kept")
	stmt := fn.List("stmts")[0]
	in := f.phpIndent(stmt)
	unit := strings.TrimPrefix(in, f.phpIndent(fn))
	var numbers, texts []string
	for _, p := range fn.List("params") {
		if v := "$" + p.Node("var").Variable(); strings.EqualFold(p.Node("type").Name(), "string") {
			texts = append(texts, v)
		} else {
			numbers = append(numbers, v)
		}
	}
	w := &phpWriter{php: k.php, f: f, place: at}
	given := f.phpText(k.given)
	if n := len(numbers) + len(texts); n == 0 {
		w.insert(stmt, in, []string{"static " + kept + " = null;"})
		w.edit(k.given.From, k.given.To, kept+" ??= "+given)
	} else {
		key := `"` + strings.Join(append(numbers, texts...), " ") + `"` // a number has no blank
		if n == 1 {
			key = append(numbers, texts...)[0]
		}
		w.insert(stmt, in, []string{"static " + kept + " = [];", "if (count(" + kept + ") >= " + mostKept + ") {", unit + kept + " = [];", "}"})
		w.edit(k.given.From, k.given.To, kept+"["+key+"] ??= "+given)
	}
	at.Subject = "Keep what " + fn.Name() + " reads for the request"
	at.Body = fmt.Sprintf("%s read %s each time that it was called, by this statement:\n\n%s\n\nNothing of the program writes to %s. What it gives is now kept until the request ends; where there was no row, it asks again.",
		fn.Name(), strings.Join(k.tables, " and "), strings.Join(strings.Fields(k.text), " "), strings.Join(k.tables, " or "))
}
