package patch

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpPrepare is a statement that is prepared in each turn of a loop, P5.
type phpPrepare struct {
	*phpWriter
	head *phpNode // the call that prepares it
	name string   // of the variable that it is put into; "": it is executed at once
}

var (
	phpPreparing = lazyregexp.New(`(?i)prepare\s*\(`)
	phpEmulate   = lazyregexp.New(`ATTR_EMULATE_PREPARES`)
	phpNative    = lazyregexp.New(`(?i)ATTR_EMULATE_PREPARES\s*(?:=>|,)\s*(?:false|0)\b`)
)

// native: the server prepares the statements of all connections. Those of mysqli always are;
// PDO asks nothing of it where it emulates them, and there is nothing to gain.
func (p *php) native(api string) bool {
	connections, told, native := 0, 0, 0
	for _, f := range p.files {
		src := string(f.src)
		connections += len(phpNewPDO.FindAllString(src, -1))
		told += len(phpEmulate.FindAllString(src, -1))
		native += len(phpNative.FindAllString(src, -1))
	}
	return api == "mysqli" || api == "PDO" && connections > 0 && told == native && native >= connections
}

// prepares looks for statements that are prepared in each turn of a loop.
func (f *phpFinder) prepares() {
	for _, of := range f.php.files {
		if !phpPreparing.MatchString(string(of.src)) {
			continue
		}
		f.tree(of).Walk(func(n *phpNode) bool {
			if bareName(n) == "execute" && n.Parent.Is("Stmt_Expression") && loopAround(n).Is(phpLoops...) {
				f.preparedInLoop(of, n)
			}
			return true
		})
	}
}

// preparedInLoop looks at one execution of a statement in a loop.
func (f *phpFinder) preparedInLoop(of *file, call *phpNode) {
	stmt, list, at := phpStatement(call)
	if stmt == nil || stmt.Node("expr") != call {
		return
	}
	r := &phpRead{f: of, fetch: call, region: []*phpNode{stmt}}
	why := f.executedChange(r, list, at)
	if r.source == nil || !r.prepared || !f.native(r.api) {
		return
	}
	head := r.sent[0]
	if !slices.ContainsFunc(r.region, head.Within) || f.changed(of, r.region) {
		return
	}
	place := f.place(of, r.region[0], "a statement prepared in each turn of a loop", r)
	place.Shape = "P5"
	w := &phpPrepare{phpWriter: &phpWriter{php: f.php, f: of, read: r, place: place, at: r.region[0], scope: phpScope(call)}, head: head}
	if a := head.Parent; a.Is("Expr_Assign") {
		w.name = a.Node("var").Variable()
	}
	place.refused(of.phpOwn()).refused(f.text.driver).refused(why)
	if place.Refused == nil {
		place.refused(w.findLoop())
	}
	if place.Refused == nil {
		w.write()
	}
}

// changed: a place that is offered already changes some statements.
func (f *phpFinder) changed(of *file, region []*phpNode) bool {
	var offered []*Place
	for _, p := range f.out {
		if p.Refused == nil {
			offered = append(offered, p)
		}
	}
	from, to := region[0].From, region[len(region)-1].To
	return slices.ContainsFunc(partsOf(offered), func(p *Place) bool {
		return p.file == of && slices.ContainsFunc(p.edits, func(e edit) bool { return e.from < to && e.to > from })
	})
}

// findLoop takes the outermost loop for which all can be shown. The reason is that of the
// innermost.
func (w *phpPrepare) findLoop() *Refusal {
	var loops []*phpNode
	for n := loopAround(w.at); n.Is(phpLoops...); n = loopAround(n) {
		loops = append(loops, n)
	}
	slices.Reverse(loops)
	var why *Refusal
	for _, one := range loops {
		w.loop = &phpLoop{f: w.f, node: one, scope: w.scope}
		if why = w.check(); why == nil {
			return nil
		}
	}
	return why
}

func (w *phpPrepare) check() *Refusal {
	r := w.read
	if !w.throws(r.api) {
		return refuse("error", "nothing shows that a statement which fails throws an exception")
	}
	w.does = w.effects(w.f, w.loop.node)
	switch {
	case w.does.unknown != "":
		return refuse("calls", "%s", w.does.unknown)
	case w.does.all:
		return refuse("session", "the loop sets something of the connection, makes a table, or the like, by which a statement is prepared")
	case !w.fixed(r.handle, true):
		return refuse("handle", "%s is another one in each turn, as far as can be shown", short(w.f.phpText(r.handle)))
	}
	if why := w.checkUses(); why != nil {
		return why
	}
	stmt, _, _ := phpStatement(w.loop.node)
	if stmt != w.loop.node || !w.f.room(stmt) || !w.f.room(w.at) || !w.f.firstOnLine(w.at) {
		return refuse("layout", "no statement can be put before line %d, or before the loop", w.at.Line)
	}
	return nil
}

// phpAgain are what is done with a statement that does not matter to its next execution.
var phpAgain = map[string]map[string]bool{
	"PDO":    phpNames(`bindvalue bindparam execute fetch fetchall fetchcolumn rowcount columncount closecursor errorcode errorinfo`),
	"mysqli": phpNames(`bind_param execute get_result affected_rows insert_id errno error`),
}

// checkUses: the variable holds this statement and no other one in the whole loop, and nothing
// is done to the statement that lasts beyond an execution.
func (w *phpPrepare) checkUses() *Refusal {
	if w.name == "" {
		return nil
	}
	if by := namesVariables(w.scope); by != "" {
		return refuse("left", "%s() may look at the statement", by)
	}
	for _, p := range w.scope.List("params") {
		if p.Node("var").Variable() == w.name {
			return refuse("left", "$%s is a parameter", w.name)
		}
	}
	for _, use := range usesOf(w.scope, w.name) {
		switch {
		case use.Parent.Is("Stmt_Global", "Stmt_Static", "Stmt_StaticVar", "Expr_ClosureUse"), use.Is("Expr_ClosureUse"):
			return refuse("left", "$%s is more than a variable of the function", w.name)
		case !use.Within(w.loop.node) || use.Parent == w.head.Parent:
		case use.From < w.head.From:
			return refuse("left", "$%s is used in line %d, before it is prepared", w.name, use.Line)
		case !w.lasts(use):
			return refuse("left", "line %d does more with $%s than to execute it and to take its rows", use.Line, w.name)
		}
	}
	if len(w.usesAfter(w.scope, w.name, w.loop.node)) > 0 || w.scope.Kind == "" && w.seenElsewhere(w.f, w.name) {
		return refuse("left", "$%s is used behind the loop", w.name)
	}
	return nil
}

// lasts: a use of the statement leaves it as it was for its next execution.
func (w *phpPrepare) lasts(use *phpNode) bool {
	in := use.Parent
	if in.Is("Arg") {
		in = in.Parent
		if args, plain := in.Args(); !plain || args[0] != use || !strings.HasPrefix(calledName(in), "mysqli_") {
			return false
		}
	}
	switch {
	case in.Is("Expr_MethodCall", "Expr_FuncCall"):
		return phpAgain[w.read.api][bareName(in)]
	case in.Is("Expr_PropertyFetch"):
		return phpAgain[w.read.api][strings.ToLower(in.Name())]
	}
	return in.Is("Stmt_Foreach") && in.Node("expr") == use && w.read.api == "PDO"
}

// write gives the place its edits.
func (w *phpPrepare) write() {
	name, text := "$"+w.name, w.f.phpText(w.head)
	if w.name == "" {
		name = "$" + w.freshVariable(w.at, "statement")
		w.insert(w.at, w.f.phpIndent(w.at), []string{name + " = " + name + " ?? " + text + ";"})
		w.edit(w.head.From, w.head.To, name)
	} else {
		w.edit(w.head.From, w.head.To, name+" ?? "+text)
	}
	w.insert(w.loop.node, w.f.phpIndent(w.loop.node), []string{name + " = null;"})
	in := w.place.Function
	if in == "" {
		in = w.place.File
	}
	w.place.Subject = "Prepare a statement once in " + in
	w.place.Body = fmt.Sprintf("The loop had the server prepare this statement in each turn:\n\n%s\n\nIt is now prepared when it is needed first, and executed again in the other turns, each of which gives it all its values.", strings.Join(strings.Fields(w.read.text), " "))
}
