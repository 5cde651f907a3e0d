package patch

import (
	"fmt"
	"slices"
	"strings"
)

// phpEffects are what a loop does beside a read, with all that it calls.
type phpEffects struct {
	p *php
	// unknown is a call, or the like, of which is not known what it does; "" if all are.
	unknown string
	writes  map[string]bool // tables, in lower case
	all     bool            // it writes, nobody knows where
	locks   bool
	// statements is how many calls send one.
	statements int
	// properties that something assigns, by name.
	properties map[string]bool
	// globals are variables of no function that a function assigns.
	globals map[string]bool
	seen    map[*phpNode]bool
	leave   []*phpNode
}

func (p *php) effects(f *file, n *phpNode, leave ...*phpNode) *phpEffects {
	e := &phpEffects{p: p, writes: map[string]bool{}, properties: map[string]bool{}, globals: map[string]bool{}, seen: map[*phpNode]bool{}, leave: leave}
	e.walk(f, n)
	for _, m := range p.text.magic {
		e.functions(p.named(m))
	}
	return e
}

func (e *phpEffects) refuse(f *file, n *phpNode, what string) {
	if e.unknown == "" {
		e.unknown = fmt.Sprintf("it is not known what %s does (%s:%d)", what, f.rel, n.Line)
	}
}

func (e *phpEffects) walk(f *file, root *phpNode) {
	root.Walk(func(n *phpNode) bool {
		if slices.Contains(e.leave, n) || n != root && n.Is("Stmt_Function", "Stmt_Class") {
			return false
		}
		e.node(f, n)
		return true
	})
}

func (e *phpEffects) functions(fns []*phpFunc) {
	for _, fn := range fns {
		if !e.seen[fn.node] {
			e.seen[fn.node] = true
			e.walk(fn.f, fn.node)
		}
	}
}

func (e *phpEffects) node(f *file, n *phpNode) {
	switch n.Kind {
	case "Expr_Include", "Expr_Eval", "Expr_ShellExec", "Expr_Yield", "Expr_YieldFrom", "Stmt_Goto":
		e.refuse(f, n, short(f.phpText(n)))
	case "Expr_Variable":
		if n.Variable() == "" {
			e.refuse(f, n, "a variable whose name is computed")
		}
	case "Stmt_Global":
		for _, v := range n.List("vars") {
			if e.p.changedIn(phpScope(n), phpScope(n), v.Variable(), []*phpNode{n}) {
				e.globals[v.Variable()] = true
			}
		}
	case "Expr_FuncCall":
		e.function(f, n)
	case "Expr_MethodCall", "Expr_NullsafeMethodCall", "Expr_StaticCall":
		e.method(f, n)
	case "Expr_New":
		e.made(f, n)
	case "Expr_PropertyFetch", "Expr_NullsafePropertyFetch":
		if e.p.vendored && n.Node("var").Variable() != "this" {
			e.refuse(f, n, short(f.phpText(n))+", if it is an object of a library,")
		}
		e.target(n)
	case "Expr_StaticPropertyFetch":
		e.target(n)
	}
}

// target notes a property that is assigned.
func (e *phpEffects) target(n *phpNode) {
	at := n
	for at.Parent.Is("Expr_ArrayDimFetch") {
		at = at.Parent
	}
	if in := at.Parent; in.Node("var") == at || in.Is("Expr_AssignRef", "Stmt_Unset", "Stmt_Foreach", "Expr_ArrayItem") || in.Is("Arg") && e.p.takesReference(in.Parent, in) {
		if !in.Is("Expr_MethodCall", "Expr_PropertyFetch", "Expr_NullsafeMethodCall", "Expr_NullsafePropertyFetch") {
			e.properties[n.Name()] = true
		}
	}
}

func (e *phpEffects) function(f *file, n *phpNode) {
	name := calledName(n)
	own := slices.DeleteFunc(slices.Clone(e.p.named(name)), func(fn *phpFunc) bool { return fn.class != nil })
	switch {
	case name == "":
		e.refuse(f, n, "a function whose name is computed")
	case e.p.sendsText(name, false):
		e.sends(f, n, 0)
	case len(own) > 0:
		e.functions(own)
	case phpPure[name], phpStatementCalls[name]:
	case phpCalling[name]:
		e.callback(f, n)
	case name == "mysqli_stmt_execute", name == "mysqli_execute":
		args, _ := n.Args()
		if len(args) > 0 {
			e.execute(f, n, args[0])
		}
	default:
		if at, ok := phpSends[name]; ok && strings.HasPrefix(name, "mysqli_") {
			e.sends(f, n, at)
			return
		}
		e.refuse(f, n, name+"()")
	}
}

// callback looks at what a function of PHP is given to call.
func (e *phpEffects) callback(f *file, n *phpNode) {
	args, plain := n.Args()
	if !plain {
		e.refuse(f, n, short(f.phpText(n)))
		return
	}
	for _, a := range args {
		if !a.Is("Scalar_String") {
			if a.Is("Expr_Array") && len(a.List("items")) == 2 && (a.List("items")[0].Node("value").Variable() == "this" || a.List("items")[0].Node("value").Is("Expr_ClassConstFetch")) {
				e.refuse(f, n, short(f.phpText(n)))
			}
			continue
		}
		name := strings.ToLower(last(a.Text("value")))
		switch own := e.p.named(name); {
		case len(own) > 0:
			e.functions(own)
		case !phpPure[name]:
			e.refuse(f, n, short(f.phpText(n)))
		}
	}
	// What is called is a closure, which is walked as a part of the call, or it has a name.
	if !slices.ContainsFunc(args, func(a *phpNode) bool { return a.Is("Scalar_String", "Expr_Closure", "Expr_ArrowFunction") }) {
		e.refuse(f, n, short(f.phpText(n)))
	}
}

func (e *phpEffects) method(f *file, n *phpNode) {
	name := calledName(n)
	own := slices.DeleteFunc(slices.Clone(e.p.named(name)), func(fn *phpFunc) bool { return fn.class == nil })
	known := len(own) > 0
	if e.p.sendsText(name, true) {
		e.sends(f, n, 0)
		return
	}
	e.functions(own)
	if known && e.p.vendored && !ofOwnClass(n) {
		e.refuse(f, n, name+"(), if it is that of a library,")
	}
	handle := ""
	if n.Is("Expr_MethodCall", "Expr_NullsafeMethodCall") {
		handle = e.p.handleType(f, n.Node("var"), 0)
	}
	at, sends := phpSends[name]
	switch {
	case sends && (!known || handle != ""):
		e.sends(f, n, at)
	case name == "execute" && !known:
		e.execute(f, n, n.Node("var"))
	case known, phpStatementCalls[name] && !n.Is("Expr_StaticCall"), phpPlainMethods[name]:
	case n.Is("Expr_StaticCall") && strings.EqualFold(n.Node("class").Name(), "parent") && name == "__construct":
	default:
		e.refuse(f, n, name+"()")
	}
}

// ofOwnClass: the method is called of the object or class that the code is of.
func ofOwnClass(n *phpNode) bool {
	return n.Node("var").Variable() == "this" || slices.Contains([]string{"self", "static"}, strings.ToLower(n.Node("class").Name()))
}

func (e *phpEffects) made(f *file, n *phpNode) {
	class := n.Node("class")
	name := strings.ToLower(last(class.Name()))
	if phpPlainClasses[name] || handleClass(class) != "" {
		return
	}
	known := false
	for _, of := range e.p.holding(last(class.Name())) {
		of.php.tree.Walk(func(c *phpNode) bool {
			if c.Is("Stmt_Class") && strings.EqualFold(c.Name(), name) && name != "" {
				known = e.constructs(of, c)
			}
			return true
		})
	}
	if !known {
		e.refuse(f, n, short(f.phpText(n)))
	}
}

// constructs looks at the constructor of a class; false: it has one of a class that is not
// known.
func (e *phpEffects) constructs(f *file, class *phpNode) bool {
	for _, m := range class.List("stmts") {
		if m.Is("Stmt_ClassMethod") && strings.EqualFold(m.Name(), "__construct") {
			e.functions([]*phpFunc{{f: f, node: m, class: class}})
		}
	}
	extends := class.Node("extends")
	return extends == nil || phpPlainClasses[strings.ToLower(last(extends.Name()))]
}

// execute looks at the statement that an execution of it sends.
func (e *phpEffects) execute(f *file, n, of *phpNode) {
	name := of.Variable()
	if name == "" {
		if of.Is("Expr_MethodCall") && calledName(of) == "prepare" {
			return // which is looked at by itself
		}
		e.refuse(f, n, short(f.phpText(n)))
		return
	}
	found := false
	for _, use := range usesOf(phpScope(of), name) {
		given := phpAssigned(use)
		if given == nil {
			if e.p.mayChange(use) && !use.Parent.Is("Stmt_Unset") {
				e.refuse(f, n, short(f.phpText(n)))
			}
			continue
		}
		switch at, sends := phpSends[calledName(given)]; {
		case given.Is("Expr_ConstFetch"):
		case sends && given.Is("Expr_MethodCall", "Expr_FuncCall"):
			found = true
			e.sends(f, given, at)
		case given.Is("Expr_MethodCall", "Expr_FuncCall") && phpStatementCalls[calledName(given)]:
		default:
			e.refuse(f, n, short(f.phpText(n)))
		}
	}
	if !found {
		e.refuse(f, n, short(f.phpText(n)))
	}
}

// sends looks at a statement.
func (e *phpEffects) sends(f *file, n *phpNode, at int) {
	e.statements++
	args, plain := n.Args()
	if !plain || at >= len(args) {
		e.refuse(f, n, short(f.phpText(n)))
		return
	}
	text, ok := withValues(e.p.pieces(args[at]))
	if !ok {
		e.refuse(f, n, short(f.phpText(n)))
		return
	}
	tables, writes, locks, all := touched(text)
	for _, t := range tables {
		e.writes[t] = true
	}
	e.all = e.all || writes && all
	e.locks = e.locks || locks
}

// withValues is the text of pieces with ? for holes; false if one may stand for more than a
// value.
func withValues(ps []piece) (string, bool) {
	var b strings.Builder
	for _, p := range ps {
		if p.hole == nil {
			b.WriteString(p.text)
			continue
		}
		before := strings.TrimRight(b.String(), " \t\r\n")
		if before == "" {
			return "", false
		}
		word := strings.ToUpper(before[strings.LastIndexFunc(before, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '(' })+1:])
		inQuotes := strings.Count(before, "'")%2 == 1 || strings.Count(before, `"`)%2 == 1
		if !inQuotes && !strings.ContainsAny(before[len(before)-1:], "=<>(,%+-*/") && !slices.Contains([]string{"LIMIT", "OFFSET", "BETWEEN", "AND", "LIKE", "INTERVAL"}, word) {
			return "", false
		}
		b.WriteString("?")
	}
	return b.String(), true
}
