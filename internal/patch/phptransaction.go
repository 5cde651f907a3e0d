package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

var (
	phpErrorMode = lazyregexp.New(`ATTR_ERRMODE`)
	phpException = lazyregexp.New(`ATTR_ERRMODE\s*(?:=>|,)\s*\\?PDO::ERRMODE_EXCEPTION`)
	phpReport    = lazyregexp.New(`(?i)mysqli_report\s*\(([^)]*)\)`)
)

// throws: a statement that fails throws an exception, whatever the version of PHP is.
func (p *php) throws(api string) bool {
	connections, modes, exceptions, told := 0, 0, 0, false
	for _, f := range p.files {
		src := string(f.src)
		if api == "PDO" {
			connections += len(phpNewPDO.FindAllString(src, -1))
			modes += len(phpErrorMode.FindAllString(src, -1))
			exceptions += len(phpException.FindAllString(src, -1))
			continue
		}
		for _, m := range phpReport.FindAllStringSubmatch(src, -1) {
			if !strings.Contains(m[1], "MYSQLI_REPORT_STRICT") && !strings.Contains(m[1], "MYSQLI_REPORT_ALL") {
				return false
			}
			told = true
		}
	}
	if api == "PDO" {
		return modes == exceptions && connections > 0 && exceptions >= connections
	}
	return told
}

// phpCatches are exceptions that those of a statement are.
var phpCatches = []string{"throwable", "exception", "runtimeexception", "pdoexception", "mysqli_sql_exception"}

// checkTransaction: what a failing statement leaves of the loop is rolled back, and nobody
// looks at what the loop had done by then.
func (w *phpChange) checkTransaction() *Refusal {
	try := w.loop.node.Around(append([]string{"Stmt_TryCatch"}, phpScopes...)...)
	if try.Is("Stmt_TryCatch") {
		if !slices.ContainsFunc(try.List("stmts"), w.loop.node.Within) || !w.rollsBack(try) {
			return refuse("transaction", "what is around the loop in line %d does not roll back when a statement fails", try.Line)
		}
		if !w.begins(w.f, try, w.loop.node) {
			return refuse("transaction", "nothing shows that a transaction of the same connection begins before the loop")
		}
		return w.checkCaught(try)
	}
	if !w.scope.Is("Expr_Closure", "Expr_ArrowFunction") || !w.inRunner() {
		return refuse("transaction", "nothing shows that it runs in a transaction which an error rolls back: rows before one that fails would no longer stay")
	}
	return nil
}

// rollsBack: all that a try catches ends with a rollback.
func (w *phpChange) rollsBack(try *phpNode) bool {
	statements := false
	for _, c := range try.List("catches") {
		if !w.rolls(c.List("stmts")) {
			return false
		}
		for _, t := range c.List("types") {
			statements = statements || slices.Contains(phpCatches, strings.ToLower(last(t.Name())))
		}
	}
	return statements
}

// rolls: one of the statements, or an if of them, is a rollback.
func (w *phpChange) rolls(stmts []*phpNode) bool {
	return slices.ContainsFunc(stmts, func(s *phpNode) bool {
		if s.Is("Stmt_If") && strings.EqualFold(calledNameOf(s.Node("cond")), "inTransaction") {
			return w.rolls(s.List("stmts"))
		}
		return s.Is("Stmt_Expression") && slices.Contains([]string{"rollback", "mysqli_rollback"}, calledNameOf(s.Node("expr")))
	})
}

// begins: in a try or before it, and before one of its nodes, the connection of the
// statement begins a transaction, which nothing between the two ends.
func (w *phpChange) begins(f *file, try, before *phpNode) bool {
	begun := false
	_, list, at := phpStatement(try)
	for _, s := range append(slices.Clone(list[:at]), try.List("stmts")...) {
		if s.From >= before.From {
			break
		}
		if of := w.beginning(s); of != nil {
			begun = w.sameHandle(f, of) && w.rolledOn(f, try, of)
			continue
		}
		s.Walk(func(n *phpNode) bool {
			if n.To <= before.From && slices.Contains([]string{"commit", "rollback", "mysqli_commit", "mysqli_rollback"}, calledNameOf(n)) {
				begun = false
			}
			return true
		})
	}
	return begun
}

// rolledOn: what a try catches is rolled back on the connection that began.
func (w *phpChange) rolledOn(f *file, try, of *phpNode) bool {
	same := true
	for _, c := range try.List("catches") {
		c.Walk(func(n *phpNode) bool {
			if slices.Contains([]string{"rollback", "mysqli_rollback"}, calledNameOf(n)) && f.phpText(objectOf(n)) != f.phpText(of) {
				same = false
			}
			return true
		})
	}
	return same
}

// beginning is the connection on which a statement begins a transaction.
func (w *phpChange) beginning(s *phpNode) *phpNode {
	e := s.Node("expr")
	if s.Is("Stmt_Expression") && slices.Contains([]string{"begintransaction", "begin_transaction", "mysqli_begin_transaction"}, calledNameOf(e)) {
		return objectOf(e)
	}
	return nil
}

// sameHandle: a transaction is one of the connection that the statement is sent on.
func (w *phpChange) sameHandle(f *file, of *phpNode) bool {
	handle, at := w.read.handle, w.f
	if w.read.sender != "" {
		s := w.senderOf(calledName(w.read.sent[0]), !w.read.sent[0].Is("Expr_FuncCall"))
		handle, at = s.handle(), s.fn.f
	}
	if handle == nil || at.phpText(handle) != f.phpText(of) {
		return false
	}
	// A variable is the same only in one function, a property in one class.
	switch {
	case handle.Variable() != "":
		return phpScope(handle) == phpScope(of) || w.captured(handle.Variable(), phpScope(of))
	case handle.Is("Expr_FuncCall"):
		return true
	}
	return handle.Around("Stmt_Class", "Stmt_Trait") == of.Around("Stmt_Class", "Stmt_Trait")
}

// captured: a closure takes a variable of the function around it.
func (w *phpChange) captured(name string, outer *phpNode) bool {
	return w.scope.Is("Expr_Closure") && phpScope(w.scope) == outer && slices.ContainsFunc(w.scope.List("uses"), func(u *phpNode) bool { return u.Node("var").Variable() == name })
}

// handle is the connection that a function which sends any statement sends it on.
func (s *phpSender) handle() (out *phpNode) {
	s.fn.node.Walk(func(n *phpNode) bool {
		if bareName(n) == "prepare" {
			out = objectOf(n)
		}
		return true
	})
	return out
}

// checkCaught: what is done after an error names nothing that the loop changes.
func (w *phpChange) checkCaught(try *phpNode) *Refusal {
	for _, c := range try.List("catches") {
		stmts := c.List("stmts")
		for _, name := range w.changedNames() {
			if name != c.Node("var").Variable() && slices.ContainsFunc(usesOf(w.scope, name), func(u *phpNode) bool { return u.Within(c) }) {
				return refuse("error", "what an error leads to tells $%s, which the loop changes", name)
			}
		}
		end := stmts[len(stmts)-1]
		if !end.Is("Stmt_Throw", "Stmt_Return") && !(end.Is("Stmt_Expression") && end.Node("expr").Is("Expr_Throw", "Expr_Exit")) {
			return refuse("error", "an error does not end the function")
		}
	}
	if try.Node("finally") != nil {
		return refuse("error", "what is done after an error and without one is the same")
	}
	return nil
}

// changedNames are the variables that the loop gives values.
func (w *phpChange) changedNames() []string {
	var out []string
	inScope(w.loop.node, func(n *phpNode) {
		if name := n.Variable(); name != "" && !slices.Contains(out, name) && w.mayChange(n) {
			out = append(out, name)
		}
	})
	return out
}

// inRunner: the closure around the loop is given to a function of the program that calls it
// in a transaction.
func (w *phpChange) inRunner() bool {
	arg := w.scope.Parent
	if !arg.Is("Arg") {
		return false
	}
	call := arg.Parent
	at := slices.Index(call.List("args"), arg)
	if !call.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall") || calledName(call) == "" {
		return false
	}
	own := slices.DeleteFunc(slices.Clone(w.named(calledName(call))), func(fn *phpFunc) bool { return (fn.class == nil) != call.Is("Expr_FuncCall") })
	return len(own) == 1 && at < len(own[0].node.List("params")) && w.runs(own[0], own[0].node.List("params")[at].Node("var").Variable())
}

// runs: a function calls what it is given within a transaction, which an error rolls back.
func (w *phpChange) runs(fn *phpFunc, name string) bool {
	runs := false
	fn.node.Walk(func(n *phpNode) bool {
		if n.Is("Expr_FuncCall") && n.Node("name").Variable() == name {
			try := n.Around(append([]string{"Stmt_TryCatch"}, phpScopes...)...)
			runs = try.Is("Stmt_TryCatch") && slices.ContainsFunc(try.List("stmts"), n.Within) && w.rollsBack(try) && w.begins(fn.f, try, n)
		}
		return true
	})
	return runs
}
