package patch

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

const (
	sqlPath    = "database/sql"
	sqlxPath   = "github.com/jmoiron/sqlx"
	driverPath = "github.com/go-sql-driver/mysql"
)

// dbCall is a call that sends a statement.
type dbCall struct {
	call   *ast.CallExpr
	method string   // without Context: Query, QueryRow, Exec, Get, Select, Prepare …
	handle ast.Expr // what its method is of
	kind   types.Type
	ctx    ast.Expr // nil: without
	dst    ast.Expr // of Get and Select
	query  ast.Expr
	args   []ast.Expr
	text   string
	known  bool // its text is a constant
	spread bool // args...
	// function is "sqlx" of sqlx.Get and sqlx.Select, which take the handle first; "" of
	// methods.
	function string
}

// method names of handles, with what stands in front of the statement.
var statementMethods = map[string]bool{"Query": true, "QueryRow": true, "Exec": true, "Get": false, "Select": false, "Prepare": true,
	"Queryx": true, "QueryRowx": true, "Preparex": true, "MustExec": true, "NamedExec": true, "NamedQuery": true, "PrepareNamed": true}

// dbCall understands a call of a method that takes a statement; nil if it is none. The
// type of the handle tells, or for interfaces of the program's own the types of what the
// method takes and gives.
func (f *file) dbCall(call *ast.CallExpr) *dbCall {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	if !ok {
		return nil
	}
	sig := fn.Signature()
	if sig.Recv() == nil {
		return f.readOfPackage(call, sel, fn)
	}
	name, withContext := strings.CutSuffix(fn.Name(), "Context")
	plain, known := statementMethods[name]
	if !known || len(call.Args) != sig.Params().Len() && !sig.Variadic() {
		return nil
	}
	if path := pathOf(fn); path != sqlPath && path != sqlxPath && !f.likeHandle(sig, name) {
		return nil
	}
	c := &dbCall{call: call, method: name, handle: sel.X, kind: f.info().TypeOf(sel.X), spread: call.Ellipsis.IsValid()}
	args := call.Args
	if withContext {
		if len(args) == 0 {
			return nil
		}
		c.ctx, args = args[0], args[1:]
	}
	if !plain {
		if len(args) == 0 {
			return nil
		}
		c.dst, args = args[0], args[1:]
	}
	if len(args) == 0 || !isString(f.info().TypeOf(args[0])) {
		return nil // a method of a prepared statement
	}
	c.query, c.args = args[0], args[1:]
	c.text, c.known = f.constant(c.query)
	return c
}

// readOfPackage is a call of sqlx.Get or sqlx.Select, which take the handle first; nil if
// it is none.
func (f *file) readOfPackage(call *ast.CallExpr, sel *ast.SelectorExpr, fn *types.Func) *dbCall {
	name, withContext := strings.CutSuffix(fn.Name(), "Context")
	if pathOf(fn) != sqlxPath || name != "Get" && name != "Select" {
		return nil
	}
	c, args := &dbCall{call: call, method: name, function: f.text(sel.X), spread: call.Ellipsis.IsValid()}, call.Args
	if withContext && len(args) > 0 {
		c.ctx, args = args[0], args[1:]
	}
	if len(args) < 3 {
		return nil
	}
	c.handle, c.kind = args[0], f.info().TypeOf(args[0])
	c.dst, c.query, c.args = args[1], args[2], args[3:]
	c.text, c.known = f.constant(c.query)
	return c
}

// into is the beginning of a call of Get or Select with the handle db, as this one is made:
// "db.Select(" or "sqlx.SelectContext(ctx, db, ".
func (c *dbCall) into(method string) string {
	context := ""
	if c.ctx != nil {
		method, context = method+"Context", "ctx, "
	}
	if c.function != "" {
		return c.function + "." + method + "(" + context + "db, "
	}
	return "db." + method + "(" + context
}

// likeHandle: a method of the program's own interface has the form of database/sql's.
func (f *file) likeHandle(sig *types.Signature, name string) bool {
	if !types.IsInterface(sig.Recv().Type()) || !sig.Variadic() && !strings.HasPrefix(name, "Prepare") {
		return false
	}
	for v := range sig.Results().Variables() {
		t := v.Type().String()
		if strings.Contains(t, sqlPath+".") || strings.Contains(t, sqlxPath+".") {
			return true
		}
	}
	return name == "Get" || name == "Select"
}

func pathOf(o types.Object) string {
	if o == nil || o.Pkg() == nil {
		return ""
	}
	path := o.Pkg().Path()
	if _, after, ok := strings.Cut(path, "/vendor/"); ok {
		return after
	}
	return path
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// constant is the value of a string that the compiler knows, or of a variable that is
// made from one and nothing else.
func (f *file) constant(e ast.Expr) (string, bool) {
	if v := f.info().Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), true
	}
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if v, ok := f.info().Uses[id].(*types.Var); ok && !f.program.assigned[v] {
			if made := f.made(v); made != nil && f.info().Types[made].Value != nil {
				return f.constant(made)
			}
		}
		return f.reaching(id)
	}
	return "", false
}

// made is what a local variable is made from, if that is one expression.
func (f *file) made(v *types.Var) ast.Expr {
	var out ast.Expr
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && f.info().Defs[id] == v && len(n.Lhs) == len(n.Rhs) {
					out = n.Rhs[i]
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if f.info().Defs[id] == v && i < len(n.Values) && len(n.Names) == len(n.Values) {
					out = n.Values[i]
				}
			}
		}
		return true
	})
	return out
}

// transaction reports whether a handle is one, or may be (an interface).
func transaction(t types.Type) bool {
	if types.IsInterface(t) {
		return true
	}
	return named(t, sqlPath, "Tx") || named(t, sqlxPath, "Tx") || named(t, sqlPath, "Conn") || named(t, sqlxPath, "Conn")
}

// named reports whether a type, or what it points to, is that of a package.
func named(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && pathOf(n.Obj()) == path
}

// isHandle reports a type through which statements can be sent.
func isHandle(t types.Type) bool {
	if t == nil {
		return false
	}
	for _, name := range []string{"DB", "Tx", "Conn", "Stmt", "NamedStmt"} {
		if named(t, sqlPath, name) || named(t, sqlxPath, name) {
			return true
		}
	}
	if i, ok := t.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			name := strings.TrimSuffix(m.Name(), "Context")
			if statementMethods[name] && strings.Contains(m.Signature().Results().String(), "sql") {
				return true
			}
		}
	}
	return false
}

// drivers are the drivers of databases that the program imports.
func (p *Program) drivers() []string {
	var out []string
	for _, pkg := range p.packages {
		for name := range pkg.Imports {
			if slices.Contains(knownDrivers, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

var knownDrivers = []string{driverPath, "github.com/lib/pq", "github.com/jackc/pgx/v4/stdlib", "github.com/jackc/pgx/v5/stdlib", "github.com/mattn/go-sqlite3",
	"modernc.org/sqlite", "github.com/denisenkom/go-mssqldb", "github.com/microsoft/go-mssqldb", "github.com/ClickHouse/clickhouse-go/v2", "github.com/sijms/go-ora/v2"}

// onlyMySQL refuses what is only known of MySQL and MariaDB.
func (p *Program) onlyMySQL() *Refusal {
	switch d := p.drivers(); {
	case len(d) == 0:
		return refuse("driver", "the program imports no driver that is known")
	case len(d) > 1 || d[0] != driverPath:
		return refuse("driver", "the program imports %s", strings.Join(d, ", "))
	}
	return nil
}
