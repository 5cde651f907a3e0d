package patch

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpOpened is a function that opens a connection each time that it is called, P10.
type phpOpened struct {
	*php
	fn      *phpFunc
	place   *Place
	made    *phpNode // what opens it
	api     string   // "PDO", "mysqli"
	held    *phpNode // the variable or property that it is put into; nil: it is returned at once
	returns []*phpNode
	// setUp: a statement that may fail stands between opening and returning.
	setUp bool
	all   []*phpOpened // of the program
}

var phpOpening = lazyregexp.New(`(?i)\bnew\s+\\?(PDO|mysqli)\b|\bmysqli_connect\b`)

// opened looks for functions whose connection can be kept for the request.
func (f *phpFinder) opened() {
	all := f.openers()
	for _, o := range all {
		o.all = all
		o.place.refused(o.check())
		if o.place.Refused == nil {
			o.write()
		}
	}
}

// openers are the functions that open a connection in each call and are called again.
func (f *phpFinder) openers() []*phpOpened {
	var all []*phpOpened
	for _, of := range f.php.files {
		if !phpOpening.MatchString(string(of.src)) || f.tree(of) == nil {
			continue
		}
		for _, fn := range of.php.funcs {
			if o := f.openedOf(fn); o != nil {
				all = append(all, o)
			}
		}
	}
	return all
}

// opensConnection is the API of what an expression opens, "" if it opens nothing.
func opensConnection(n *phpNode) string {
	if n.Is("Expr_New") {
		return handleClass(n.Node("class"))
	}
	if calledNameOf(n) == "mysqli_connect" {
		return "mysqli"
	}
	return ""
}

// openedOf is a function that returns the connection which it opens; nil if it is none, or
// keeps it already.
func (f *phpFinder) openedOf(fn *phpFunc) *phpOpened {
	o := &phpOpened{php: f.php, fn: fn}
	kept := false
	inScope(fn.node, func(n *phpNode) {
		if api := opensConnection(n); api != "" && o.made == nil {
			o.made, o.api = n, api
		}
		kept = kept || n.Is("Stmt_Static")
	})
	if o.made == nil || kept {
		return nil
	}
	switch in := o.made.Parent; {
	case in.Is("Expr_Assign") && in.Parent.Is("Stmt_Expression"):
		o.held = in.Node("var")
	case !in.Is("Stmt_Return"):
		return nil
	}
	inScope(fn.node, func(n *phpNode) {
		if n.Is("Stmt_Return") && o.isHeld(n.Node("expr")) {
			o.returns = append(o.returns, n)
		}
	})
	guard := o.made.Around(append([]string{"Stmt_If"}, phpScopes...)...)
	if len(o.returns) == 0 || guard.Is("Stmt_If") && o.guards(guard.Node("cond")) || !f.opensAgain(fn, mostCallers) {
		return nil
	}
	o.place = f.place(fn.f, o.made, "a connection of "+o.api+" opened in each call", &phpRead{f: fn.f})
	o.place.Shape = "P10"
	return o
}

// isHeld: an expression is the connection.
func (o *phpOpened) isHeld(e *phpNode) bool {
	if e == nil || o.held == nil {
		return e != nil && e == o.made
	}
	return o.fn.f.phpText(e) == o.fn.f.phpText(o.held)
}

// guards: an expression names what holds the connection.
func (o *phpOpened) guards(e *phpNode) bool {
	return o.held != nil && strings.Contains(o.fn.f.phpText(e), o.fn.f.phpText(o.held))
}

// opensAgain: a function is called in a loop or in several places, or by one function of which
// that is so.
func (f *phpFinder) opensAgain(fn *phpFunc, depth int) bool {
	if f.calledAgain(fn) {
		return true
	}
	again := false
	for _, of := range f.holding(fn.node.Name()) {
		for _, caller := range of.php.funcs {
			if caller.node == fn.node || again || depth == 0 {
				continue
			}
			calls := false
			inScope(caller.node, func(n *phpNode) { calls = calls || (&phpVia{fn: fn}).isCall(n) })
			again = calls && f.opensAgain(caller, depth-1)
		}
	}
	return again
}

// check shows the preconditions.
func (o *phpOpened) check() *Refusal {
	for _, check := range []func() *Refusal{o.fn.f.phpOwn, o.checkDriver, o.checkFunction, o.checkBody, o.checkRequest, o.checkGiven, o.checkSession} {
		if why := check(); why != nil {
			return why
		}
	}
	return nil
}

func (o *phpOpened) checkDriver() *Refusal { return o.php.text.driver }

func (o *phpOpened) checkRequest() *Refusal {
	return (&phpKept{php: o.php, fn: o.fn}).checkRequest()
}

// checkFunction: it is one function without parameters, and has room for statements.
func (o *phpOpened) checkFunction() *Refusal {
	fn, name := o.fn.node, o.fn.node.Name()
	same := slices.DeleteFunc(slices.Clone(o.named(name)), func(other *phpFunc) bool { return (other.class == nil) != (o.fn.class == nil) })
	first := fn.List("stmts")[0]
	switch {
	case len(same) != 1 || fn.Has("byRef"):
		return refuse("function", "several functions are named %s, or it returns a reference", name)
	case len(fn.List("params")) > 0:
		return refuse("arguments", "%s has parameters, and may open another one for each", name)
	case o.fn.class != nil && !o.fn.class.Is("Stmt_Class"):
		return refuse("function", "%s is of no class", name)
	case !o.fn.f.firstOnLine(first) || first.Line == fn.Line:
		return refuse("layout", "no statement can be put before line %d", first.Line)
	}
	return nil
}

// write gives the place its edits.
func (o *phpOpened) write() {
	fn, f, at := o.fn.node, o.fn.f, o.place
	first := fn.List("stmts")[0]
	in, unit := f.phpIndent(first), strings.TrimPrefix(f.phpIndent(first), f.phpIndent(fn))
	w := &phpWriter{php: o.php, f: f, place: at}
	word := map[string]string{"PDO": "pdo", "mysqli": "link"}[o.api]
	there := map[string]string{"PDO": " !== null", "mysqli": ""}[o.api] // mysqli_connect may give false
	switch {
	case o.held == nil:
		kept := "$" + word
		if len(usesOf(fn, word)) > 0 {
			kept = "$" + o.freshVariable(first, word)
		}
		assign := kept + " ??= "
		if o.api == "mysqli" {
			assign = kept + " = " + kept + " ?: "
		}
		w.insert(first, in, []string{"static " + kept + " = null;"})
		w.edit(o.made.From, o.made.From, assign)
	case o.held.Variable() != "" && !o.setUp && o.api == "PDO":
		kept := f.phpText(o.held)
		w.insert(first, in, []string{"static " + kept + " = null;", "if (" + kept + there + ") {", unit + "return " + kept + ";", "}"})
	default:
		kept, given := "$"+o.freshVariable(first, "kept"), ""
		if o.held.Variable() == "" {
			given = f.phpText(o.held) + " = "
		}
		w.insert(first, in, []string{"static " + kept + " = null;", "if (" + kept + there + ") {", unit + "return " + given + kept + ";", "}"})
		for _, r := range o.returns {
			w.edit(r.Node("expr").From, r.Node("expr").From, kept+" = ")
		}
	}
	at.Subject = "Open the connection of " + at.Function + " once in a request"
	at.Body = fmt.Sprintf("%s opened a connection of %s each time that it was called, which the server answers with a log-in of its own, before any statement. "+
		"It is now opened by the first call of a request and kept until the request ends; one that cannot be opened is tried again by the next call.\n\n"+
		"All of the program's statements go over it then. Nothing of the program leaves something on it that another caller would see: no transaction that is open while others ask, no variable or lock of the session, and no temporary table.", at.Function, o.api)
}
