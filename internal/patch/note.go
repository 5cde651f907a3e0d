package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// note looks once through the program for what several shapes ask: which variables are
// assigned after they are made, and which functions requests reach.
func (p *Program) note() {
	p.noteCallers()
	p.assigned = map[*types.Var]bool{}
	calls := map[*types.Func][]*types.Func{}
	p.handles = map[*types.Func]bool{}
	var reach func(fn *types.Func)
	for _, f := range p.files {
		e := &effects{assigned: p.assigned}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				f.noteName(id)
			}
			f.assignsAt(e, n)
			return true
		})
	}
	for fn, d := range p.bodies {
		f := p.in[d]
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if to, ok := f.info().Uses[id].(*types.Func); ok {
					calls[fn] = append(calls[fn], to.Origin())
				}
			}
			return true
		})
	}
	reach = func(fn *types.Func) {
		if p.handles[fn] || fn.Name() == "main" && fn.Signature().Recv() == nil || fn.Name() == "init" {
			return
		}
		p.handles[fn] = true
		for _, to := range calls[fn] {
			reach(to)
			if recv := to.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && p.isOwn(to) {
				for _, m := range p.methods[to.Name()] {
					reach(m)
				}
			}
		}
	}
	for _, fn := range p.handlers() {
		reach(fn)
	}
}

// handlers are the functions that handle requests, and those that function literals call
// which do.
func (p *Program) handlers() []*types.Func {
	var out []*types.Func
	for fn := range p.bodies {
		if handlesRequests(fn.Signature()) {
			out = append(out, fn)
		}
	}
	for _, f := range p.files {
		out = append(out, f.calledByLiterals()...)
	}
	return out
}

// calledByLiterals are the functions that function literals name which handle requests.
func (f *file) calledByLiterals() []*types.Func {
	var out []*types.Func
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		if sig, ok := f.info().TypeOf(lit).(*types.Signature); !ok || !handlesRequests(sig) {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if fn, ok := f.info().Uses[id].(*types.Func); ok {
					out = append(out, fn.Origin())
				}
			}
			return true
		})
		return true
	})
	return out
}

// noteName notes what a name tells of the whole program.
func (f *file) noteName(id *ast.Ident) {
	o := f.info().Uses[id]
	if pathOf(o) == sqlxPath && (o.Name() == "NameMapper" || o.Name() == "MapperFunc") || strings.HasPrefix(pathOf(o), sqlxPath+"/reflectx") {
		f.program.mapped = true
	}
	if id.Name == "SetRequest" {
		f.program.setsRequest = true
	}
}

// handlesRequests reports the parameters of a handler of net/http or of a known framework.
func handlesRequests(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		t := v.Type()
		if named(t, "net/http", "Request") || embedsRequest(t) {
			return true
		}
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		n, ok := types.Unalias(t).(*types.Named)
		if !ok {
			continue
		}
		switch path := pathOf(n.Obj()); n.Obj().Name() {
		case "Context", "Ctx":
			for _, known := range []string{"labstack/echo", "gin-gonic/gin", "gofiber/fiber", "gocraft/web", "go-martini/martini", "beego/", "valyala/fasthttp", "kataras/iris"} {
				if strings.Contains(path, known) {
					return true
				}
			}
		case "RequestCtx":
			return strings.Contains(path, "fasthttp")
		}
	}
	return false
}

// embedsRequest: a struct of the program that is a request with more beside it.
func embedsRequest(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range s.Fields() {
		if v.Embedded() && named(v.Type(), "net/http", "Request") {
			return true
		}
	}
	return false
}

// inRequest refuses code that no request runs.
func (f *file) inRequest(n ast.Node) *Refusal {
	for at := f.parents[n]; at != nil; at = f.parents[at] {
		switch at := at.(type) {
		case *ast.FuncLit:
			if sig, ok := f.info().TypeOf(at).(*types.Signature); ok && handlesRequests(sig) {
				return nil
			}
			if _, isCall := f.parents[at].(*ast.CallExpr); isCall && f.onceCall(at) {
				return refuse("request", "it runs once already")
			}
		case *ast.FuncDecl:
			if fn, ok := f.info().Defs[at.Name].(*types.Func); ok && f.program.handles[fn] {
				return nil
			}
			return refuse("request", "no request reaches %s, as far as the source tells", at.Name.Name)
		}
	}
	return refuse("request", "it is made once already")
}

// onceCall: a literal is given to sync.Once or sync.OnceValue.
func (f *file) onceCall(lit *ast.FuncLit) bool {
	call := f.parents[lit].(*ast.CallExpr)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	return ok && pathOf(fn) == "sync"
}

// fresh is a name that nothing of the package has: want, or with the function that it is
// for. It is taken then.
func (f *file) fresh(n ast.Node, want string) string {
	taken := f.program.taken[f.pkg.Types]
	if taken == nil {
		taken = map[string]bool{}
		for _, other := range f.program.files {
			if other.pkg == f.pkg {
				ast.Inspect(other.syntax, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						taken[id.Name] = true
					}
					return true
				})
			}
		}
		f.program.taken[f.pkg.Types] = taken
	}
	free := func(name string) bool {
		return !taken[name] && types.Universe.Lookup(name) == nil && !token.IsKeyword(name)
	}
	name := want
	if !free(name) {
		name = want + "For" + camel(f.functionName(n))
	}
	for i := 2; !free(name); i++ {
		name = want + "For" + camel(f.functionName(n)) + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}
