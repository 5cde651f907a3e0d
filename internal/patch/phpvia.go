package patch

import (
	"slices"
	"strings"
)

// phpVia is a function that reads one row by a key and does nothing else.
type phpVia struct {
	fn    *phpFunc
	read  *phpRead
	setup []*phpNode // statements before the read
	key   int        // parameter that is the key
	// missing: it gives false where there is no row.
	missing bool
	cast    string // "(int) ", which it makes of a value
}

// inFunction is a read whose statements stand in a function that a loop may call.
func (f *phpFinder) inFunction(r *phpRead, why *Refusal) {
	scope := phpScope(r.fetch)
	if !scope.Is("Stmt_Function", "Stmt_ClassMethod") {
		return
	}
	fn := &phpFunc{f: r.f, node: scope}
	if scope.Is("Stmt_ClassMethod") {
		fn.class = scope.Parent
	}
	via := &phpVia{fn: fn, read: r}
	if why == nil {
		why = via.only()
	}
	for _, of := range f.holding(scope.Name()) {
		of.php.tree.Walk(func(n *phpNode) bool {
			if via.isCall(n) && loopAround(n).Is(phpLoops...) {
				f.call(of, n, via, why)
			}
			return true
		})
	}
}

func (v *phpVia) isCall(n *phpNode) bool {
	if v.fn.class == nil {
		return n.Is("Expr_FuncCall") && strings.EqualFold(calledName(n), v.fn.node.Name())
	}
	return n.Is("Expr_MethodCall", "Expr_StaticCall") && strings.EqualFold(calledName(n), v.fn.node.Name())
}

// call is one call of the function in a loop.
func (f *phpFinder) call(of *file, call *phpNode, via *phpVia, why *Refusal) {
	at := f.place(of, call, via.read.what()+" read by key in each turn of a loop, in the function "+via.fn.node.Name(), via.read)
	one := *via
	w := &phpWriter{php: f.php, f: of, read: via.read, place: at, at: call, scope: phpScope(call), via: &one}
	args, plain := call.Args()
	switch own := of.phpOwn(); {
	case own != nil:
		why = own
	case via.fn.f.phpOwn() != nil:
		why = via.fn.f.phpOwn()
	case why != nil:
	case !plain || len(args) > len(via.fn.node.List("params")):
		why = refuse("function", "its parameters and arguments do not go together one by one")
	default:
		if why = w.via.sure(w); why == nil {
			why = w.check(args)
		}
	}
	if why != nil {
		at.refused(why)
		return
	}
	if have := f.funcs[via.fn.node]; have != nil {
		at.lead, w.place = have, have.in(of)
	} else {
		f.funcs[via.fn.node] = at
	}
	f.write(w)
}

// sure: the call is one of this function and of no other.
func (v *phpVia) sure(w *phpWriter) *Refusal {
	name := v.fn.node.Name()
	same := 0
	for _, other := range w.named(name) {
		if (other.class == nil) == (v.fn.class == nil) {
			same++
		}
	}
	switch {
	case same != 1:
		return refuse("function", "several functions are named %s", name)
	case v.fn.class != nil && !v.fn.class.Is("Stmt_Class"):
		return refuse("function", "%s is of no class", name)
	case v.fn.class != nil && w.vendored && !ofOwnClass(w.at):
		return refuse("function", "%s may be that of a library", name)
	case v.fn.node.Has("byRef"), v.fn.node.Has("attrGroups"):
		return refuse("function", "%s returns a reference, or has attributes", name)
	case v.fn.class == nil && v.fn.node.Parent.Kind != "" && !v.fn.node.Parent.Is("Stmt_Namespace"):
		return refuse("function", "%s is declared under a condition", name)
	case w.at.Around(phpScopes...) == v.fn.node:
		return refuse("function", "%s calls itself", name)
	case v.fn.class != nil && v.fn.node.Int("flags")&8 != 0 && !w.at.Is("Expr_StaticCall"):
		return refuse("function", "%s is static", name)
	case v.fn.class != nil && v.fn.node.Int("flags")&8 == 0 && !w.at.Is("Expr_MethodCall"):
		return refuse("function", "%s is not static", name)
	}
	return nil
}

// only: the function does the read and nothing else.
func (v *phpVia) only() *Refusal {
	r := v.read
	more := refuse("function", "%s does more than the read", v.fn.node.Name())
	body := v.fn.node.List("stmts")
	first, last := slices.Index(body, r.region[0]), slices.Index(body, r.region[len(r.region)-1])
	if first < 0 || last < 0 || !v.setsUp(body[:first]) {
		return more
	}
	end, row, null := body[last], "", false
	if given := end.Node("expr"); end.Is("Stmt_Expression") && given.Is("Expr_Assign") {
		row = given.Node("var").Variable()
		null = given.Node("expr") != r.fetch
		if row == "" || null && !orNull(given.Node("expr"), func(e *phpNode) bool { return e == r.fetch }) {
			return more
		}
		rest := body[last+1:]
		for len(rest) > 1 && rest[0].Is("Stmt_Expression") && r.ends(rest[0].Node("expr")) {
			rest = rest[1:]
		}
		if len(rest) != 1 {
			return more
		}
		end = rest[0]
	} else if last != len(body)-1 {
		return more
	}
	if !end.Is("Stmt_Return") {
		return more
	}
	return v.returns(end.Node("expr"), row, null)
}

// returns: what is returned is the row, or null for none.
func (v *phpVia) returns(e *phpNode, row string, null bool) *Refusal {
	r, t := v.read, phpReturnType(v.fn.node)
	if r.mode == "COLUMN" && !r.list && r.sql != nil && r.sql.sum {
		v.cast, e = castIn(e)
	}
	is := func(e *phpNode) bool { return e == r.fetch || row != "" && e.Variable() == row }
	other := !is(e) && !orNull(e, is)
	null = null || !is(e)
	switch {
	case other || null && (r.mode == "COLUMN" || r.list):
		return refuse("function", "%s returns something else than the row", v.fn.node.Name())
	case r.mode == "COLUMN" && !r.list && t != nil && (v.cast == "" || !strings.EqualFold(v.cast, "("+t.Name()+") ")) && !strings.EqualFold(t.Name(), "mixed"):
		return refuse("function", "%s makes a %s of what it returns", v.fn.node.Name(), v.fn.f.phpText(t))
	}
	v.missing = !null && r.api == "PDO" && (t == nil || givesFalse(t))
	return v.plainParameters()
}

// phpReturnType is the type that a function declares to return, nil if it declares none.
func phpReturnType(fn *phpNode) *phpNode { return fn.Node("returnType") }

// givesFalse: what has a type may be false.
func givesFalse(t *phpNode) bool {
	if t.Is("UnionType") {
		return slices.ContainsFunc(t.List("types"), givesFalse)
	}
	return slices.Contains([]string{"false", "bool", "mixed"}, strings.ToLower(t.Name()))
}

// castIn is the cast around an expression, as it is written, and what is cast.
func castIn(e *phpNode) (string, *phpNode) {
	switch {
	case e.Is("Expr_Cast_Int"):
		return "(int) ", e.Node("expr")
	case e.Is("Expr_Cast_String"):
		return "(string) ", e.Node("expr")
	}
	return "", e
}

// castOf is the cast of what a function gives, "" if it has none.
func (v *phpVia) castOf() string {
	if v == nil {
		return ""
	}
	return v.cast
}

// setsUp: statements only give the connection and the text of the statement.
func (v *phpVia) setsUp(stmts []*phpNode) bool {
	r := v.read
	for _, s := range stmts {
		of := s.Node("expr").Node("var").Variable()
		switch {
		case s.Is("Stmt_Global"):
			v.setup = append(v.setup, s)
		case !s.Is("Stmt_Expression") || !s.Node("expr").Is("Expr_Assign") || of == "":
			return false
		case of == r.handle.Variable():
			v.setup = append(v.setup, s)
		case of != r.source.Variable():
			return false
		}
	}
	return true
}

// ends: a call closes the statement or the result.
func (r *phpRead) ends(e *phpNode) bool {
	return e.Is("Expr_MethodCall", "Expr_FuncCall") && slices.Contains([]string{"close", "closecursor", "free", "free_result"}, bareName(e)) && slices.Contains(r.vars, objectOf(e).Variable())
}

// orNull: an expression is `X ?: null`.
func orNull(e *phpNode, is func(*phpNode) bool) bool {
	return e.Is("Expr_Ternary") && !e.Has("if") && is(e.Node("cond")) && e.Node("else").Is("Expr_ConstFetch") && strings.EqualFold(e.Node("else").Node("name").Name(), "null")
}

// plainParameters: none is taken by reference, or changed by a type.
func (v *phpVia) plainParameters() *Refusal {
	for _, p := range v.fn.node.List("params") {
		if p.Has("byRef") || p.Has("variadic") {
			return refuse("function", "%s takes a parameter by reference, or many", v.fn.node.Name())
		}
	}
	return nil
}

// find notes which parameter the key is given to, and which value of the statement it is.
func (v *phpVia) find(call, key *phpNode) *Refusal {
	args, _ := call.Args()
	params := v.fn.node.List("params")
	v.key = slices.Index(args, key)
	p := params[v.key]
	name := p.Node("var").Variable()
	if t := p.Node("type"); t != nil {
		if t.Is("NullableType") {
			t = t.Node("type")
		}
		if n := strings.ToLower(t.Name()); n != "int" && n != "string" && n != "mixed" {
			return refuse("function", "the type of %s may change the key", "$"+name)
		}
	}
	uses := usesOf(v.fn.node, name)
	if len(uses) != 1 {
		return refuse("function", "%s uses $%s for more than the statement", v.fn.node.Name(), name)
	}
	why := v.read.find(func(a *phpNode) bool { return uses[0].Within(a) })
	if why == nil && v.read.keyArg != uses[0] && !(v.read.keyArg.Is("Expr_Cast_Int") && v.read.keyArg.Node("expr") == uses[0]) {
		return refuse("function", "%s makes something else of $%s", v.fn.node.Name(), name)
	}
	if why == nil && v.read.keyArg != uses[0] {
		return refuse("function", "%s makes something else of $%s", v.fn.node.Name(), name)
	}
	return why
}

// receiver is what the function is called of.
func (v *phpVia) receiver(call *phpNode) *phpNode {
	if call.Is("Expr_MethodCall") {
		return call.Node("var")
	}
	return nil
}

// reader writes the function that reads all rows beside the one that reads one, and returns
// its call.
func (v *phpVia) reader(w *phpWriter) string {
	lead := w.place.Lead()
	f := v.fn.f
	if lead.reader == "" {
		lead.reader = w.fresh(v.fn.node.List("stmts")[0], v.readerName())
		v.declare(w, lead.in(f))
	}
	args, _ := w.at.Args()
	var texts []string
	for i, a := range args {
		if i == v.key {
			texts = append(texts, "%s")
			continue
		}
		texts = append(texts, strings.ReplaceAll(w.f.phpText(a), "%", "%%"))
	}
	head := string(w.f.src[w.at.From:w.at.Node("name").From]) + lead.reader
	return strings.ReplaceAll(head, "%", "%%") + "(" + strings.Join(texts, ", ") + ")"
}

// readerName is the name of the function beside.
func (v *phpVia) readerName() string {
	name, snake := v.fn.node.Name(), strings.Contains(v.fn.node.Name(), "_")
	switch {
	case v.read.list && snake:
		return name + "_reader"
	case v.read.list:
		return name + "Reader"
	case snake:
		return strings.Replace(pluralName(name), "OfAll", "_of_all", 1)
	}
	return pluralName(name)
}

// pluralName of a function: get_user, getUser, find.
func pluralName(name string) string {
	if strings.HasSuffix(name, "ById") || strings.HasSuffix(name, "_by_id") {
		i := strings.LastIndex(strings.ToLower(name), "by")
		return plural(strings.TrimSuffix(name[:i], "_")) + name[len(strings.TrimSuffix(name[:i], "_")):]
	}
	if slices.Contains([]string{"find", "get", "load", "fetch", "read", "select", "one", "query"}, strings.ToLower(name)) {
		return name + "Many"
	}
	return plural(name)
}

// declare writes the function behind the one that reads one row.
func (v *phpVia) declare(w *phpWriter, place *Place) {
	fn, f := v.fn.node, v.fn.f
	unit := "    "
	if body := fn.List("stmts"); len(body) > 0 {
		if in, head := f.phpIndent(body[0]), f.phpIndent(fn); strings.HasPrefix(in, head) && len(in) > len(head) {
			unit = in[len(head):]
		}
	}
	var params, taken []string
	keys := ""
	for i, p := range fn.List("params") {
		name := p.Node("var").Variable()
		taken = append(taken, name)
		if i == v.key {
			keys = plural(name)
			params = append(params, "array $"+keys)
			continue
		}
		params = append(params, f.phpText(p))
	}
	taken = append(taken, w.freeVariables(v.read)...)
	var lines []string
	for _, s := range v.setup {
		lines = append(lines, f.phpText(s))
	}
	at := &phpWriter{php: w.php, f: f, read: v.read, place: place, via: v}
	lines = append(lines, at.body(v.read, keys, unit, taken)...)
	from, to := fn.From, fn.Node("name").From
	head := string(f.src[from:to])
	tell := place.Lead().reader + " " + phpTell(v.read, v.missing)
	at.declare(fn, head+place.Lead().reader, params, lines, unit, tell)
}
