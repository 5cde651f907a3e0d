package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// needFunction is of places whose statement stands in a function that the loop calls.
var needFunction = Need{"function", "where the statement stands in a function that the loop calls: it is of the same package, called by its name, and changes none of its parameters that the statement gets"}

// site is a call, in a loop, of a function of the program that sends a statement.
type site struct {
	f    *file // of the call
	call *ast.CallExpr
	in   *file // of the function
	decl *ast.FuncDecl
	// args are what its parameters and its receiver are given.
	args   map[*types.Var]ast.Expr
	params []*types.Var // in their order, without the receiver
	recv   *types.Var
	// changed are parameters that the function assigns, or takes the address of.
	changed []*types.Var
}

// sites are the calls of a function by its name.
func (p *Program) sites(fn *types.Func) []*site {
	var out []*site
	for _, c := range p.callers[fn] {
		out = append(out, &site{f: c.f, call: c.call, in: p.in[p.bodies[fn]], decl: p.bodies[fn]})
	}
	return out
}

// caller is a place where a function is called.
type caller struct {
	f    *file
	call *ast.CallExpr
}

// noteCallers lists the calls of each function of the program by its name.
func (p *Program) noteCallers() {
	p.callers = map[*types.Func][]caller{}
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			var id *ast.Ident
			switch fun := ast.Unparen(call.Fun).(type) {
			case *ast.Ident:
				id = fun
			case *ast.SelectorExpr:
				id = fun.Sel
			default:
				return true
			}
			if fn, ok := f.info().Uses[id].(*types.Func); ok && p.bodies[fn] != nil {
				p.callers[fn] = append(p.callers[fn], caller{f, call})
			}
			return true
		})
	}
}

// bind notes what the parameters are given, or says why the call is not understood.
func (s *site) bind() *Refusal {
	fn := s.in.info().Defs[s.decl.Name].(*types.Func)
	sig, name := fn.Signature(), s.in.function(s.decl)
	switch around, _ := enclosing[*ast.FuncDecl](s.f, s.call); {
	case s.f.pkg != s.in.pkg:
		return refuse("function", "%s is of another package", name)
	case around == s.decl:
		return refuse("function", "%s calls itself", name)
	case sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0:
		return refuse("function", "%s has type parameters", name)
	case sig.Variadic() || len(s.call.Args) != sig.Params().Len():
		return refuse("function", "the parameters and arguments of %s do not go together one by one", name)
	}
	if _, deferred := s.f.parents[s.call].(*ast.DeferStmt); deferred {
		return refuse("function", "the call of %s is deferred", name)
	}
	s.args = map[*types.Var]ast.Expr{}
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if v.Name() == "" {
			return refuse("function", "%s has a parameter without a name", name)
		}
		s.params, s.args[v] = append(s.params, v), s.call.Args[i]
	}
	if s.recv = sig.Recv(); s.recv != nil {
		sel, ok := ast.Unparen(s.call.Fun).(*ast.SelectorExpr)
		chosen := s.f.info().Selections[sel]
		if !ok || chosen == nil || chosen.Kind() != types.MethodVal || len(chosen.Index()) != 1 {
			return refuse("function", "%s is not called as a method of its own receiver", name)
		}
		s.args[s.recv] = sel.X
	}
	s.noteChanged()
	return nil
}

// keepsParameters refuses a function that assigns a parameter, or takes its address.
func (s *site) keepsParameters() *Refusal {
	if len(s.changed) > 0 {
		return refuse("function", "%s changes its parameter %s", s.in.function(s.decl), s.changed[0].Name())
	}
	return nil
}

// noteChanged notes the parameters that the function assigns, or takes the address of.
func (s *site) noteChanged() {
	f := s.in
	changed := func(e ast.Expr) {
		if v := f.valueRoot(e); v != nil && s.args[v] != nil && !slices.Contains(s.changed, v) {
			s.changed = append(s.changed, v)
		}
	}
	f.changes(s.decl.Body, changed)
}

// changes calls back for each expression below a node that is assigned, or whose address
// is taken.
func (f *file) changes(n ast.Node, changed func(ast.Expr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				changed(l)
			}
		case *ast.IncDecStmt:
			changed(n.X)
		case *ast.UnaryExpr:
			if n.Op.String() == "&" {
				changed(n.X)
			}
		case *ast.RangeStmt:
			if n.Key != nil {
				changed(n.Key)
			}
			if n.Value != nil {
				changed(n.Value)
			}
		case *ast.SelectorExpr: // x.Method() with a pointer receiver takes the address of x
			chosen := f.info().Selections[n]
			if chosen == nil || chosen.Kind() != types.MethodVal {
				break
			}
			if recv := chosen.Obj().(*types.Func).Signature().Recv(); recv != nil && isPointer(recv.Type()) && !isPointer(f.info().TypeOf(n.X)) {
				changed(n.X)
			}
		}
		return true
	})
}

// valueRoot is the variable that an expression is a part of, if what is assigned to the
// expression changes the variable itself and not what it points to.
func (f *file) valueRoot(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := f.info().Uses[e].(*types.Var)
		return v
	case *ast.SelectorExpr:
		if t := f.info().TypeOf(e.X); t != nil && !isPointer(t) && f.info().Selections[e] != nil {
			return f.valueRoot(e.X)
		}
	case *ast.IndexExpr:
		if _, ok := f.info().TypeOf(e.X).Underlying().(*types.Array); ok {
			return f.valueRoot(e.X)
		}
	}
	return nil
}

// named are the parameters that an expression of the function names.
func (s *site) named(es ...ast.Expr) []*types.Var {
	var out []*types.Var
	for _, e := range es {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := s.in.info().Uses[id].(*types.Var); ok && s.args[v] != nil && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
			return true
		})
	}
	return out
}

// loop is the innermost loop over a slice that gives the parameters of a statement's
// arguments their values; the refusal says why a loop that is there is none.
func (s *site) loop(args []ast.Expr) (*loop, *Refusal) {
	var given []ast.Expr
	for _, v := range s.named(args...) {
		given = append(given, s.args[v])
	}
	return (&rowRead{dbCall: &dbCall{call: s.call, args: given}, f: s.f}).around()
}

// inLoop: a loop is around the call.
func (s *site) inLoop() bool {
	for n := s.f.parents[s.call]; n != nil; n = s.f.parents[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
	}
	return false
}

// effects of a loop and of the function that it calls, without the statement itself.
func (s *site) effects(l *loop, leave ...*ast.CallExpr) *effects {
	e := s.f.effectsOf(l.body, s.call)
	for v, a := range s.args {
		if p, ok := v.Type().Underlying().(*types.Pointer); ok {
			if _, ok := p.Elem().Underlying().(*types.Struct); ok {
				a = addressed(a) // what the function assigns through it is seen there
			}
		}
		s.f.walk(e, a)
	}
	s.in.walk(e, s.decl.Body, leave...)
	return e
}

// fixed reports an expression of the function that is the same in each turn of the loop.
func (s *site) fixed(l *loop, e ast.Expr, does *effects) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, isVar := s.in.info().Uses[n].(*types.Var)
			switch {
			case !isVar:
			case s.args[v] != nil:
				ok = ok && l.fixed(s.args[v], does)
			case !v.IsField() && v.Pos() >= s.decl.Pos() && v.Pos() < s.decl.End():
				ok = false
			case does.assigned[v]:
				ok = false
			}
		case *ast.SelectorExpr, *ast.BasicLit, *ast.ParenExpr, *ast.BinaryExpr, nil:
		case *ast.CallExpr:
			ok = ok && (s.in.info().Types[n.Fun].IsType() || s.in.requestContext(n) || s.in.ofTime(n) && !isPointer(s.in.info().TypeOf(n.Fun.(*ast.SelectorExpr).X)))
		case ast.Expr:
			ok = false
		}
		return ok
	})
	return ok
}

// turn is what loop.turn is, for an expression of the function: a parameter, or a field
// of one.
func (s *site) turn(l *loop, e ast.Expr, does *effects) (string, *Refusal) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := s.in.info().Uses[e].(*types.Var); ok && s.args[v] != nil {
			return l.turn(s.args[v], does)
		}
	case *ast.SelectorExpr:
		chosen := s.in.info().Selections[e]
		if chosen == nil || chosen.Kind() != types.FieldVal || len(chosen.Index()) != 1 {
			break
		}
		id, ok := ast.Unparen(e.X).(*ast.Ident)
		if !ok {
			break
		}
		v, ok := s.in.info().Uses[id].(*types.Var)
		if !ok || s.args[v] == nil {
			break
		}
		if does.assigned[chosen.Obj().(*types.Var)] || overwrites(does, v.Type()) {
			return "", refuse("key", "the loop changes %s", short(s.in.text(e)))
		}
		x, r := l.turn(addressed(s.args[v]), does)
		return x + "." + e.Sel.Name, r
	}
	return "", refuse("key", "%s is more than a parameter of %s", short(s.in.text(e)), s.in.function(s.decl))
}

// addressed is x of &x.
func addressed(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op.String() == "&" {
		return u.X
	}
	return e
}

// varying are the parameters that the loop gives other values in its turns, and the rest.
func (s *site) varying(l *loop, does *effects) (varying, fixed []*types.Var) {
	for _, v := range s.params {
		if l.fixed(s.args[v], does) {
			fixed = append(fixed, v)
		} else {
			varying = append(varying, v)
		}
	}
	return varying, fixed
}

// late are the parameters whose values cannot be asked for before the loop.
func (s *site) late(l *loop) []*types.Var {
	var out []*types.Var
	var handles []ast.Expr
	for _, a := range s.args {
		if isHandle(s.f.info().TypeOf(a)) {
			handles = append(handles, a)
		}
	}
	for _, v := range s.params {
		if !isHandle(s.f.info().TypeOf(s.args[v])) && s.f.mayPanic(s.args[v], l.node, handles...) {
			out = append(out, v)
		}
	}
	return out
}

// plural of a name.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	case strings.HasSuffix(name, "s"):
		return name + "OfAll"
	case strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}
