package patch

import (
	"fmt"
	"slices"
	"strings"
)

// phpSender is a function of the program that sends any statement: it gets its text and
// what its placeholders are given.
type phpSender struct {
	fn   *phpFunc
	row  bool     // it gives the first row, or all; not: the statement
	list bool     // row: it gives all
	call *phpNode // row: the call of the function that gives the statement
	mode string
	null bool // row: null where there is none
}

// senderOf is what the one function or method of a name does, nil if it sends nothing.
func (p *php) senderOf(name string, method bool) *phpSender {
	key := fmt.Sprintf("%t %s", method, strings.ToLower(name))
	if s, done := p.senders[key]; done {
		return s
	}
	if p.senders == nil {
		p.senders = map[string]*phpSender{}
	}
	p.senders[key] = nil
	p.senders[key] = p.findSender(name, method)
	return p.senders[key]
}

func (p *php) findSender(name string, method bool) *phpSender {
	var own []*phpFunc
	for _, fn := range p.named(name) {
		if (fn.class != nil) == method {
			own = append(own, fn)
		}
	}
	if len(own) != 1 || len(own[0].node.List("params")) != 2 || own[0].node.Has("byRef") {
		return nil
	}
	fn := own[0]
	for _, param := range fn.node.List("params") {
		if param.Has("byRef") || param.Has("variadic") {
			return nil
		}
	}
	if p.sendsAny(fn) {
		return &phpSender{fn: fn}
	}
	return p.givesRow(fn)
}

// sendsText: the function or method does nothing but send the text that it is given.
func (p *php) sendsText(name string, method bool) bool {
	return len(p.named(name)) == 1 && p.senderOf(name, method) != nil
}

// passes: a call is given the two parameters of a function as they are.
func passes(args []*phpNode, fn *phpNode) bool {
	params := fn.List("params")
	if len(args) != len(params) {
		return false
	}
	for i, a := range args {
		if a.Variable() == "" || a.Variable() != params[i].Node("var").Variable() {
			return false
		}
	}
	return true
}

// sendsAny: `$s = H->prepare($sql); $s->execute($params); return $s;`
func (p *php) sendsAny(fn *phpFunc) bool {
	body := fn.node.List("stmts")
	if len(body) == 4 && (body[0].Is("Stmt_Global") || p.handleType(fn.f, body[0].Node("expr"), 0) != "") {
		body = body[1:]
	}
	if len(body) != 3 || !body[2].Is("Stmt_Return") {
		return false
	}
	given, run := body[0].Node("expr"), body[1].Node("expr")
	name := given.Node("var").Variable()
	prepare := given.Node("expr")
	if !given.Is("Expr_Assign") || name == "" || bareName(prepare) != "prepare" || bareName(run) != "execute" || objectOf(run).Variable() != name || body[2].Node("expr").Variable() != name {
		return false
	}
	text, ok1 := prepare.Args()
	values, ok2 := run.Args()
	return ok1 && ok2 && passes(append(slices.Clone(text), values...), fn.node) && p.handleType(fn.f, objectOf(prepare), 0) == "PDO"
}

// givesRow: `return query($sql, $params)->fetch() ?: null;`
func (p *php) givesRow(fn *phpFunc) *phpSender {
	body := fn.node.List("stmts")
	if len(body) != 1 || !body[0].Is("Stmt_Return") {
		return nil
	}
	fetch := body[0].Node("expr")
	s := &phpSender{fn: fn, row: true}
	if fetch.Is("Expr_Ternary") {
		s.null = true
		fetch = fetch.Node("cond")
		if !orNull(body[0].Node("expr"), func(e *phpNode) bool { return e == fetch }) {
			return nil
		}
	}
	s.list = isListFetch(fetch)
	if !isFetch(fetch) && !s.list || s.list && s.null || fetchAPI(fetch) != "PDO" {
		return nil
	}
	s.call = objectOf(fetch)
	r := &phpRead{f: fn.f, fetch: fetch, api: "PDO"}
	args, plain := s.call.Args()
	if !plain || !s.call.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") || !passes(args, fn.node) || p.modeOf(r) != nil || s.null && r.mode == "COLUMN" {
		return nil
	}
	s.mode = r.mode
	if of := p.senderOf(calledName(s.call), !s.call.Is("Expr_FuncCall")); of == nil || of.row || of.fn.f != fn.f {
		return nil
	}
	return s
}

// sentRead understands a call that sends a constant text by a function of the program and
// takes the first row; nil if it is none.
func (p *php) sentRead(f *file, n *phpNode) (*phpRead, *Refusal) {
	call := n
	fetched := isFetch(n) || isListFetch(n)
	if fetched {
		call = objectOf(n)
	}
	if !call.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") || calledName(call) == "" {
		return nil, nil
	}
	s := p.senderOf(calledName(call), !call.Is("Expr_FuncCall"))
	if s == nil || s.row == fetched {
		return nil, nil
	}
	stmt, _, _ := phpStatement(n)
	args, plain := call.Args()
	if stmt == nil || !plain || len(args) != 2 {
		return nil, nil
	}
	r := &phpRead{f: f, fetch: n, region: []*phpNode{stmt}, api: "PDO", mode: s.mode, prepared: true, source: args[0], sent: []*phpNode{call}, null: s.null, list: s.list || isListFetch(n)}
	b := &bindings{executed: true}
	if why := b.given(args[1:]); why != nil {
		return r, why
	}
	if why := r.placed(b); why != nil {
		if len(r.args) == 0 && why.Need == "key" {
			return nil, nil // it is given none
		}
		return r, why
	}
	if fetched {
		if why := p.modeOf(r); why != nil {
			return r, why
		}
	}
	var why *Refusal
	if r.sender, why = p.senderText(f, call, s); why != nil {
		return r, why
	}
	return r, p.readable(r)
}

// senderText is how the function that gives the statement is called where a row is read.
func (p *php) senderText(f *file, call *phpNode, s *phpSender) (string, *Refusal) {
	namespaced := slices.ContainsFunc([]*file{f, s.fn.f}, func(f *file) bool { return strings.HasPrefix(f.class(""), `\`) })
	switch {
	case s.fn.class != nil && p.vendored && !ofOwnClass(call):
		return "", refuse("function", "%s may be that of a library", s.fn.node.Name())
	case s.fn.class == nil && s.row && namespaced:
		return "", refuse("function", "%s is of a namespace", s.fn.node.Name())
	}
	head := string(f.src[call.From:call.Node("name").From])
	if !s.row {
		return head + f.phpText(call.Node("name")), nil
	}
	if s.call.Is("Expr_FuncCall") {
		return s.call.Node("name").Name(), nil
	}
	private := slices.ContainsFunc(p.named(calledName(s.call)), func(fn *phpFunc) bool { return fn.class != nil && fn.node.Int("flags")&6 != 0 })
	if s.fn.class == nil || s.call.Is("Expr_MethodCall") != call.Is("Expr_MethodCall") || !ofOwnClass(s.call) || private && !ofOwnClass(call) {
		return "", refuse("function", "%s reads by %s, which is not seen here", s.fn.node.Name(), calledName(s.call))
	}
	return head + s.fn.f.phpText(s.call.Node("name")), nil
}
