package patch

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// needPHP are the preconditions of PHP beside those of Go.
var (
	needMode   = Need{"mode", "PHP: the form of a row is known, and it is no object"}
	needLayout = Need{"layout", "PHP: statements can be put before the loop and before the read"}
	needLeft   = Need{"left", "PHP: nothing looks later at the statement or the result"}
)

// phpFinder looks for places of PHP.
type phpFinder struct {
	*php
	out []*Place
	// heads are the loops that are written anew, with what they are over then.
	heads map[*phpNode]*phpHead
	funcs map[*phpNode]*Place // the places that write a function beside another
}

type phpHead struct {
	place *Place
	name  string
}

// findPHP finds the places of the PHP code.
func findPHP(p *Program) []*Place {
	if p.php == nil {
		return nil
	}
	f := &phpFinder{php: p.php, heads: map[*phpNode]*phpHead{}, funcs: map[*phpNode]*Place{}}
	defer f.close()
	for _, one := range p.php.files {
		if !phpReads.MatchString(string(one.src)) {
			continue
		}
		f.reads(one)
	}
	for _, one := range p.php.files {
		if phpChanges.MatchString(string(one.src)) {
			f.changes(one)
		}
	}
	for _, one := range f.senderFiles() {
		f.tree(one).Walk(func(n *phpNode) bool {
			if n.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") && loopAround(n).Is(phpLoops...) {
				if r, why := f.sentRead(one, n); r != nil {
					f.inLoop(r, why)
				}
			}
			return true
		})
	}
	f.kept()
	f.draws()
	f.opened()
	f.prepares()
	return f.out
}

// reads looks for rows that a file takes from a statement.
func (f *phpFinder) reads(one *file) {
	f.tree(one).Walk(func(n *phpNode) bool {
		switch {
		case isFetch(n) || isListFetch(n):
			f.fetch(one, n)
		case n.Is("Stmt_Foreach") && loopAround(n).Is(phpLoops...):
			f.overStatement(one, n)
		}
		return true
	})
}

// phpReads is what a file that reads rows has in a text.
var phpReads = lazyregexp.New(`(?i)fetch|query|get_result`)

// phpChanges is what a file that changes rows has in a text.
var phpChanges = lazyregexp.New(`(?i)['"<]\s*(INSERT|REPLACE|UPDATE|DELETE)\b|<<<`)

// senderFiles are the files that name a function which sends any statement.
func (f *phpFinder) senderFiles() []*file {
	var names []string
	for _, one := range f.php.files {
		for _, fn := range one.php.funcs {
			if len(fn.node.List("params")) == 2 && f.senderOf(fn.node.Name(), fn.class != nil) != nil {
				names = append(names, fn.node.Name())
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return f.holding(names...)
}

// fetch looks at one call that may give a row.
func (f *phpFinder) fetch(of *file, fetch *phpNode) {
	if loop := fetch.Around(append(phpLoops, phpScopes...)...); loop.Is("Stmt_While") && fetch.Within(loop.Node("cond")) {
		f.inWhile(of, fetch, loop)
		return
	}
	if isFetch(fetch) && fetch.Around("Stmt_Foreach") != nil && fetch.Within(fetch.Around("Stmt_Foreach").Node("expr")) {
		return
	}
	if object := objectOf(fetch); object.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") && f.senderOf(calledName(object), !object.Is("Expr_FuncCall")) != nil {
		return // which senders are for
	}
	r, why := f.readOf(of, fetch)
	switch {
	case r == nil:
	case loopAround(fetch).Is(phpLoops...):
		f.inLoop(r, why)
	default:
		f.inFunction(r, why)
	}
}

func (f *phpFinder) place(of *file, n *phpNode, what string, r *phpRead) *Place {
	from := n.Line
	lines := strings.Count(of.phpText(n), "\n") + 1
	p := &Place{Shape: r.shape(), File: of.rel, Line: from, Lines: lines, Function: phpFunction(n), What: what, Statement: strings.Join(strings.Fields(r.text), " "), program: f.program, file: of}
	if r.source != nil {
		p.Text = &Span{r.f.rel, r.source.Line, strings.Count(r.f.phpText(r.source), "\n") + 1}
	}
	f.out = append(f.out, p)
	return p
}

// phpFunction is the name of the function that a node is in.
func phpFunction(n *phpNode) string {
	fn := n.Around("Stmt_Function", "Stmt_ClassMethod")
	switch {
	case fn == nil:
		return ""
	case fn.Is("Stmt_ClassMethod") && fn.Parent.Name() != "":
		return fn.Parent.Name() + "." + fn.Name()
	}
	return fn.Name()
}

// inLoop is a read whose statements stand in a loop.
func (f *phpFinder) inLoop(r *phpRead, why *Refusal) {
	if len(r.args) > 0 && !slices.ContainsFunc(r.args, func(a *phpNode) bool { return !constantPHP(a) }) {
		return // nothing that changes
	}
	at := f.place(r.f, r.region[len(r.region)-1], r.what()+" read by key in each turn of a loop", r)
	if own := r.f.phpOwn(); own != nil {
		why = own
	}
	if why != nil {
		at.refused(why)
		return
	}
	w := &phpWriter{php: f.php, f: r.f, read: r, place: at, at: r.region[0], scope: phpScope(r.fetch)}
	if why := w.check(r.args); why != nil {
		at.refused(why)
		return
	}
	f.write(w)
}

// parses is an error if the new text of a file is no PHP.
func (p *php) parses(f *file, src []byte) error {
	if p.parsed[string(src)] {
		return nil
	}
	defer p.close()
	if err := p.start(); err != nil {
		return err
	}
	if _, err := p.parser.Parse(src); err != nil {
		p.end() // it may be PHP that failed
		return fmt.Errorf("%s: %w", f.rel, err)
	}
	if p.parsed == nil {
		p.parsed = map[string]bool{}
	}
	p.parsed[string(src)] = true
	return nil
}

// write gives the place its edits, together with another one that writes the loop's head
// anew.
func (f *phpFinder) write(w *phpWriter) {
	if each := w.overList(); each != nil {
		if f.heads[each] != nil {
			w.place.refused(refuse("layout", "line %d is written by another patch", each.Line))
			return
		}
		w.listName = "$" + w.freshVariable(w.at, w.rowName())
		f.heads[each] = &phpHead{w.place, w.listName}
	}
	w.say()
	if w.loop.head != "" {
		if have := f.heads[w.loop.node]; have != nil {
			w.place.lead, w.loop.name, w.loop.head, w.loop.before = have.place, have.name, "", ""
			w.place = have.place.in(w.f)
			w.write()
			return
		}
		f.heads[w.loop.node] = &phpHead{w.place, w.loop.name}
	}
	w.write()
}

// phpWriter checks a read in a loop and writes what it becomes.
type phpWriter struct {
	*php
	f     *file // of the loop
	read  *phpRead
	place *Place
	at    *phpNode // the first statement of the read, or the call of its function
	scope *phpNode // around the loop
	loop  *phpLoop
	does  *phpEffects
	key   *phpNode // in the loop
	via   *phpVia  // nil: the read stands in the loop
	// listName is the variable of a list that a loop goes over.
	listName string
}

// check shows the preconditions; args are what the loop gives the read.
func (w *phpWriter) check(args []*phpNode) *Refusal {
	if why := w.findLoop(args); why != nil {
		return why
	}
	w.does = w.effects(w.f, w.loop.node, w.left()...)
	if w.does.unknown != "" {
		return refuse("calls", "%s", w.does.unknown)
	}
	if why := w.checkFixed(args); why != nil {
		return why
	}
	if why := w.column(w.read); why != nil {
		return why
	}
	if r := w.read; (r.list || r.sql.sum) && !w.throws(r.api) {
		return refuse("error", "nothing shows that a statement which fails throws an exception")
	}
	if why := w.checkWrites(); why != nil {
		return why
	}
	if why := w.checkLeft(); why != nil {
		return why
	}
	return w.checkLayout()
}

// findLoop finds the loop that changes one of args, the key.
func (w *phpWriter) findLoop(args []*phpNode) *Refusal {
	var first *Refusal
	for _, a := range args {
		if a == nil {
			continue
		}
		loop, why := w.loopOf(w.f, w.at, a)
		if why == nil {
			w.loop, w.key = loop, a
			return nil
		}
		if first == nil || !constantPHP(a) {
			first = why
		}
	}
	return first
}

// left are the calls that are the read itself.
func (w *phpWriter) left() []*phpNode {
	if w.via != nil {
		return []*phpNode{w.at}
	}
	return w.read.sent
}

func constantPHP(e *phpNode) bool {
	if e.Is("Expr_UnaryMinus") {
		e = e.Node("expr")
	}
	return e.Is("Scalar_String", "Scalar_LNumber", "Scalar_DNumber", "Expr_ConstFetch", "Expr_ClassConstFetch")
}

// checkFixed: handle and all values but the key are the same in each turn.
func (w *phpWriter) checkFixed(args []*phpNode) *Refusal {
	handle := w.read.handle
	if w.read.sender != "" && w.read.sent[0].Is("Expr_MethodCall") {
		handle = w.read.sent[0].Node("var")
	}
	if w.via != nil {
		handle = w.via.receiver(w.at)
	}
	if handle != nil && !w.fixed(handle, true) {
		return refuse("handle", "%s is another one in each turn, as far as can be shown", short(w.f.phpText(handle)))
	}
	for _, a := range args {
		if a != nil && a != w.key && !w.fixed(a, w.via != nil) {
			return refuse("key", "two of its values are other ones in each turn: %s, %s", short(w.f.phpText(w.key)), short(w.f.phpText(a)))
		}
	}
	if w.via != nil {
		return w.via.find(w.at, w.key)
	}
	return w.read.find(func(a *phpNode) bool { return a == w.key })
}

// fixed reports an expression that is the same in each turn; handle: it may be a call that
// gives the connection.
func (w *phpWriter) fixed(e *phpNode, handle bool) bool {
	switch {
	case e == nil, constantPHP(e):
		return true
	case e.Variable() == "this":
		return true
	case e.Variable() != "":
		return !phpSuper[e.Variable()] && !w.does.globals[e.Variable()] && !w.changedIn(w.loop.node, w.scope, e.Variable(), nil)
	case e.Is("Expr_PropertyFetch") && e.Node("name").Is("Identifier"):
		return !w.does.properties[e.Name()] && w.fixed(e.Node("var"), false)
	case e.Is("Expr_StaticPropertyFetch") && e.Name() != "":
		return !w.does.properties[e.Name()]
	case e.Is("Expr_Cast_Int", "Expr_Cast_String"):
		return w.fixed(e.Node("expr"), false)
	case e.Is("Expr_FuncCall", "Expr_StaticCall", "Expr_MethodCall"):
		args, plain := e.Args()
		return handle && plain && w.handleType(w.f, e, 0) != "" && !slices.ContainsFunc(args, func(a *phpNode) bool { return !constantPHP(a) }) &&
			(!e.Is("Expr_MethodCall") || w.fixed(e.Node("var"), false))
	}
	return false
}

// phpSuper are variables that any function may change.
var phpSuper = map[string]bool{"GLOBALS": true, "_SESSION": true, "_GET": true, "_POST": true, "_COOKIE": true, "_SERVER": true, "_REQUEST": true, "_ENV": true, "_FILES": true}

// checkWrites: nothing writes to the table between the first of the reads and the last.
func (w *phpWriter) checkWrites() *Refusal {
	does, table := w.does, strings.ToLower(w.read.sql.table)
	for name := range does.writes {
		if b := w.read.branch; b != nil && slices.Contains(b.names, name) {
			table = name
		}
	}
	writes := len(does.writes) > 0 || does.all
	switch {
	case does.all:
		return refuse("writes", "the loop writes, it is not known where")
	case does.writes[table]:
		return refuse("writes", "the loop writes to %s", table)
	case writes && w.program.schema.acts:
		return refuse("writes", "the loop writes, and the schema has triggers or cascades")
	case writes && w.text.transactions, does.locks && !writes:
		return refuse("writes", "the loop writes or locks, and may be in a transaction")
	case does.locks && w.text.transactions:
		return refuse("writes", "the loop locks")
	}
	return nil
}
