package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// effects are what running code may do to the database and to what other code sees.
type effects struct {
	statements int
	writes     []string // tables
	anyTable   bool     // writes, nobody knows where
	locks      bool     // or writes
	lastID     bool     // asks for LAST_INSERT_ID()
	// unknown says what is called that cannot be looked into.
	unknown string
	// fields and variables that are assigned, or whose address is taken.
	assigned map[*types.Var]bool
	// set are those of them that are assigned by a statement.
	set map[*types.Var]bool
	// whole are types of structs of which one is overwritten as a whole.
	whole []types.Type
	seen  map[*types.Func]bool // functions that were looked into
}

// effectsOf walks a node and the functions of the program that it calls, without the
// calls in leave and their arguments.
func (f *file) effectsOf(n ast.Node, leave ...*ast.CallExpr) *effects {
	e := &effects{assigned: map[*types.Var]bool{}, set: map[*types.Var]bool{}, seen: map[*types.Func]bool{}}
	f.walk(e, n, leave...)
	return e
}

func (f *file) walk(e *effects, n ast.Node, leave ...*ast.CallExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if slices.Contains(leave, n) {
				return false
			}
			f.callEffects(e, n)
		case *ast.GoStmt:
			e.unknown = "it starts a goroutine"
		case *ast.SendStmt, *ast.SelectStmt:
			e.unknown = "it waits for a channel"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				e.unknown = "it waits for a channel"
			}
		}
		f.assignsAt(e, n)
		return true
	})
}

// assignsAt notes what one statement or expression assigns, or hands out the address of.
func (f *file) assignsAt(e *effects, n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			f.assigns(e, l)
			f.sets(e, l)
		}
	case *ast.IncDecStmt:
		f.assigns(e, n.X)
		f.sets(e, n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			f.assigns(e, n.X)
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			f.assigns(e, n.Key)
			f.assigns(e, n.Value)
			f.sets(e, n.Key)
			f.sets(e, n.Value)
		}
	}
}

// sets notes the variable that a statement assigns.
func (f *file) sets(e *effects, x ast.Expr) {
	if id, ok := x.(*ast.Ident); ok && e.set != nil {
		if v, ok := f.info().Uses[id].(*types.Var); ok {
			e.set[v] = true
		}
	}
}

// assigns notes the variable or field that an expression names.
func (f *file) assigns(e *effects, x ast.Expr) {
	if x == nil {
		return
	}
	x = ast.Unparen(x)
	if id, ok := x.(*ast.Ident); ok {
		if v, ok := f.info().Uses[id].(*types.Var); ok {
			e.assigned[v] = true
		}
		return
	}
	if t := f.info().TypeOf(x); t != nil {
		if _, ok := t.Underlying().(*types.Struct); ok {
			e.whole = append(e.whole, t)
		}
	}
	switch x := x.(type) {
	case *ast.SelectorExpr:
		if v, ok := f.info().Uses[x.Sel].(*types.Var); ok {
			e.assigned[v] = true
		}
	case *ast.IndexExpr: // the elements belong to what holds them
		f.assigns(e, x.X)
	case *ast.StarExpr:
		if t := f.info().TypeOf(x); t != nil {
			e.whole = append(e.whole, t)
		}
	}
}

// remote are packages whose calls may change data that the database or others hold.
var remote = []string{"net/http", "net/rpc", "google.golang.org/grpc", "redis", "memcache", "mongo", "gorm", "xorm", "entgo", "uptrace/bun", "squirrel", "sqlboiler", "pgx", "amqp", "kafka", "nats", "aws-sdk", "os/exec"}

// callEffects adds what one call does.
func (f *file) callEffects(e *effects, call *ast.CallExpr) {
	if c := f.dbCall(call); c != nil {
		e.statement(c)
		return
	}
	if tv := f.info().Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
		return
	}
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	case *ast.IndexExpr:
		id, _ = fun.X.(*ast.Ident)
	case *ast.FuncLit:
		return // its body is walked
	}
	fn, ok := (*types.Func)(nil), false
	if id != nil {
		fn, ok = f.info().Uses[id].(*types.Func)
	}
	if !ok && f.givenFunctions(e, id) {
		return
	}
	if !ok {
		e.unknown = "it calls a function that is held in a variable, " + short(f.text(call.Fun))
		return
	}
	f.functionEffects(e, call, fn.Origin())
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 60 {
		return text[:57] + "..."
	}
	return text
}

func (f *file) functionEffects(e *effects, call *ast.CallExpr, fn *types.Func) {
	p := f.program
	if _, ok := p.bodies[fn]; ok {
		p.functionEffects(e, fn)
		return
	}
	path := pathOf(fn)
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && p.isOwn(fn) {
		found := false
		for _, m := range p.methods[fn.Name()] {
			if types.Identical(types.NewSignatureType(nil, nil, nil, m.Signature().Params(), m.Signature().Results(), m.Signature().Variadic()),
				types.NewSignatureType(nil, nil, nil, fn.Signature().Params(), fn.Signature().Results(), fn.Signature().Variadic())) {
				found = true
				p.functionEffects(e, m)
			}
		}
		if !found {
			e.unknown = "it calls " + fn.Name() + ", whose code is not there"
		}
		return
	}
	switch recv := fn.Signature().Recv(); {
	case path == "time" && fn.Name() == "Sleep":
		e.unknown = "it sleeps"
	case path == sqlPath || path == sqlxPath:
		f.handleEffects(e, call, fn, recv)
	case path == "net/http" && recv != nil && (named(recv.Type(), path, "ResponseWriter") || named(recv.Type(), path, "Request") || named(recv.Type(), path, "Header")), path == "net/http" && recv == nil && slices.Contains([]string{"Error", "StatusText", "SetCookie"}, fn.Name()):
	case slices.ContainsFunc(remote, func(r string) bool { return strings.Contains(path, r) }):
		e.unknown = "it calls " + path + "." + fn.Name() + ", which may reach another service"
	default:
		for _, a := range call.Args {
			t := f.info().TypeOf(a)
			if isHandle(t) {
				e.unknown = "it gives the database to " + path + "." + fn.Name()
			}
			if t == nil {
				continue
			}
			if _, ok := t.Underlying().(*types.Signature); ok {
				if _, literal := ast.Unparen(a).(*ast.FuncLit); !literal && !f.callee(e, a) {
					e.unknown = "it gives a function that is not known to " + path + "." + fn.Name()
				}
			}
		}
	}
}

// callee adds what a function that is passed on does, if it is one of known code.
func (f *file) callee(e *effects, a ast.Expr) bool {
	var id *ast.Ident
	switch a := ast.Unparen(a).(type) {
	case *ast.Ident:
		id = a
	case *ast.SelectorExpr:
		id = a.Sel
	}
	if id == nil {
		return false
	}
	fn, ok := f.info().Uses[id].(*types.Func)
	if !ok {
		return false
	}
	if _, ok := f.program.bodies[fn.Origin()]; ok {
		f.program.functionEffects(e, fn.Origin())
		return true
	}
	return !slices.ContainsFunc(remote, func(r string) bool { return strings.Contains(pathOf(fn), r) })
}

// handleEffects are those of database/sql and sqlx beside statements with a text.
func (f *file) handleEffects(e *effects, call *ast.CallExpr, fn *types.Func, recv *types.Var) {
	if recv == nil {
		if slices.Contains([]string{"In", "Rebind", "Named", "Open", "Connect", "NewDb", "Out"}, fn.Name()) {
			return
		}
		e.locks, e.anyTable, e.statements = true, true, e.statements+1
		return
	}
	if fn.Name() == "Rollback" && f.endsInReturn(call) {
		return // nothing of the loop comes after it
	}
	if name := strings.TrimSuffix(fn.Name(), "Context"); statementMethods[name] || name == "Get" || name == "Select" || name == "Commit" || name == "Rollback" || strings.HasPrefix(name, "Begin") {
		e.statements++
		if named(recv.Type(), sqlPath, "Stmt") || named(recv.Type(), sqlxPath, "Stmt") || named(recv.Type(), sqlxPath, "NamedStmt") || name == "Commit" || name == "Rollback" {
			e.locks, e.anyTable = true, true // its text is elsewhere
		}
	}
}

// endsInReturn: the statement of a call stands in a block that returns.
func (f *file) endsInReturn(call *ast.CallExpr) bool {
	stmt, ok := f.parents[call].(ast.Stmt)
	if !ok {
		return false
	}
	block, ok := f.parents[stmt].(*ast.BlockStmt)
	if !ok {
		return false
	}
	_, ok = block.List[len(block.List)-1].(*ast.ReturnStmt)
	return ok
}

// statement adds what a statement does.
func (e *effects) statement(c *dbCall) {
	if strings.HasPrefix(c.method, "Prepare") {
		return // what it is run as counts
	}
	e.statements++
	if !c.known {
		e.anyTable, e.locks = true, true
		if c.method == "Get" || c.method == "Select" || strings.HasPrefix(c.method, "Query") {
			// Its text is put together: a reader by its method, but it may lock.
			e.anyTable = false
		}
		return
	}
	tables, writes, locks, all := touched(c.text)
	if writes {
		e.writes = append(e.writes, tables...)
		e.anyTable = e.anyTable || all
	}
	e.locks = e.locks || locks || writes
	e.lastID = e.lastID || strings.Contains(strings.ToUpper(c.text), "LAST_INSERT_ID")
}

func (p *Program) isOwn(fn *types.Func) bool {
	for _, pkg := range p.packages {
		if pkg.Types == fn.Pkg() {
			return true
		}
	}
	return false
}

// functionEffects adds those of a function of the program.
func (p *Program) functionEffects(e *effects, fn *types.Func) {
	if e.seen[fn] {
		return
	}
	e.seen[fn] = true
	d := p.bodies[fn]
	if d.Body == nil {
		e.unknown = "it calls " + fn.Name() + ", whose code is not there"
		return
	}
	p.in[d].walk(e, d.Body)
}
