package patch

import (
	"slices"
	"strconv"
)

// phpLoop is the loop that gives a key its values, with the text that gathers them.
type phpLoop struct {
	f     *file
	node  *phpNode
	scope *phpNode
	list  *phpNode // what it goes over; of a while the fetch
	// before are statements in front of the loop, head what its head becomes ("" as it is),
	// for what must be in a variable first.
	before, head string
	name         string // of the list, as it is written
	array        bool   // the list is known to be an array
	path         []string
	pick         string // the list is of the keys in this array
	keys, ints   bool
}

const mostKeySteps = 3

// loopOf finds the loop whose turns give a key.
func (p *php) loopOf(f *file, at, key *phpNode) (*phpLoop, *Refusal) {
	l := &phpLoop{f: f, scope: phpScope(at)}
	why := p.follow(l, at, key, nil, mostKeySteps)
	return l, why
}

// follow goes from an expression to the loop that gives it; rest is the path behind it.
func (p *php) follow(l *phpLoop, at, e *phpNode, rest []string, steps int) *Refusal {
	inner := l.withoutCasts(e)
	root, path, index := pathOfKey(inner)
	if root == nil || steps == 0 {
		return refuse("key", "%s is more than a value of the loop's element", short(l.f.phpText(e)))
	}
	path = append(path, rest...)
	for loop := loopAround(at); loop.Is(phpLoops...); loop = loop.Around(append(phpLoops, phpScopes...)...) {
		l.node = loop
		if l.takes(p, root, index, path) {
			why := p.prepareList(l)
			if why == nil && l.pick != "" && !l.array {
				return refuse("key", "it is not known whether %s is an array", l.name)
			}
			return why
		}
		changes := p.changesIn(loop, l.scope, root.Variable())
		if len(changes) == 1 && phpAssigned(changes[0]) != nil && index == "" && changes[0].From < at.From {
			return p.follow(l, changes[0], phpAssigned(changes[0]), path, steps-1)
		}
		if len(changes) > 0 {
			break
		}
	}
	return refuse("key", "%s is not of the element of a loop over an array", short(l.f.phpText(e)))
}

// withoutCasts is an expression without what makes it an integer, or something else of null.
func (l *phpLoop) withoutCasts(e *phpNode) *phpNode {
	for {
		args, plain := e.Args()
		switch {
		case e.Is("Expr_Cast_Int"):
			l.ints, e = true, e.Node("expr")
		case calledNameOf(e) == "intval" && plain && len(args) == 1:
			l.ints, e = true, args[0]
		case e.Is("Expr_BinaryOp_Coalesce") && constantPHP(e.Node("right")):
			return e.Node("left")
		default:
			return e
		}
	}
}

// takes reports a loop that gives a variable its values, or the index of the first step
// into it.
func (l *phpLoop) takes(p *php, root *phpNode, index string, path []string) bool {
	switch {
	case index == "":
		first, ok := l.gives(root.Variable())
		l.path = append(first, path...)
		return ok
	case l.byIndex(root, index):
		l.path = path
		return true
	case l.node.Is("Stmt_Foreach") && l.node.Node("valueVar").Variable() == index && !p.changedIn(l.node, l.scope, root.Variable(), nil):
		l.list, l.path, l.pick = l.node.Node("expr"), path, "$"+root.Variable()
		return true
	}
	return false
}

// pathOfKey takes `$post['user']['id']` apart: the variable, and the texts of the steps;
// index is the variable of the first step, where that is one.
func pathOfKey(e *phpNode) (root *phpNode, path []string, index string) {
	switch {
	case e.Variable() != "" && e.Variable() != "this":
		return e, nil, ""
	case e.Is("Expr_ArrayDimFetch"):
		root, path, index = pathOfKey(e.Node("var"))
		switch dim := e.Node("dim"); {
		case root == nil:
		case dim.Is("Scalar_String"):
			return root, append(path, phpQuote(dim.Text("value"))), index
		case dim.Is("Scalar_LNumber"):
			return root, append(path, strconv.Itoa(dim.Int("value"))), index
		case dim.Variable() != "" && index == "" && len(path) == 0:
			return root, nil, dim.Variable()
		}
	case e.Is("Expr_PropertyFetch") && e.Node("name").Is("Identifier"):
		root, path, index = pathOfKey(e.Node("var"))
		if root != nil {
			return root, append(path, phpQuote(e.Name())), index
		}
	}
	return nil, nil, ""
}

// gives reports a loop that puts its elements, or a part of them, into a variable.
func (l *phpLoop) gives(name string) (path []string, ok bool) {
	switch l.node.Kind {
	case "Stmt_Foreach":
		l.list = l.node.Node("expr")
		if l.node.Node("keyVar").Variable() == name {
			l.keys = true
			return nil, true
		}
		value := l.node.Node("valueVar")
		if value.Variable() == name {
			return nil, true
		}
		for i, item := range value.List("items") {
			if item.Node("value").Variable() != name {
				continue
			}
			switch key := item.Node("key"); {
			case key == nil:
				return []string{strconv.Itoa(i)}, true
			case key.Is("Scalar_String"):
				return []string{phpQuote(key.Text("value"))}, true
			}
		}
	case "Stmt_While":
		row, fetch := whileRow(l.node)
		l.list = fetch
		return nil, fetch != nil && row == name
	}
	return nil, false
}

// byIndex reports a loop that goes through an array by an index.
func (l *phpLoop) byIndex(root *phpNode, index string) bool {
	switch l.node.Kind {
	case "Stmt_For":
		if init := l.node.List("init"); len(init) > 0 && init[0].Is("Expr_Assign") && init[0].Node("var").Variable() == index {
			l.list = root
			return true
		}
	case "Stmt_Foreach":
		if l.node.Node("keyVar").Variable() == index && l.node.Node("expr").Variable() == root.Variable() {
			l.list = root
			return true
		}
	}
	return false
}

// whileRow is the variable and the fetch of `while ($row = $stmt->fetch())`.
func whileRow(loop *phpNode) (row string, fetch *phpNode) {
	cond := loop.Node("cond")
	if cond.Is("Expr_BinaryOp_NotIdentical", "Expr_BinaryOp_NotEqual") && cond.Node("right").Is("Expr_ConstFetch") {
		cond = cond.Node("left")
	}
	if !cond.Is("Expr_Assign") || !isFetch(cond.Node("expr")) {
		return "", nil
	}
	return cond.Node("var").Variable(), cond.Node("expr")
}

// prepareList makes the list a variable, where it is none.
func (p *php) prepareList(l *phpLoop) *Refusal {
	if l.node.Is("Stmt_While") {
		return p.prepareWhile(l)
	}
	if l.keys && len(l.path) > 0 {
		return refuse("key", "it is more than the key of the loop's element")
	}
	fetchAll, give := "", l.list
	if name := l.list.Variable(); name != "" {
		give = p.lastGiven(l.scope, l.node, name)
	}
	switch bareName(give) {
	case "query", "prepare", "get_result":
		// What it goes over is a result: its rows are taken at once.
		switch api := p.handleType(l.f, objectOf(give), 0); {
		case api == "PDO" && bareName(give) == "query":
			fetchAll = "->fetchAll()"
		default:
			return refuse("end", "it is over a result that is not known to be read whole")
		}
		if p.text.unbuffered || l.list.Variable() != "" && len(p.usesAfter(l.scope, l.list.Variable(), l.node)) > 0 {
			return refuse("end", "it is over a result that is not known to be read whole")
		}
	}
	l.array = fetchAll != "" || p.isArray(l, give) && (l.list.Variable() == "" || !p.changedIn(l.node, l.scope, l.list.Variable(), nil))
	if fetchAll == "" && plainList(l.list) {
		l.name = l.f.phpText(l.list)
		return nil
	}
	if l.node.Has("byRef") {
		return refuse("end", "it goes over %s by reference", short(l.f.phpText(l.list)))
	}
	l.name = "$" + p.freshVariable(l.node, plural(l.element()))
	l.before = l.name + " = " + l.f.phpText(l.list) + fetchAll + ";"
	l.head = l.name
	return nil
}

// element is the name of what the loop puts an element into.
func (l *phpLoop) element() string {
	if name := l.node.Node("valueVar").Variable(); name != "" {
		return name
	}
	if row, _ := whileRowOf(l.node); row != "" {
		return row
	}
	return "row"
}

func whileRowOf(n *phpNode) (string, *phpNode) {
	if !n.Is("Stmt_While") {
		return "", nil
	}
	return whileRow(n)
}

// plainList: it is read again without anything happening.
func plainList(e *phpNode) bool {
	switch {
	case e.Variable() != "":
		return true
	case e.Is("Expr_PropertyFetch", "Expr_StaticPropertyFetch"):
		return e.Node("var").Variable() == "this" || e.Is("Expr_StaticPropertyFetch")
	case e.Is("Expr_ArrayDimFetch"):
		return plainList(e.Node("var")) && e.Node("dim").Is("Scalar_String", "Scalar_LNumber")
	}
	return false
}

// isArray: what an expression gives is an array.
func (p *php) isArray(l *phpLoop, e *phpNode) bool {
	switch {
	case e.Is("Expr_Array"):
		return true
	case e.Is("Expr_Ternary"):
		return p.isArray(l, e.Node("if")) && p.isArray(l, e.Node("else"))
	case e.Is("Expr_MethodCall") && slices.Contains([]string{"fetchall", "fetch_all"}, calledName(e)) && len(p.named(calledName(e))) == 0:
		return true
	case e.Is("Expr_FuncCall"):
		name := calledName(e)
		own := p.named(name)
		if len(own) == 0 {
			return slices.Contains([]string{"array_map", "array_filter", "array_values", "array_keys", "array_slice", "array_unique", "array_column", "array_merge", "explode", "range", "array_reverse"}, name)
		}
		return len(own) == 1 && own[0].class == nil && own[0].node.Node("returnType").Name() == "array"
	case e.Variable() != "":
		for _, param := range l.scope.List("params") {
			if param.Node("var").Variable() == e.Variable() && param.Node("type").Name() == "array" && !p.changedIn(l.scope, l.scope, e.Variable(), nil) {
				return true
			}
		}
	}
	return e == nil && l.list.Variable() != "" && slices.ContainsFunc(l.scope.List("params"), func(param *phpNode) bool {
		return param.Node("var").Variable() == l.list.Variable() && param.Node("type").Name() == "array"
	}) && !p.changedIn(l.scope, l.scope, l.list.Variable(), nil)
}

// prepareWhile turns a loop over the rows of a result into one over an array of them.
func (p *php) prepareWhile(l *phpLoop) *Refusal {
	row, fetch := whileRow(l.node)
	of := objectOf(fetch)
	name := of.Variable()
	switch {
	case name == "" || p.text.unbuffered || l.f.program.php.text.driver != nil:
		return refuse("end", "the result that it goes through is not known to be read whole")
	case slices.ContainsFunc(usesOf(l.scope, name), func(u *phpNode) bool { return u.Within(l.node) && !u.Within(fetch) }):
		return refuse("end", "the loop uses %s, whose rows it reads", "$"+name)
	}
	given := p.lastGiven(l.scope, l.node, name)
	if bareName(given) == "get_result" {
		given = p.lastGiven(l.scope, given, objectOf(given).Variable())
	}
	handle := objectOf(given)
	if b := bareName(given); b != "query" && b != "prepare" || p.handleType(l.f, handle, 0) != phpFetches[calledName(fetch)] {
		return refuse("end", "it is not known whose rows it goes through")
	}
	for _, use := range p.usesAfter(l.scope, name, l.node) {
		if !closes(use) {
			return refuse("end", "$%s, whose rows it reads, is used behind the loop", name)
		}
	}
	if len(p.usesAfter(l.scope, row, l.node)) > 0 || l.scope.Kind == "" && p.seenElsewhere(l.f, row) {
		return refuse("end", "$%s is used behind the loop", row)
	}
	mode, args, why := p.allMode(l.f, fetch)
	if why != nil {
		return why
	}
	l.array = true
	l.name = "$" + p.freshVariable(l.node, plural(row))
	all := map[bool]string{true: "->fetchAll(" + args + ")", false: "->fetch_all(" + args + ")"}[mode == "PDO"]
	l.before = l.name + " = $" + name + all + ";"
	l.head = "foreach (" + l.name + " as $" + row + ")"
	return nil
}

// allMode is what fetchAll is given in the place of a fetch.
func (p *php) allMode(f *file, fetch *phpNode) (api, args string, why *Refusal) {
	r := &phpRead{f: f, fetch: fetch, api: phpFetches[calledName(fetch)]}
	if why := p.modeOf(r); why != nil && (why.Need != "mode" || r.mode != "OBJ" || r.api != "PDO") {
		return "", "", refuse("end", "the form of the rows that it goes through is not known")
	}
	switch {
	case r.mode == "COLUMN":
		return "", "", refuse("end", "it ends with the first value that is empty")
	case r.api == "PDO":
		given, _ := fetch.Args()
		if len(given) > 0 {
			return r.api, f.phpText(given[0]), nil
		}
		return r.api, "", nil
	}
	return r.api, "MYSQLI_" + r.mode, nil
}
