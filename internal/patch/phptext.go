package patch

import (
	"slices"
	"strings"

	"kasoku/internal/phpsyntax"
)

type phpNode = phpsyntax.Node

var (
	phpScopes = []string{"Stmt_Function", "Stmt_ClassMethod", "Expr_Closure", "Expr_ArrowFunction", ""}
	phpLoops  = []string{"Stmt_Foreach", "Stmt_While", "Stmt_For", "Stmt_Do"}
)

// phpScope is the function around a node, or the file.
func phpScope(n *phpNode) *phpNode { return n.Around(phpScopes...) }

// phpStatement is the statement of a list that a node is in, with the list and its place
// there; nil if there is none in its function.
func phpStatement(n *phpNode) (stmt *phpNode, list []*phpNode, at int) {
	for ; n != nil && n.Parent != nil; n = n.Parent {
		list := n.Parent.List("stmts")
		if i := slices.Index(list, n); i >= 0 && !n.Parent.Is("Stmt_Class", "Stmt_Trait", "Stmt_Enum") {
			return n, list, i
		}
		if n.Is(phpScopes...) {
			break
		}
	}
	return nil, nil, 0
}

// inScope calls back for the nodes of a function without those of functions in it.
func inScope(scope *phpNode, visit func(*phpNode)) {
	scope.Walk(func(n *phpNode) bool {
		if n != scope && (n.Is(phpScopes...) || n.Is("Stmt_Class", "Stmt_Trait", "Stmt_Enum", "Stmt_Interface")) {
			if n.Is("Expr_Closure", "Expr_ArrowFunction") {
				visit(n)
			}
			return false
		}
		visit(n)
		return true
	})
}

// usesOf a variable in a function, in the order of the text; closures that take it count.
func usesOf(scope *phpNode, name string) []*phpNode {
	var out []*phpNode
	inScope(scope, func(n *phpNode) {
		switch {
		case n.Variable() == name && !n.Parent.Is("Param"):
			out = append(out, n)
		case n.Is("Expr_ArrowFunction"):
			n.Walk(func(sub *phpNode) bool {
				if sub.Variable() == name {
					out = append(out, sub)
				}
				return true
			})
		case n.Is("Expr_Closure"):
			for _, u := range n.List("uses") {
				if u.Node("var").Variable() == name {
					out = append(out, u)
				}
			}
		}
	})
	return out
}

// assigned is the expression that is assigned to a use of a variable, nil if it is no
// plain assignment.
func phpAssigned(use *phpNode) *phpNode {
	if a := use.Parent; a.Is("Expr_Assign") && a.Node("var") == use {
		return a.Node("expr")
	}
	return nil
}

// mayChange reports a use of a variable that may give it another value.
func (p *php) mayChange(use *phpNode) bool {
	n := use
	for n.Parent.Is("Expr_ArrayDimFetch", "Expr_PropertyFetch") && n.Parent.Node("var") == n {
		n = n.Parent
	}
	in := n.Parent
	switch {
	case in.Is("Expr_Assign") && in.Node("var") == n, in.Is("Expr_AssignRef"):
		return true
	case strings.HasPrefix(in.Kind, "Expr_AssignOp") && in.Node("var") == n:
		return true
	case in.Is("Expr_PreInc", "Expr_PreDec", "Expr_PostInc", "Expr_PostDec", "Stmt_Unset", "Stmt_Global", "Stmt_StaticVar", "Stmt_Catch"):
		return true
	case in.Is("Stmt_Foreach"):
		return in.Node("expr") != n || in.Has("byRef")
	case in.Is("Expr_ArrayItem"):
		return in.Has("byRef") || in.Around("Expr_List") != nil && in.Parent.Is("Expr_List") || in.Parent.Is("Expr_Array") && isTarget(in.Parent)
	case n.Is("Expr_ClosureUse"):
		return n.Has("byRef")
	case in.Is("Arg"):
		return p.takesReference(in.Parent, in)
	}
	return false
}

// isTarget: an array is a list of variables that something is taken apart into.
func isTarget(array *phpNode) bool {
	for array.Parent.Is("Expr_ArrayItem") {
		array = array.Parent.Parent
	}
	p := array.Parent
	return p.Is("Expr_Assign") && p.Node("var") == array || p.Is("Stmt_Foreach") && p.Node("expr") != array
}

// lastGiven is the expression that a variable was given before a node: the nearest plain
// assignment that is a statement around it or before, if nothing between changes the
// variable. nil if it is not known.
func (p *php) lastGiven(scope, at *phpNode, name string) *phpNode {
	stmt, list, i := phpStatement(at)
	for stmt != nil {
		if stmt.Is(phpLoops...) && stmt != at && p.changedIn(stmt, scope, name, nil) {
			return nil
		}
		for j := i - 1; j >= 0; j-- {
			if a := list[j].Node("expr"); list[j].Is("Stmt_Expression") && a.Is("Expr_Assign") && a.Node("var").Variable() == name {
				return a.Node("expr")
			}
			if p.changedIn(list[j], scope, name, nil) {
				return nil
			}
		}
		if stmt.Parent.Is(phpScopes...) {
			return nil
		}
		stmt, list, i = phpStatement(stmt.Parent)
	}
	return nil
}

// changedIn reports a change of a variable below a node, but for those within leave.
func (p *php) changedIn(n, scope *phpNode, name string, leave []*phpNode) bool {
	for _, use := range usesOf(scope, name) {
		if use.Within(n) && p.mayChange(use) && !slices.ContainsFunc(leave, use.Within) {
			return true
		}
	}
	return false
}

// changesIn are the uses of a variable below a node that may change it.
func (p *php) changesIn(n, scope *phpNode, name string) []*phpNode {
	return slices.DeleteFunc(usesOf(scope, name), func(use *phpNode) bool { return !use.Within(n) || !p.mayChange(use) })
}

// piece of a text that a program puts together.
type piece struct {
	text string
	hole *phpNode // nil: it is text
}

// pieces of the text that an expression gives.
func (p *php) pieces(e *phpNode) []piece {
	var out []piece
	add := func(one piece) {
		if n := len(out); one.hole == nil && n > 0 && out[n-1].hole == nil {
			out[n-1].text += one.text
			return
		}
		out = append(out, one)
	}
	var walk func(e *phpNode, depth int)
	walk = func(e *phpNode, depth int) {
		switch {
		case e.Is("Scalar_String", "Scalar_EncapsedStringPart"):
			add(piece{text: e.Text("value")})
		case e.Is("Scalar_Encapsed"):
			for _, part := range e.List("parts") {
				walk(part, depth)
			}
		case e.Is("Expr_BinaryOp_Concat"):
			walk(e.Node("left"), depth)
			walk(e.Node("right"), depth)
		case e.Variable() != "" && depth < 3:
			if given := p.lastGiven(phpScope(e), e, e.Variable()); given.Is("Scalar_String", "Scalar_Encapsed", "Expr_BinaryOp_Concat") {
				walk(given, depth+1)
				return
			}
			add(piece{hole: e})
		default:
			add(piece{hole: e})
		}
	}
	walk(e, 0)
	return out
}

// positional is a statement with `?` in the place of named parameters, with their names in
// order; false where both kinds are there, or its strings have no end.
func positional(text string) (string, []string, bool) {
	ws, ok := words(text)
	if !ok {
		return text, nil, false
	}
	var names []string
	var b strings.Builder
	from, marks := 0, 0
	for i, w := range ws {
		if w.is("?") {
			marks++
		}
		if w.is(":") && i+1 < len(ws) && ws[i+1].from == w.to && !ws[i+1].quoted && isWordByte(ws[i+1].text[0]) {
			b.WriteString(text[from:w.from] + "?")
			from = ws[i+1].to
			names = append(names, ws[i+1].text)
		}
	}
	b.WriteString(text[from:])
	return b.String(), names, len(names) == 0 || marks == 0
}

// phpQuote writes a text as PHP does.
func phpQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
