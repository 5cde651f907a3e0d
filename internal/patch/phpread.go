package patch

import (
	"slices"
	"strings"
)

// phpRead is a read of one row, or of a list of them, as the statements of it stand in a list.
type phpRead struct {
	f *file
	// fetch gives the row; region are the statements from the first of the read to the one
	// that fetch is in, which are only the read but for what stands around fetch.
	fetch  *phpNode
	region []*phpNode

	api      string // "PDO", "mysqli"
	mode     string // "ASSOC", "NUM", "BOTH", "OBJ", "COLUMN"
	handle   *phpNode
	prepared bool     // not: the values stand in the text
	source   *phpNode // the expression of its text
	text     string   // with ? for values
	args     []*phpNode
	types    string     // of mysqli, a letter for each
	quote    string     // around the value in the text, where it is not prepared
	sent     []*phpNode // the calls that send it
	vars     []string   // that hold statement and result
	sender   string     // the function of the program that sends it; "": the connection does
	null     bool       // null where there is no row
	// numbers are values that are bound as such.
	numbers []*phpNode
	sql     *read
	list    bool     // it gives all rows
	each    *phpNode // of a list: the loop that goes over what fetch gives; nil: it is an expression
	branch  *branch  // of a list
	number  string   // of a list: the column with the key
	key     equality
	keyArg  *phpNode
}

// phpFetches are the calls that give one row.
var phpFetches = map[string]string{"fetch": "PDO", "fetchcolumn": "PDO", "fetch_assoc": "mysqli", "fetch_row": "mysqli", "fetch_array": "mysqli", "fetch_column": "mysqli", "fetchobject": "PDO", "fetch_object": "mysqli",
	"mysqli_fetch_assoc": "mysqli", "mysqli_fetch_row": "mysqli", "mysqli_fetch_array": "mysqli", "mysqli_fetch_object": "mysqli"}

// isFetch reports a call that looks as if it gave a row.
func isFetch(n *phpNode) bool {
	api := phpFetches[calledNameOf(n)]
	return api != "" && (n.Is("Expr_FuncCall") == strings.HasPrefix(calledNameOf(n), "mysqli_"))
}

func calledNameOf(n *phpNode) string {
	if n.Is("Expr_FuncCall", "Expr_MethodCall") {
		return calledName(n)
	}
	return ""
}

// readOf understands the read that ends with a fetch. The reason says what it does not; nil
// and nil: it is none.
func (p *php) readOf(f *file, fetch *phpNode) (*phpRead, *Refusal) {
	return p.readInto(&phpRead{f: f, fetch: fetch, api: fetchAPI(fetch), list: isListFetch(fetch), each: overList(fetch)})
}

// readInto understands the read whose fetch is known.
func (p *php) readInto(r *phpRead) (*phpRead, *Refusal) {
	stmt, list, at := phpStatement(r.fetch)
	if stmt == nil {
		return nil, nil
	}
	r.region = []*phpNode{stmt}
	why := p.statementsOf(r, list, at)
	if r.source == nil {
		if why == nil {
			return nil, nil
		}
		return r, why
	}
	if r.api == "" {
		r.api = p.handleType(r.f, r.handle, 0) // of a statement that a loop goes over
	}
	if why == nil {
		why = p.understand(r)
	} else if len(r.args) == 0 && why.Need == "key" {
		return nil, nil // nothing that changes
	}
	return r, why
}

// objectOf is what a method is called of, or a function of mysqli is given first.
func objectOf(call *phpNode) *phpNode {
	if call.Is("Expr_MethodCall") {
		return call.Node("var")
	}
	if args, ok := call.Args(); ok && len(args) > 0 {
		return args[0]
	}
	return nil
}

// bareName is the name of a call of mysqli, as its method is called.
func bareName(call *phpNode) string {
	name := calledNameOf(call)
	if !call.Is("Expr_FuncCall") {
		return name
	}
	name, of := strings.CutPrefix(name, "mysqli_")
	if !of {
		return ""
	}
	return strings.TrimPrefix(name, "stmt_")
}

// ownArgs are the arguments of a call without the object that a function is given.
func ownArgs(call *phpNode) ([]*phpNode, bool) {
	args, ok := call.Args()
	if ok && call.Is("Expr_FuncCall") && len(args) > 0 {
		args = args[1:]
	}
	return args, ok
}

// statementsOf finds the statements of the read: backwards from the fetch.
func (p *php) statementsOf(r *phpRead, list []*phpNode, at int) *Refusal {
	binding := &bindings{}
	from := objectOf(r.fetch)
	if r.ofStatement() {
		from = r.fetch
	}
	head, why := r.head(from, binding)
	for i := at - 1; head == nil && why == nil && i >= 0; i-- {
		part := list[i].Node("expr")
		if !list[i].Is("Stmt_Expression") {
			break
		}
		var took bool
		if took, head, why = r.part(part, binding); !took {
			break
		}
		r.region = slices.Insert(r.region, 0, list[i])
	}
	if why != nil {
		return why
	}
	if head == nil {
		head = p.prepared(r, binding)
	}
	if head == nil {
		return nil
	}
	return r.begin(head, binding)
}

// head is the call that an expression begins with: prepare or query.
func (r *phpRead) head(e *phpNode, b *bindings) (*phpNode, *Refusal) {
	switch {
	case e.Variable() != "":
		if !slices.Contains(r.vars, e.Variable()) {
			r.vars = append(r.vars, e.Variable())
		}
		return nil, nil
	case bareName(e) == "get_result":
		b.result = true
		return r.head(objectOf(e), b)
	case bareName(e) == "query", bareName(e) == "prepare" && b.executed:
		return e, nil
	}
	return nil, nil
}

// part takes one statement of the read; took is false if it is none.
func (r *phpRead) part(e *phpNode, b *bindings) (took bool, head *phpNode, why *Refusal) {
	if e.Is("Expr_Assign") {
		name, given := e.Node("var").Variable(), e.Node("expr")
		if !slices.Contains(r.vars, name) {
			return false, nil, nil
		}
		switch bareName(given) {
		case "prepare", "query":
			return true, given, nil
		case "get_result":
			b.result = true
			head, why = r.head(objectOf(given), b)
			return true, head, why
		}
		return false, nil, nil
	}
	if of := objectOf(e); !e.Is("Expr_MethodCall", "Expr_FuncCall") || !slices.Contains(r.vars, of.Variable()) {
		return false, nil, nil
	}
	args, plain := ownArgs(e)
	if !plain {
		return true, nil, refuse("statement", "what its placeholders are given is not known one by one")
	}
	switch bareName(e) {
	case "execute":
		if b.executed {
			return false, nil, nil
		}
		b.executed, b.pending = true, e
		return true, nil, b.given(args)
	case "bindvalue", "bindparam":
		return true, nil, b.value(args)
	case "bind_param":
		if len(args) < 2 || b.list != nil {
			return true, nil, refuse("statement", "what its placeholders are given is not known one by one")
		}
		return true, nil, b.typed(args)
	}
	return false, nil, nil
}

// prepared finds the statement that was prepared before the loop, and what was bound there.
func (p *php) prepared(r *phpRead, b *bindings) *phpNode {
	if !b.executed || len(r.vars) == 0 {
		return nil
	}
	name := r.vars[len(r.vars)-1]
	given := p.lastGiven(phpScope(r.fetch), r.region[0], name)
	if bareName(given) != "prepare" {
		return nil
	}
	if b.list == nil && b.named == nil {
		p.boundBefore(r, given, b, name)
	}
	return given
}

// boundBefore takes what was bound once, between prepare and the loop.
func (p *php) boundBefore(r *phpRead, given *phpNode, b *bindings, name string) {
	binds := 0
	for _, use := range usesOf(phpScope(given), name) {
		if c := use.Parent; c.Is("Expr_MethodCall") && calledName(c) == "bind_param" {
			binds++
		}
	}
	_, list, at := phpStatement(given)
	if binds != 1 {
		return
	}
	for _, stmt := range list[at+1:] {
		e := stmt.Node("expr")
		if !stmt.Is("Stmt_Expression") || objectOf(e).Variable() != name {
			continue
		}
		if args, plain := ownArgs(e); plain && bareName(e) == "bind_param" && len(args) > 1 && stmt.To <= r.region[0].From {
			_ = b.typed(args)
		}
	}
}

// begin takes the call that the read begins with.
func (r *phpRead) begin(head *phpNode, b *bindings) *Refusal {
	args, plain := ownArgs(head)
	if !plain || len(args) == 0 {
		return refuse("statement", "its text is not the only argument of %s", bareName(head))
	}
	r.numbers = b.numbers
	r.handle, r.source, r.prepared = objectOf(head), args[0], bareName(head) == "prepare"
	r.sent = []*phpNode{head}
	if b.pending != nil {
		r.sent = append(r.sent, b.pending)
	}
	switch {
	case len(args) > 1:
		return refuse("statement", "%s has more arguments than its text", bareName(head))
	case r.prepared != b.executed:
		return refuse("statement", "it is not prepared and executed once")
	case r.prepared && r.api == "mysqli" && !b.result:
		return refuse("statement", "its rows are not those of get_result")
	}
	return r.placed(b)
}

// placed puts what was bound into the order of the placeholders.
func (r *phpRead) placed(b *bindings) *Refusal {
	ps := r.f.program.php.pieces(r.source)
	if !r.prepared {
		return r.inText(ps)
	}
	if len(ps) != 1 || ps[0].hole != nil {
		r.text, _ = withValues(ps)
		return refuse("constant", "its text is no constant")
	}
	text, names, ok := positional(ps[0].text)
	r.text = text
	if !ok {
		return refuse("statement", "it has placeholders of both kinds, a comment, or a string without end")
	}
	ws, _ := words(text)
	marks := 0
	for _, w := range ws {
		if w.is("?") {
			marks++
		}
	}
	if b.list != nil && len(names) == 0 && b.named == nil {
		r.args, r.types = b.list, b.types
	} else {
		for i := range marks {
			name := phpNumber(i + 1)
			if len(names) > 0 {
				name = names[i]
			}
			r.args = append(r.args, b.named[name])
		}
	}
	if marks == 0 {
		return refuse("key", "it is given no value")
	}
	if len(r.args) != marks || slices.Contains(r.args, nil) {
		return refuse("statement", "its placeholders and values do not go together one by one")
	}
	return nil
}

// inText takes the one value that stands in the text.
func (r *phpRead) inText(ps []piece) *Refusal {
	var b strings.Builder
	for i, p := range ps {
		if p.hole == nil {
			b.WriteString(p.text)
			continue
		}
		r.args = append(r.args, unescaped(p.hole))
		if i > 0 && i+1 < len(ps) && ps[i-1].hole == nil && ps[i+1].hole == nil {
			before, after := ps[i-1].text, ps[i+1].text
			if q := before[len(before)-1:]; (q == "'" || q == `"`) && strings.HasPrefix(after, q) {
				r.quote = q
			}
		}
		b.WriteString("?")
	}
	r.text = b.String()
	if len(r.args) == 0 {
		return refuse("key", "it is given no value")
	}
	if len(r.args) != 1 {
		return refuse("constant", "its text is no constant with one value in it")
	}
	if r.quote != "" {
		r.text = strings.Replace(r.text, r.quote+"?"+r.quote, "?", 1)
	}
	if ws, ok := words(r.text); !ok || len(ws) == 0 || strings.Count(r.text, "?") != 1 {
		return refuse("constant", "its text is no constant with one value in it")
	}
	return nil
}

// unescaped is what an escaping function is given: an integer is the same afterwards.
func unescaped(e *phpNode) *phpNode {
	switch bareName(e) {
	case "real_escape_string", "escape_string":
		if args, ok := ownArgs(e); ok && len(args) == 1 {
			return args[0]
		}
	}
	return e
}
