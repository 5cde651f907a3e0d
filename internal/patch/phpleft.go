package patch

import (
	"slices"

	"kasoku/internal/lazyregexp"
)

// checkLeft: nothing looks later at what the read leaves.
func (w *phpWriter) checkLeft() *Refusal {
	if asks := asksForLast(w.scope); asks != nil {
		return refuse("left", "line %d asks what the last statement found", asks.Line)
	}
	if w.via != nil {
		return nil
	}
	if by := namesVariables(w.scope); by != "" && len(w.read.vars) > 0 {
		return refuse("left", "%s() may look at the statement", by)
	}
	for _, name := range w.read.vars {
		if why := w.leaves(name); why != nil {
			return why
		}
	}
	return nil
}

// asksForLast is a text in a function that asks how many rows the statement before it found.
func asksForLast(scope *phpNode) (asks *phpNode) {
	inScope(scope, func(n *phpNode) {
		if n.Is("Scalar_String", "Scalar_EncapsedStringPart") && phpLastFound.MatchString(n.Text("value")) {
			asks = n
		}
	})
	return asks
}

var phpLastFound = lazyregexp.New(`(?i)\b(FOUND_ROWS|ROW_COUNT)\s*\(`)

// leaves refuses a variable of the read that something else looks at.
func (w *phpWriter) leaves(name string) *Refusal {
	last := w.read.region[len(w.read.region)-1]
	for _, use := range usesOf(w.scope, name) {
		if use.Within(last) && !use.Within(w.read.fetch) && phpAssigned(use) == nil {
			return refuse("left", "$%s is used beside the read", name)
		}
	}
	for _, use := range w.usesAfter(w.scope, name, last) {
		if !slices.ContainsFunc(w.read.region, use.Within) && !w.closesLater(use) {
			return refuse("left", "$%s is used behind the read", name)
		}
	}
	if w.scope.Kind == "" && w.seenElsewhere(w.f, name) {
		return refuse("left", "$%s may be used by another file", name)
	}
	return nil
}

// namesVariables is a function that a function calls, which looks at its variables by name.
func namesVariables(scope *phpNode) (by string) {
	inScope(scope, func(n *phpNode) {
		if name := calledNameOf(n); slices.Contains([]string{"compact", "extract", "get_defined_vars", "parse_str"}, name) {
			by = name
		}
	})
	return by
}

// closesLater: a use sends the statement again, and does not look at what it gave.
func (w *phpWriter) closesLater(use *phpNode) bool {
	if slices.ContainsFunc(w.read.region, w.read.sent[0].Within) {
		return false // and without it there may be none
	}
	in := use.Parent
	if in.Is("Arg") {
		in = in.Parent
	}
	return in.Is("Expr_MethodCall", "Expr_FuncCall") && slices.Contains([]string{"execute", "bindvalue", "bind_param", "close", "closecursor"}, bareName(in))
}
