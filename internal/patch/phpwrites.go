package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpChange is a statement that changes rows, in a loop: P3 or P4.
type phpChange struct {
	*phpWriter
	insert *insert
	keyed  *keyed
	key    int      // P4: which of its values is another one in each turn
	taken  []string // variables that the function which sends takes
}

var phpWriting = lazyregexp.New(`(?i)^\s*(INSERT|REPLACE|UPDATE|DELETE)\b`)

// changes looks for statements that change rows in each turn of a loop.
func (f *phpFinder) changes(of *file) {
	f.tree(of).Walk(func(n *phpNode) bool {
		if n.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") && n.Parent.Is("Stmt_Expression") && n.Around(append(phpLoops, phpScopes...)...).Is(phpLoops...) {
			if r, why := f.changeOf(of, n); r != nil {
				f.change(r, why)
			}
		}
		return true
	})
}

// changeOf understands a call that sends a statement which changes rows; nil if it is none.
func (p *php) changeOf(f *file, call *phpNode) (*phpRead, *Refusal) {
	stmt, list, at := phpStatement(call)
	if stmt == nil || stmt.Node("expr") != call || calledName(call) == "" {
		return nil, nil
	}
	r := &phpRead{f: f, fetch: call, region: []*phpNode{stmt}}
	var why *Refusal
	if s := p.senderOf(calledName(call), !call.Is("Expr_FuncCall")); s != nil {
		why = p.sentChange(r, call, s)
	} else if bareName(call) == "execute" {
		why = p.executedChange(r, list, at)
	}
	if r.source == nil {
		return nil, nil
	}
	if ps := p.pieces(r.source); len(ps) == 0 || !phpWriting.MatchString(ps[0].text) {
		return nil, nil
	}
	return r, why
}

// sentChange is one that a function of the program sends.
func (p *php) sentChange(r *phpRead, call *phpNode, s *phpSender) *Refusal {
	args, plain := call.Args()
	if s.row || !plain || len(args) != 2 {
		return nil
	}
	r.api, r.prepared, r.source, r.sent = "PDO", true, args[0], []*phpNode{call}
	b := &bindings{executed: true}
	if why := b.given(args[1:]); why != nil {
		return why
	}
	if why := r.placed(b); why != nil {
		return why
	}
	var why *Refusal
	r.sender, why = p.senderText(r.f, call, s)
	return why
}

// executedChange is one that is prepared, in the loop or before it.
func (p *php) executedChange(r *phpRead, list []*phpNode, at int) *Refusal {
	args, plain := ownArgs(r.fetch)
	if !plain {
		return nil
	}
	b := &bindings{executed: true, pending: r.fetch, result: true}
	why := b.given(args)
	head, _ := r.head(objectOf(r.fetch), b)
	for i := at - 1; head == nil && why == nil && i >= 0 && list[i].Is("Stmt_Expression"); i-- {
		var took bool
		if took, head, why = r.part(list[i].Node("expr"), b); !took {
			break
		}
		r.region = slices.Insert(r.region, 0, list[i])
	}
	if head == nil {
		head = p.prepared(r, b)
	}
	if head == nil {
		return nil
	}
	r.api = p.handleType(r.f, objectOf(head), 0)
	if no := r.begin(head, b); why == nil {
		why = no
	}
	return why
}

// change looks at one of them.
func (f *phpFinder) change(r *phpRead, why *Refusal) {
	verb := strings.ToUpper(phpWriting.FindStringSubmatch(f.pieces(r.source)[0].text)[1])
	shape, what := "P4", "a row changed or deleted by key in each turn of a loop"
	if verb == "INSERT" || verb == "REPLACE" {
		shape, what = "P3", "a row inserted in each turn of a loop"
	}
	at := f.place(r.f, r.region[len(r.region)-1], what, r)
	at.Shape = shape
	at.refused(r.f.phpOwn()).refused(f.text.driver).refused(why)
	if at.Refused != nil {
		return
	}
	w := &phpChange{phpWriter: &phpWriter{php: f.php, f: r.f, read: r, place: at, at: r.region[0], scope: phpScope(r.fetch)}}
	if why := w.understand(verb); why != nil {
		at.refused(why)
		return
	}
	if why := w.findLoop(); why != nil {
		at.refused(why)
		return
	}
	w.write()
}

// understand checks handle, errors and statement.
func (w *phpChange) understand(verb string) *Refusal {
	r := w.read
	r.text = strings.TrimSpace(r.text)
	if r.api == "" {
		return refuse("handle", "it cannot be shown that %s is a connection of PDO or mysqli", short(w.f.phpText(r.handle)))
	}
	if !w.throws(r.api) {
		return refuse("error", "nothing shows that a statement which fails throws an exception")
	}
	var why string
	if verb == "INSERT" || verb == "REPLACE" {
		// The same number of bytes: REPLACE has the form of an INSERT.
		w.insert, why = parseInsert("INSERT " + r.text[len(verb):])
		if verb == "INSERT" {
			w.insert, why = parseInsert(r.text)
		}
		if w.insert != nil && (w.insert.upserts || w.insert.params != len(r.args)) {
			why = "it has ON DUPLICATE KEY, or its placeholders and values do not go together one by one"
		}
	} else if w.keyed, why = parseKeyed(r.text); w.keyed != nil && len(w.keyed.params) != len(r.args) {
		why = "its placeholders and values do not go together one by one"
	}
	if why != "" {
		return refuse("statement", "%s", why)
	}
	if w.keyed != nil {
		return w.checkTable()
	}
	for _, c := range w.insert.columns {
		if t := w.program.schema.typeOf(w.insert.table, c); strings.HasPrefix(t, "long") || strings.HasPrefix(t, "medium") && t != "mediumint" {
			return refuse("values", "the column %s is a %s: many rows may be larger than the server takes", c, t)
		}
	}
	return nil
}

// checkTable: rows change by the statement alone, in any order.
func (w *phpChange) checkTable() *Refusal {
	s := w.program.schema
	switch {
	case s.acts:
		return refuse("writes", "the schema has a trigger, or a foreign key that changes rows")
	case s.refersToItself(w.keyed.table):
		return refuse("writes", "rows of %s refer to each other, so that their order counts", w.keyed.table)
	}
	return nil
}

// findLoop takes the outermost loop for which all can be shown. The reason is that of the
// innermost.
func (w *phpChange) findLoop() *Refusal {
	var loops []*phpNode
	stops := append(append([]string{"Stmt_TryCatch"}, phpLoops...), phpScopes...)
	for n := w.at.Around(stops...); n.Is(phpLoops...); n = n.Around(stops...) {
		loops = append(loops, n)
	}
	slices.Reverse(loops)
	why := refuse("error", "the loop goes on when the statement fails")
	for _, one := range loops {
		w.loop = &phpLoop{f: w.f, node: one, scope: w.scope}
		if why = w.check(); why == nil {
			return nil
		}
	}
	return why
}

func (w *phpChange) check() *Refusal {
	leave := slices.Clone(w.read.region)
	if list := w.loop.node.Node("expr"); w.loop.node.Is("Stmt_Foreach") {
		leave = append(leave, list) // which is made once, before all rows
		if (w.text.yields || w.vendored) && !w.givesArray(w.scope, w.loop.node, list) {
			return refuse("calls", "it is not known what gives the elements of %s", short(w.f.phpText(list)))
		}
	}
	w.does = w.effects(w.f, w.loop.node, leave...)
	for _, a := range w.read.args {
		w.does.walk(w.f, a)
	}
	for _, check := range []func() *Refusal{w.checkEnd, w.checkAlone, w.checkHandle, w.checkKey, w.checkSeen, w.checkUnused, w.checkTransaction, w.checkPlace} {
		if why := check(); why != nil {
			return why
		}
	}
	return nil
}

// givesArray: what a loop goes over is an array, by what it is given in its function, or in
// the one around the closure that takes it.
func (w *phpChange) givesArray(scope, at, list *phpNode) bool {
	name, give := list.Variable(), list
	if name != "" {
		give = w.lastGiven(scope, at, name)
	}
	if w.isArray(&phpLoop{f: w.f, node: at, scope: scope, list: list}, give) {
		return true
	}
	for _, u := range scope.List("uses") {
		if v := u.Node("var"); name != "" && v.Variable() == name && !u.Has("byRef") && !w.changedIn(scope, scope, name, []*phpNode{u}) {
			return w.givesArray(phpScope(scope), scope, v)
		}
	}
	return false
}

// checkEnd: what stands behind the loop is reached, unless an exception ends it.
func (w *phpChange) checkEnd() (why *Refusal) {
	inScope(w.loop.node, func(n *phpNode) {
		switch {
		case why != nil || n.Is(phpScopes...):
		case n.Is("Stmt_Return", "Expr_Exit"):
			why = refuse("end", "it may end in line %d, without what follows it", n.Line)
		case n.Is("Stmt_Break", "Stmt_Continue") && n.Node("num").Int("value") > w.depth(n):
			why = refuse("end", "line %d leaves a loop around it, too", n.Line)
		case n.Is("Stmt_Echo", "Stmt_InlineHTML", "Expr_Print") || phpPrints[calledNameOf(n)]:
			why = refuse("alone", "line %d prints, which an error in the middle ends", n.Line)
		}
	})
	return why
}

// phpPrints are functions of PHP that others see.
var phpPrints = phpNames(`print_r printf vprintf var_dump var_export error_log fwrite fputs fputcsv flush header http_response_code ob_start ob_get_clean`)

// depth is how many loops and switches are around a node, with the loop itself.
func (w *phpChange) depth(n *phpNode) int {
	depth := 0
	for at := n; at != w.loop.node; {
		at = at.Around(append([]string{"Stmt_Switch"}, phpLoops...)...)
		depth++
	}
	return depth
}

// checkAlone: nothing else is sent, and all that is called is known.
func (w *phpChange) checkAlone() *Refusal {
	does := w.does
	switch {
	case does.unknown != "":
		return refuse("calls", "%s", does.unknown)
	case does.statements > 0:
		return refuse("alone", "the loop, or a value, has another statement, which would then run before the rows are changed")
	case len(does.properties) > 0 || len(does.globals) > 0:
		return refuse("error", "the loop changes what others may see after an error")
	}
	for _, v := range append(slices.Clone(w.scope.List("params")), w.scope.List("uses")...) {
		if name := v.Node("var").Variable(); v.Has("byRef") && w.changedIn(w.loop.node, w.scope, name, nil) {
			return refuse("error", "the loop changes $%s, which others may see after an error", name)
		}
	}
	return nil
}

func (w *phpChange) checkHandle() *Refusal {
	handle := w.read.handle
	if w.read.sender != "" && w.read.sent[0].Is("Expr_MethodCall") {
		handle = w.read.sent[0].Node("var")
	}
	if handle != nil && !w.fixed(handle, true) {
		return refuse("handle", "%s is another one in each turn, as far as can be shown", short(w.f.phpText(handle)))
	}
	return nil
}

// checkKey: P4: one value is another one in each turn, compared with a column of integers
// that the statement does not set. What it does for a key is then the same whatever it did
// for others, and for a key that comes twice.
func (w *phpChange) checkKey() *Refusal {
	if w.keyed == nil {
		return nil
	}
	w.key = -1
	for i, a := range w.read.args {
		switch {
		case w.fixed(a, false):
		case w.keyed.params[i] == nil:
			return refuse("values", "%s may be another value in each turn", short(w.f.phpText(a)))
		case w.key >= 0:
			return refuse("key", "its rows are told by more than one value of the loop")
		default:
			w.key = i
		}
	}
	if w.key < 0 {
		return refuse("key", "nothing of it is another one in each turn")
	}
	c := w.keyed.params[w.key]
	switch t := w.program.schema.typeOf(w.keyed.table, c.column); {
	case c.to == 0:
		return refuse("key", "what is another value in each turn is not compared by =")
	case t == "":
		return refuse("key", "neither a .sql file nor a run shows the type of %s.%s", w.keyed.table, c.column)
	case !slices.Contains(phpIntegers, t):
		return refuse("key", "%s.%s is of type %s: what is equal to a value is the server's to say", w.keyed.table, c.column, t)
	case slices.Contains(w.keyed.set, c.column):
		return refuse("key", "it sets %s, by which its rows are told", c.column)
	}
	return nil
}

// checkSeen: nothing asks which number the database gave a row.
func (w *phpChange) checkSeen() *Refusal {
	outer := w.scope
	for outer.Is("Expr_Closure", "Expr_ArrowFunction") {
		outer = phpScope(outer)
	}
	asks := 0
	outer.Walk(func(n *phpNode) bool {
		name := calledNameOf(n)
		if name == "lastinsertid" || name == "mysqli_insert_id" || n.Is("Expr_PropertyFetch") && n.Name() == "insert_id" || n.Is("Scalar_String") && strings.Contains(strings.ToUpper(n.Text("value")), "LAST_INSERT_ID") {
			asks = n.Line
		}
		return true
	})
	if asks > 0 {
		return refuse("result", "line %d asks for the number that the database gave a row", asks)
	}
	return nil
}

// checkUnused: nothing else uses the statement.
func (w *phpChange) checkUnused() *Refusal {
	if by := namesVariables(w.scope); by != "" && len(w.read.vars) > 0 {
		return refuse("left", "%s() may look at the statement", by)
	}
	for _, name := range w.read.vars {
		for _, use := range usesOf(w.scope, name) {
			if use.Within(w.loop.node) && !slices.ContainsFunc(w.read.region, use.Within) {
				return refuse("left", "$%s is used beside the statement", name)
			}
		}
		for _, use := range w.usesAfter(w.scope, name, w.loop.node) {
			if !slices.ContainsFunc(w.read.region, use.Within) && !onlyCloses(use) {
				return refuse("left", "$%s is used behind the loop", name)
			}
		}
		if w.scope.Kind == "" && w.seenElsewhere(w.f, name) {
			return refuse("left", "$%s may be used by another file", name)
		}
	}
	return nil
}

// onlyCloses: a use does no more than end what a variable stands for.
func onlyCloses(use *phpNode) bool {
	in := use.Parent
	if in.Is("Arg") {
		in = in.Parent
	}
	return in.Is("Stmt_Unset") || in.Is("Expr_MethodCall", "Expr_FuncCall") && in.Parent.Is("Stmt_Expression") && slices.Contains([]string{"close", "closecursor"}, bareName(in))
}

// checkPlace: there is room for statements before and behind the loop, and in the place of
// the statement.
func (w *phpChange) checkPlace() *Refusal {
	loop, region := w.loop.node, w.read.region
	stmt, _, _ := phpStatement(loop)
	if stmt != loop || !w.f.room(loop) || !w.f.lastOnLine(loop) {
		return refuse("layout", "no statement can be put before or behind the loop in line %d", loop.Line)
	}
	in, list, _ := phpStatement(region[0])
	if in != region[0] || !w.f.room(region[0]) || !w.f.firstOnLine(region[0]) || !w.f.lastOnLine(region[len(region)-1]) || len(list) == 0 {
		return refuse("layout", "line %d has more than the statement", region[0].Line)
	}
	return nil
}

func (f *file) lastOnLine(n *phpNode) bool {
	rest, _, _ := strings.Cut(string(f.src[n.To:]), "\n")
	return strings.TrimSpace(rest) == ""
}
