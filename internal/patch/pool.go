package patch

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
)

const (
	// keptByDefault is how many connections nobody uses database/sql keeps by itself
	// (defaultMaxIdleConns).
	keptByDefault = 2
	// keepConnections is how many are to be kept where the program sets no limit to open
	// ones: no more than were in use at a time, and less than the 151 that a server takes.
	keepConnections = 64
)

const poolBody = "The pool of database/sql keeps two connections that nobody uses. When more requests than that are under way, all others are closed when their statement is done, and the next statement connects and logs in anew. %s It opens no more connections than before: those that were in use at a time stay open."

// findPools finds P19: pools that keep two connections, where more are in use. Nothing if
// the program says how many.
func findPools(p *Program) []*Place {
	var limited, opened []*Place
	for _, f := range p.files {
		set := false
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f.poolMethod(call) {
			case "SetMaxIdleConns":
				set = true
			case "SetMaxOpenConns":
				if at := f.limitPlace(call); at != nil {
					limited = append(limited, at)
				}
			}
			opened = append(opened, f.openPlaces(call)...)
			return true
		})
		if set {
			return nil
		}
	}
	if len(limited) > 0 {
		return limited
	}
	return opened
}

// poolMethod is the name of a method of *sql.DB that is called, also through what embeds it.
func (f *file) poolMethod(call *ast.CallExpr) string {
	path, name, fn := f.calls(call)
	if fn == nil || path != sqlPath || fn.Signature().Recv() == nil || !named(fn.Signature().Recv().Type(), sqlPath, "DB") {
		return ""
	}
	return name
}

func (f *file) poolPlace(n ast.Node, change string) *Place {
	at := f.place("P19", n, "a pool that keeps two connections")
	at.Subject = "Keep the database's connections that were in use"
	at.Body = fmt.Sprintf(poolBody, change)
	return at.refused(f.own()).refused(f.program.onlyMySQL()).refused(f.atStart(n))
}

// limitPlace is a call of SetMaxOpenConns: as many are kept.
func (f *file) limitPlace(call *ast.CallExpr) *Place {
	if len(call.Args) != 1 {
		return nil
	}
	if v := f.info().Types[call.Args[0]].Value; v != nil {
		if n, exact := constant.Int64Val(v); exact && n <= keptByDefault {
			if n > 0 {
				return nil // all of them are kept already
			}
			return f.poolPlace(call, "").refused(refuse("limit", "it sets no limit"))
		}
	}
	at := f.poolPlace(call, "It keeps as many now as it may open.")
	statement, ok := f.parents[call].(*ast.ExprStmt)
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	switch {
	case !ok || !isSel || f.line(statement.Pos()) != f.line(statement.End()) || !f.listed(statement):
		return at.refused(refuse("handle", "the call is a part of something else"))
	case !f.plainName(sel.X):
		return at.refused(refuse("handle", "%s is no variable", f.text(sel.X)))
	case !f.plainName(call.Args[0]):
		return at.refused(refuse("limit", "%s is no constant and no variable", f.text(call.Args[0])))
	}
	at.after(statement, fmt.Sprintf("%s%s.SetMaxIdleConns(%s)\n", f.indent(statement.Pos()), f.text(sel.X), f.text(call.Args[0])))
	return at
}

// openPlaces is sql.Open and its like: a number of its own is kept. A function that only
// returns what it has opened is followed to who calls it.
func (f *file) openPlaces(call *ast.CallExpr) []*Place {
	path, name, fn := f.calls(call)
	if fn == nil || fn.Signature().Recv() != nil || path != sqlPath && path != sqlxPath ||
		!slices.Contains([]string{"Open", "OpenDB", "Connect", "ConnectContext", "MustOpen", "MustConnect"}, name) {
		return nil
	}
	if name != "OpenDB" {
		driver := call.Args[0]
		if name == "ConnectContext" {
			driver = call.Args[1]
		}
		if d, ok := f.constant(driver); ok && d != "mysql" {
			return nil
		}
	}
	if _, returned := f.parents[call].(*ast.ReturnStmt); !returned {
		return []*Place{f.keepPlace(call)}
	}
	decl, ok := enclosing[*ast.FuncDecl](f, call)
	if !ok {
		return []*Place{f.keepPlace(call)}
	}
	var out []*Place
	for _, other := range f.program.files {
		ast.Inspect(other.syntax, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if _, _, called := other.calls(c); called != nil && called == f.info().Defs[decl.Name] {
				out = append(out, other.keepPlace(c))
			}
			return true
		})
	}
	return out
}

// keepPlace is a call whose result is a new pool.
func (f *file) keepPlace(call *ast.CallExpr) *Place {
	at := f.poolPlace(call, fmt.Sprintf("It keeps up to %d now.", keepConnections))
	assign, ok := f.parents[call].(*ast.AssignStmt)
	if !ok || !f.listed(assign) || !f.plainName(assign.Lhs[0]) || f.text(assign.Lhs[0]) == "_" {
		return at.refused(refuse("handle", "the pool is not put into a variable where it is opened"))
	}
	behind := ast.Node(assign)
	if len(assign.Lhs) > 1 {
		check := f.checked(assign)
		if check == nil {
			return at.refused(refuse("handle", "its error is not looked at right behind it"))
		}
		behind = check
	}
	at.after(behind, fmt.Sprintf("%s%s.SetMaxIdleConns(%d)\n", f.indent(assign.Pos()), f.text(assign.Lhs[0]), keepConnections))
	return at
}

// atStart refuses what a request reaches: a pool that is opened anew each time has another
// fault.
func (f *file) atStart(n ast.Node) *Refusal {
	if f.inRequest(n) == nil {
		return refuse("start", "a request reaches it")
	}
	return nil
}

// plainName: an identifier, a field of one, or a constant, which may be read once more.
func (f *file) plainName(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return f.plainName(e.X)
	}
	return false
}

// listed: the statement stands in a list of statements, and not before the condition of
// an if.
func (f *file) listed(s ast.Stmt) bool {
	switch f.parents[s].(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// checked is the statement right behind an assignment that ends the function, or the
// program, if its error is not nil; nil if there is none.
func (f *file) checked(assign *ast.AssignStmt) *ast.IfStmt {
	block, ok := f.parents[assign].(*ast.BlockStmt)
	if !ok {
		return nil
	}
	i := slices.Index(block.List, ast.Stmt(assign))
	if i < 0 || i+1 >= len(block.List) {
		return nil
	}
	check, ok := block.List[i+1].(*ast.IfStmt)
	if !ok || check.Init != nil || check.Else != nil {
		return nil
	}
	cond, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op.String() != "!=" || f.text(cond.X) != f.text(assign.Lhs[len(assign.Lhs)-1]) || f.text(cond.Y) != "nil" || len(check.Body.List) == 0 {
		return nil
	}
	switch last := check.Body.List[len(check.Body.List)-1].(type) {
	case *ast.ReturnStmt:
		return check
	case *ast.ExprStmt:
		if call, ok := last.X.(*ast.CallExpr); ok && f.neverReturns(call) {
			return check
		}
	}
	return nil
}

// neverReturns: panic, os.Exit, log.Fatal and Panic, and methods of these names, by which
// loggers end a program.
func (f *file) neverReturns(call *ast.CallExpr) bool {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		_, builtin := f.info().Uses[id].(*types.Builtin)
		return builtin && id.Name == "panic"
	}
	path, name, fn := f.calls(call)
	if fn == nil {
		return false
	}
	return path == "os" && name == "Exit" || slices.Contains([]string{"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"}, name)
}
