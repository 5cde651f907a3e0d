package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// phpSessionText is SQL that leaves something on a connection, or asks for what was left there.
var phpSessionText = lazyregexp.New(`(?i)^\s*SET\s+(@|SESSION\b|LOCAL\b|NAMES\b|CHARACTER\b|CHARSET\b|TRANSACTION\b|ROLE\b|STATEMENT\b|\w+\s*=|$)|^\s*USE\s+[\w` + "`" + `]+\s*;?\s*$` +
	`|\bTEMPORARY\s+TABLE\b|\b(GET|RELEASE)_(LOCK|ALL_LOCKS)\s*\(|\b(UN)?LOCK\s+TABLES?\b` +
	`|^\s*(START\s+TRANSACTION|BEGIN(\s+WORK)?\s*;?\s*$|COMMIT\s*;?\s*$|ROLLBACK\b|SAVEPOINT\s|XA\s+\w|HANDLER\s+\w+\s|PREPARE\s+\w+\s+FROM|EXECUTE\s+\w+|DEALLOCATE\s|CALL\s+\w|FLUSH\s)` +
	`|\bLAST_INSERT_ID\s*\(|\b(FOUND_ROWS|ROW_COUNT|CONNECTION_ID)\s*\(|SQL_CALC_FOUND_ROWS|\bSHOW\s+(SESSION|LOCAL|STATUS|WARNINGS|ERRORS|PROFILES?|COUNT)\b` +
	`|^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\b[^@]*@|;\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|SET|CREATE|DROP|ALTER|TRUNCATE)\b`)

// phpSessionCalls leave something on a connection, or look at it.
var phpSessionCalls = phpNames(`setattribute options set_opt set_charset select_db change_user multi_query real_query autocommit savepoint release_savepoint reap_async_query nextrowset next_result
	kill thread_id get_warnings dump_debug_info stmt_init sqlitecreatefunction spl_object_id spl_object_hash bind_result`)

// phpBegins are the calls that begin a transaction.
var phpBegins = []string{"begintransaction", "begin_transaction"}

// phpOfLast are calls and properties that tell of a connection's last statement.
var phpOfLast = phpNames(`lastinsertid errorinfo errorcode insert_id affected_rows error errno error_list warning_count info sqlstate`)

// phpSessionWords is what a text has in which any of these stands.
var phpSessionWords = lazyregexp.New(`(?i)\b(SET|USE|TEMPORARY|LOCK|UNLOCK|\w+_LOCK|TRANSACTION|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|XA|HANDLER|PREPARE|EXECUTE|DEALLOCATE|CALL|FLUSH|LAST_INSERT_ID|FOUND_ROWS|ROW_COUNT|CONNECTION_ID|SQL_CALC_FOUND_ROWS|SHOW|mysqli_\w+` +
	`|setAttribute|options|set_opt|set_charset|select_db|change_user|multi_query|real_query|autocommit|release_savepoint|reap_async_query|nextRowset|next_result|kill|thread_id|get_warnings|dump_debug_info|stmt_init|sqliteCreateFunction|spl_object_\w+` +
	`|beginTransaction|begin_transaction|lastInsertId|errorInfo|errorCode|insert_id|affected_rows|error|errno|error_list|warning_count|info|sqlstate|close|bind_result)\b|@|;\s*\w+`)

var phpTextOfFile = lazyregexp.New(`(?i)file_get_contents\s*\([^;]*\.sql\b`)

// checkSession: no code of the program leaves something on a connection that other code which
// opened one of its own did not see.
func (o *phpOpened) checkSession() *Refusal {
	if o.php.text.unbuffered {
		return refuse("session", "a result may be read row by row while another statement is sent")
	}
	for _, f := range o.files {
		src := string(f.src)
		switch {
		case phpTextOfFile.MatchString(src):
			return refuse("session", "%s sends what stands in a file", f.rel)
		case !phpSessionWords.MatchString(src):
			continue
		case o.tree(f) == nil:
			return refuse("session", "%s is not understood", f.rel)
		}
		var why *Refusal
		f.php.tree.Walk(func(n *phpNode) bool {
			if why != nil || slices.ContainsFunc(o.all, func(other *phpOpened) bool { return other.fn.node == n }) {
				return false
			}
			why = o.leavesOn(f, n)
			return true
		})
		if why != nil {
			return why
		}
	}
	return o.checkLent()
}

// leavesOn refuses a node that leaves something on a connection, or asks for it.
func (o *phpOpened) leavesOn(f *file, n *phpNode) *Refusal {
	switch {
	case n.Is("Scalar_String", "Scalar_EncapsedStringPart"):
		if m := phpSessionText.FindString(n.Text("value")); m != "" {
			return refuse("session", "line %d of %s has a statement that is about its connection: %s", n.Line, f.rel, short(strings.TrimSpace(m)))
		}
	case n.Is("Expr_PropertyFetch", "Expr_NullsafePropertyFetch"):
		if phpOfLast[strings.ToLower(n.Name())] && n.Node("var").Variable() != "this" && o.usesMysqli() {
			return o.ofLast(f, n, n.Node("var"))
		}
	case n.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_NullsafeMethodCall"):
		return o.callLeaves(f, n)
	}
	return nil
}

// callLeaves is leavesOn of a call.
func (o *phpOpened) callLeaves(f *file, n *phpNode) *Refusal {
	name, args := calledName(n), n.List("args")
	if n.Is("Expr_NullsafeMethodCall") && (phpOfLast[name] || slices.Contains(phpBegins, name)) {
		return refuse("session", "line %d of %s may be about another connection: %s", n.Line, f.rel, short(f.phpText(n)))
	}
	if n.Is("Expr_FuncCall") && !strings.HasPrefix(name, "spl_") {
		name = bareName(n) // "": a function of the program, or of PHP that knows no connection
	}
	switch {
	case name == "" && !n.Is("Expr_FuncCall") && o.handleType(f, n.Node("var"), 0) != "":
		return refuse("session", "line %d of %s calls a method of a connection whose name is computed", n.Line, f.rel)
	case slices.Contains(phpBegins, name):
		return o.checkBegun(f, n)
	case name == "close" && !o.isStatement(f, objectOf(n)):
		return refuse("session", "line %d of %s closes the connection, which others go on with", n.Line, f.rel)
	case name == "setattribute" && len(args) > 0 && args[0].Node("value").Is("Scalar_String"), // of a document
		name == "options" && !strings.Contains(f.phpText(n), "MYSQLI_"):
	case phpSessionCalls[name]:
		return refuse("session", "line %d of %s sets something of the connection, or looks at it: %s", n.Line, f.rel, short(f.phpText(n)))
	case phpOfLast[name] && (n.Is("Expr_FuncCall") || slices.Contains([]string{"lastinsertid", "errorinfo", "errorcode"}, name)):
		return o.ofLast(f, n, objectOf(n))
	}
	return nil
}

// usesMysqli: the program has connections whose properties tell of their last statement.
func (o *phpOpened) usesMysqli() bool {
	return slices.ContainsFunc(o.files, func(f *file) bool { return strings.Contains(strings.ToLower(string(f.src)), "mysqli") })
}

// phpGivesStatement are the calls that give a statement or a result.
var phpGivesStatement = phpNames(`prepare query execute_query get_result store_result`)

// isStatement: a variable only holds statements, results, or objects of other classes.
func (o *phpOpened) isStatement(f *file, e *phpNode) bool {
	given := 0
	for _, use := range usesOf(phpScope(e), e.Variable()) {
		switch to := phpAssigned(use); {
		case to == nil && !o.mayChange(use):
		case to.Is("Expr_New") && handleClass(to.Node("class")) == "", to.Is("Expr_MethodCall", "Expr_FuncCall") && phpGivesStatement[bareName(to)] && o.handleType(f, to, 0) == "":
			given++
		case !isNullPHP(to):
			return false
		}
	}
	return e.Variable() != "" && given > 0
}

// ofLast: what tells of the last statement stands right behind one of the same connection, so
// that it tells of that one in any case.
func (o *phpOpened) ofLast(f *file, n, of *phpNode) *Refusal {
	if o.isStatement(f, of) {
		return nil
	}
	why := refuse("session", "line %d of %s asks a connection of its last statement, which may be that of others: %s", n.Line, f.rel, short(f.phpText(n)))
	stmt, list, at := phpStatement(n)
	if !o.oneHandle(f, of) || stmt == nil || !o.onlyAround(stmt, n) {
		return why
	}
	for at--; at >= 0; at-- {
		switch {
		case o.sendsOn(f, list[at].Node("expr"), of):
			return nil
		case !o.onlyAround(list[at], nil):
			return why
		}
	}
	if in := stmt.Parent; in.Is("Stmt_If") && o.sendsOn(f, in.Node("cond"), of) {
		return nil
	}
	return why
}

// onlyAround: a statement calls nothing that may send another one before a node; nil: at all.
func (o *phpOpened) onlyAround(stmt, n *phpNode) bool {
	only := true
	inScope(stmt, func(call *phpNode) {
		name := calledName(call)
		switch {
		case !call.Is("Expr_FuncCall", "Expr_MethodCall", "Expr_StaticCall", "Expr_NullsafeMethodCall", "Expr_New", "Expr_Include", "Expr_Eval", "Expr_Yield"), n != nil && n.Within(call):
		case call.Is("Expr_FuncCall") && phpPure[name] && len(o.named(name)) == 0, call.Is("Expr_MethodCall") && phpStatementCalls[name]:
		default:
			only = false
		}
	})
	return only
}

// sendsOn: an expression is a call that sends a statement on a connection.
func (o *phpOpened) sendsOn(f *file, e, of *phpNode) bool {
	for e.Is("Expr_Assign", "Expr_BooleanNot") {
		e = e.Node("expr")
	}
	name, object := bareName(e), objectOf(e)
	if !slices.Contains([]string{"exec", "query", "execute", "execute_query"}, name) || object == nil {
		return false
	}
	text := f.phpText(of)
	prepared := func(e *phpNode) bool { return bareName(e) == "prepare" && f.phpText(objectOf(e)) == text }
	if f.phpText(object) == text || prepared(object) {
		return true
	}
	given := o.lastGiven(phpScope(object), e, object.Variable())
	return object.Variable() != "" && given != nil && prepared(given)
}
