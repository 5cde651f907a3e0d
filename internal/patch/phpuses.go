package patch

import (
	"path"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// usesAfter are the uses of a variable that may see the value which it has behind a node:
// those behind it, and those before it in a loop around both, that no other value has come
// before.
func (p *php) usesAfter(scope *phpNode, name string, n *phpNode) []*phpNode {
	var out []*phpNode
	outer := n.Around(append(phpLoops, phpScopes...)...)
	for outer.Is(phpLoops...) {
		next := outer.Around(append(phpLoops, phpScopes...)...)
		if !next.Is(phpLoops...) {
			break
		}
		outer = next
	}
	uses := usesOf(scope, name)
	for _, use := range uses {
		after := use.From >= n.To
		again := outer.Is(phpLoops...) && use.Within(outer) && use.To <= n.From
		if !after && !again {
			continue
		}
		from := n.To
		if again {
			from = outer.From
		}
		if !slices.ContainsFunc(uses, func(by *phpNode) bool { return by.From >= from && renews(by, use) }) {
			out = append(out, use)
		}
	}
	return out
}

// renews: where a use stands, the variable has always the value that another use gave it.
func renews(by, use *phpNode) bool {
	if by.From > use.From {
		return false
	}
	if loop := by.Parent; loop.Is("Stmt_Foreach") && loop.Node("expr") != by {
		return use.Within(loop)
	}
	given := phpAssigned(by)
	if given == nil || use.Within(given) {
		return false
	}
	if loop := by.Around("Stmt_While"); loop != nil && by.Within(loop.Node("cond")) {
		return use.Within(loop)
	}
	stmt, list, i := phpStatement(by)
	if stmt == nil || stmt.Node("expr") != by.Parent && use != by {
		return false
	}
	return use == by || slices.ContainsFunc(list[i+1:], use.Within)
}

// closes: a use only ends what a variable stands for, or begins it anew.
func closes(use *phpNode) bool {
	in := use.Parent
	if in.Is("Arg") {
		in = in.Parent
	}
	if in.Is("Stmt_Unset") {
		return true
	}
	return in.Is("Expr_MethodCall", "Expr_FuncCall") && slices.Contains([]string{"close", "closecursor", "free", "free_result", "execute", "rowcount", "num_rows"}, bareName(in)) || in.Is("Expr_PropertyFetch") && in.Name() == "num_rows"
}

// seenElsewhere reports a variable of no function that a file which includes this one, or
// that it includes, may read.
func (p *php) seenElsewhere(f *file, name string) bool {
	if strings.Contains(string(f.src), "include") || strings.Contains(string(f.src), "require") {
		included := false
		f.php.tree.Walk(func(n *phpNode) bool {
			included = included || n.Is("Expr_Include") && !headInclude(f, n)
			return true
		})
		if included {
			return true
		}
	}
	for _, other := range p.files {
		for _, m := range phpGlobals.FindAllString(string(other.src), -1) {
			if strings.Contains(m+" ", "$"+name) {
				return true
			}
		}
		if src := string(other.src); other != f && strings.Contains(src, path.Base(f.rel)) && strings.Contains(src, "$"+name) {
			return true
		}
	}
	return false
}

var phpGlobals = lazyregexp.New(`(?i)\bglobal\s[^;]*|\$GLOBALS\b`)

// headInclude: a file is included before the first loop of another.
func headInclude(f *file, include *phpNode) bool {
	first := len(f.src)
	f.php.tree.Walk(func(n *phpNode) bool {
		if n.Is(phpLoops...) {
			first = min(first, n.From)
		}
		return true
	})
	return include.To < first
}
