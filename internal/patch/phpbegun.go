package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// checkBegun: a transaction ends in the function that begins it, whatever happens, and nothing
// between the two opens a connection, which would be in it now.
func (o *phpOpened) checkBegun(f *file, begin *phpNode) *Refusal {
	no := func(what string) *Refusal {
		return refuse("session", "the transaction in line %d of %s %s", begin.Line, f.rel, what)
	}
	stmt, list, at := phpStatement(begin)
	if stmt == nil || stmt.Node("expr") != begin || !o.oneHandle(f, objectOf(begin)) {
		return no("is begun within another expression, or on a variable that has several connections")
	}
	try, inside := stmt.Parent, list[at+1:]
	if !try.Is("Stmt_TryCatch") && at+1 < len(list) {
		try, inside = list[at+1], list[at+1].List("stmts")
	}
	if !try.Is("Stmt_TryCatch") || !(&phpChange{}).rollsBack(try) || !o.catchesAll(try) {
		return no("may stay open: what goes wrong does not roll it back in any case")
	}
	if !(&phpChange{}).rolledOn(f, try, objectOf(begin)) || len(o.keepers()) > 0 {
		return no("is rolled back on another connection, or one is kept for something else")
	}
	for _, c := range try.List("catches") {
		if why := o.checkRolled(f, c, no); why != nil {
			return why
		}
	}
	return o.checkInside(f, inside, objectOf(begin), no)
}

// checkRolled: nothing is asked between an error and the rollback.
func (o *phpOpened) checkRolled(f *file, c *phpNode, no func(string) *Refusal) *Refusal {
	first := c.List("stmts")[0]
	if !(&phpChange{}).rolls([]*phpNode{first}) {
		return no("is not rolled back by the first statement of what follows an error")
	}
	return nil
}

// checkInside: what stands in the transaction opens no connection, and does not end before the
// commit.
func (o *phpOpened) checkInside(f *file, inside []*phpNode, handle *phpNode, no func(string) *Refusal) *Refusal {
	for _, s := range inside {
		if e := s.Node("expr"); s.Is("Stmt_Expression") && bareName(e) == "commit" && f.phpText(objectOf(e)) == f.phpText(handle) {
			return nil
		}
		if why := o.checkTurn(f, s, handle, no); why != nil {
			return why
		}
	}
	return no("is not committed where it is begun")
}

// checkTurn is checkInside of one statement.
func (o *phpOpened) checkTurn(f *file, s, handle *phpNode, no func(string) *Refusal) *Refusal {
	leaves, gives, others := false, false, false
	inScope(s, func(n *phpNode) {
		leaves = leaves || n.Is("Stmt_Return", "Stmt_Goto", "Expr_Yield", "Expr_YieldFrom", "Expr_Exit") || n.Is("Stmt_Break", "Stmt_Continue") && !loopAround(n).Within(s)
		gives = gives || slices.Contains([]string{"commit", "rollback"}, bareName(n))
		others = others || sendsStatement(n) && !o.sendsOn(f, n, handle) && !(bareName(n) == "prepare" && f.phpText(objectOf(n)) == f.phpText(handle))
	})
	does := o.effects(f, s)
	switch {
	case leaves:
		return no("may stay open: the function may end before the commit")
	case gives:
		return no("may be committed in one of several places")
	case slices.ContainsFunc(o.all, func(other *phpOpened) bool { return does.seen[other.fn.node] }):
		return no("has something in it that opens a connection of its own, which saw no more than what is committed")
	case does.unknown != "":
		return no("has something in it that may ask on another connection: " + does.unknown)
	case others:
		return no("has a statement in it that may be sent on another connection")
	}
	for fn := range does.seen {
		inScope(fn, func(n *phpNode) { others = others || sendsStatement(n) || n.Is("Expr_Exit") })
		if others {
			return no("has a call of " + fn.Name() + " in it, which may ask on another connection, or end")
		}
	}
	return nil
}

// sendsStatement reports a call that looks as if it sent a statement, or prepared one.
func sendsStatement(n *phpNode) bool {
	_, sends := phpSends[calledName(n)]
	return n.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_NullsafeMethodCall", "Expr_StaticCall") && (sends || slices.Contains([]string{"execute", "mysqli_execute", "mysqli_stmt_execute"}, calledName(n)))
}

// oneHandle: a variable of the function is given no more than one connection, a property none.
func (o *phpOpened) oneHandle(f *file, e *phpNode) bool {
	scope, given := phpScope(e), 0
	if name := e.Variable(); name != "" {
		for _, use := range usesOf(scope, name) {
			if o.mayChange(use) && !isNullPHP(phpAssigned(use)) {
				given++
			}
		}
		for _, p := range scope.List("params") {
			if p.Node("var").Variable() == name {
				given++
			}
		}
		return given <= 1
	}
	inScope(scope, func(n *phpNode) {
		if n.Is("Expr_Assign", "Expr_AssignRef", "Expr_AssignOp_Coalesce") && f.phpText(n.Node("var")) == f.phpText(e) {
			given++
		}
	})
	return given == 0 && e.Is("Expr_PropertyFetch") && e.Node("var").Variable() == "this"
}

var (
	phpCatchesErrors = lazyregexp.New(`(?i)catch\s*\([^)]*\b(Throwable|\w*Error)\b|\bset_exception_handler\b|\bregister_shutdown_function\b|\bfinally\b|\b__destruct\b`)
	phpNeverCaught   = []string{"exception", "throwable"}
)

// catchesAll: a try catches everything; or all but what ends the request, which rolls back.
func (o *phpOpened) catchesAll(try *phpNode) bool {
	caught := ""
	for _, c := range try.List("catches") {
		for _, t := range c.List("types") {
			if name := strings.ToLower(last(t.Name())); slices.Contains(phpNeverCaught, name) && caught != "throwable" {
				caught = name
			}
		}
	}
	elsewhere := slices.ContainsFunc(o.files, func(f *file) bool { return phpCatchesErrors.MatchString(string(f.src)) })
	return caught == "throwable" || caught == "exception" && !elsewhere && !o.vendored
}

// keepers are static variables that hold a connection which was opened for them alone.
func (o *phpOpened) keepers() []*phpNode {
	return o.callsOf(func(call *phpNode) bool {
		a := call.Parent
		v := a.Node("var").Variable()
		return a.Is("Expr_Assign", "Expr_AssignOp_Coalesce") && v != "" && slices.ContainsFunc(usesOf(phpScope(call), v), func(u *phpNode) bool { return u.Parent.Is("Stmt_StaticVar") })
	})
}

// callsOf the function that are so.
func (o *phpOpened) callsOf(is func(call *phpNode) bool) []*phpNode {
	var out []*phpNode
	for _, f := range o.holding(o.fn.node.Name()) {
		f.php.tree.Walk(func(n *phpNode) bool {
			if (&phpVia{fn: o.fn}).isCall(n) && is(n) {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// checkLent: code of libraries, of which is not known what it does, is given no connection.
func (o *phpOpened) checkLent() *Refusal {
	if !o.vendored {
		return nil
	}
	if lent := o.callsOf(o.lent); len(lent) > 0 {
		return refuse("calls", "the connection that line %d opens may be given to a library", lent[0].Line)
	}
	return nil
}

// lent: what a call opens may come to a library.
func (o *phpOpened) lent(call *phpNode) bool {
	if phpScope(call).Is("Expr_Closure", "Expr_ArrowFunction") && call.Parent.Is("Stmt_Return", "Expr_ArrowFunction") {
		return true
	}
	if call.Parent.Is("Arg") {
		return !o.knows(call.Parent.Parent)
	}
	v := call.Parent.Node("var").Variable()
	if !call.Parent.Is("Expr_Assign") || v == "" {
		return false
	}
	return slices.ContainsFunc(usesOf(phpScope(call), v), func(use *phpNode) bool {
		return use.Is("Expr_ClosureUse") || use.Parent.Is("Expr_ClosureUse") || use.Parent.Is("Arg") && !o.knows(use.Parent.Parent)
	})
}

// knows: a call is one of the program's functions, or of mysqli.
func (o *phpOpened) knows(call *phpNode) bool {
	name := calledName(call)
	return strings.HasPrefix(name, "mysqli_") || name != "" && len(o.named(name)) > 0
}
