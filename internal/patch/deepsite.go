package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// deepGroup is what one patch changes: loops, and the functions with reads that they reach.
// Loops that reach one function are of one group, as its reads are changed once.
type deepGroup struct {
	sites []*deepSite
	fns   []*deepFn
	reads []*deepRead
	lead  *Place
	names deepNames
}

// deep finds what loops reach through functions with a context, and takes the places over
// which it is the better patch for: where a function that the loop calls has several reads, or
// calls others that read.
func (p *Program) deep(all []*plan) []*Place {
	if p.onlyMySQL() != nil || p.mapped {
		return nil
	}
	ds := &deeps{p: p, all: all, made: map[*ast.FuncDecl]*deepFn{}}
	var out []*Place
	for _, g := range ds.groups(all) {
		out = append(out, g.take(all)...)
	}
	return out
}

// groups of loops, in the order of the files.
func (ds *deeps) groups(all []*plan) []*deepGroup {
	var out []*deepGroup
	for _, f := range ds.p.files {
		if f.own() != nil {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s := ds.siteOf(f, call, all); s != nil {
				out = joined(out, s)
			}
			return true
		})
	}
	return slices.DeleteFunc(out, func(g *deepGroup) bool { return !g.complete() })
}

// joined puts a loop into the group whose functions it reaches, or into a new one.
func joined(groups []*deepGroup, s *deepSite) []*deepGroup {
	own := &deepGroup{sites: []*deepSite{s}}
	own.reach(s.to)
	var out []*deepGroup
	for _, g := range groups {
		if !slices.ContainsFunc(g.fns, func(fn *deepFn) bool { return slices.Contains(own.fns, fn) }) {
			out = append(out, g)
			continue
		}
		own.sites = append(g.sites, own.sites...)
		fns := own.fns
		own.fns, own.reads = g.fns, g.reads
		for _, fn := range fns {
			own.reach(fn)
		}
	}
	return append(out, own)
}

func (g *deepGroup) reach(fn *deepFn) {
	if slices.Contains(g.fns, fn) {
		return
	}
	g.fns, g.reads = append(g.fns, fn), append(g.reads, fn.reads...)
	for _, c := range fn.calls {
		g.reach(c.to)
	}
}

// complete: all is of one package, and the loops have one kind of handle, which can be
// compared, and which the reads take.
func (g *deepGroup) complete() bool {
	kind := g.sites[0].kind
	for _, s := range g.sites {
		if !types.Identical(s.kind, kind) || s.site.f.pkg != g.reads[0].f.pkg {
			return false
		}
	}
	for _, d := range g.reads {
		call := *d.dbCall // which other loops share
		call.kind = kind
		read := *d.rowRead
		read.dbCall, d.rowRead = &call, &read
		if !types.AssignableTo(kind, d.asked) || d.f.pkg != g.reads[0].f.pkg || d.checkNames() != nil {
			return false
		}
	}
	return true
}

// siteOf is a loop that calls a function with something to note; nil: it is none.
func (ds *deeps) siteOf(f *file, call *ast.CallExpr, all []*plan) *deepSite {
	called := f.calledFunction(call)
	if called == nil || ds.p.bodies[called] == nil || f.dbCall(call) != nil {
		return nil
	}
	to := ds.of(ds.p.bodies[called])
	if to == nil || len(to.reads) < 2 && len(to.calls) == 0 {
		return nil
	}
	s := &site{f: f, call: call, in: to.f, decl: to.decl}
	if s.bind() != nil || slices.ContainsFunc(all, func(p *plan) bool { return p.callsFollow(call) }) {
		return nil
	}
	out := &deepSite{to: to, site: s}
	if !out.inLoop() || !out.leavesAll() || !out.told() {
		return nil
	}
	return out
}

// callsFollow: a read by this call gives values of others in the loop, or gets them.
func (p *plan) callsFollow(call *ast.CallExpr) bool {
	return p.w != nil && p.w.via != nil && p.w.via.call == call && (len(p.followers) > 0 || p.each != nil && p.each.given != nil)
}

// inLoop: the call stands in a loop over a slice, which gives it what it needs.
func (s *deepSite) inLoop() bool {
	var args []ast.Expr
	for _, v := range s.to.needs {
		args = append(args, s.site.args[v])
	}
	l, _ := (&rowRead{dbCall: &dbCall{call: s.site.call, args: args}, f: s.site.f}).around()
	if l == nil || l.rows != nil || l.overMap || slices.ContainsFunc(s.to.needs, s.site.converted) {
		return false
	}
	literal, _ := enclosing[*ast.FuncLit](s.site.f, s.site.call)
	if around, _ := enclosing[*ast.FuncLit](s.site.f, l.node); around != literal {
		return false
	}
	s.loop = l
	return true
}

// leavesAll: the loop writes nothing and waits for nothing, and its handle and context are the
// same in each turn.
func (s *deepSite) leavesAll() bool {
	f := s.site.f
	s.does = f.effectsOf(s.loop.body)
	if s.does.unknown != "" || s.does.anyTable || s.does.locks || len(s.does.writes) > 0 || !s.loop.overThere() {
		return false
	}
	if ctx := s.site.args[s.to.ctx]; !s.loop.fixed(ctx, s.does) || f.mayPanic(ctx, s.loop.node) {
		return false
	}
	return s.asksOne()
}

// asksOne: the handle of the function's reads is known before the loop, and the same in each turn.
func (s *deepSite) asksOne() bool {
	f := s.site.f
	v, behind, kind := s.to.handle()
	s.kind = kind
	if v == nil {
		s.handle = behind
		return behind != "" && isPointer(kind)
	}
	given := s.site.args[v]
	if given == nil || !s.loop.fixed(given, s.does) {
		return false
	}
	if behind == "" {
		s.kind = f.info().TypeOf(given)
	}
	if id, ok := ast.Unparen(given).(*ast.Ident); behind != "" && isPointer(v.Type()) && (!ok || !f.thereBefore(f.variable(id), s.loop.node)) {
		return false
	}
	s.handle = f.text(given) + behind
	return isPointer(s.kind)
}

// told: what the function needs is known before the loop.
func (s *deepSite) told() bool {
	var texts []string
	for _, v := range s.to.needs {
		x, r := s.loop.early(s.site.args[v], s.does)
		if r != nil {
			return false
		}
		s.args = append(s.args, x)
		texts = append(texts, x.text)
	}
	w := &readWriter{loop: s.loop}
	all := strings.Join(texts, " ")
	return w.named(all, s.loop.index) || w.named(all, s.loop.value)
}

// handle is the parameter, or the receiver, that gives the function's reads their handle, with
// what is asked of it; or the variable of the package alone.
func (fn *deepFn) handle() (v *types.Var, behind string, kind types.Type) {
	if len(fn.reads) > 0 {
		v, behind = fn.handleOf(fn.reads[0].handle)
		return v, behind, fn.reads[0].asked
	}
	if len(fn.calls) == 0 {
		return nil, "", nil
	}
	c := fn.calls[0]
	v, behind, kind = c.to.handle()
	given := c.site.args[v]
	if v == nil || given == nil {
		return nil, behind, kind
	}
	if behind == "" {
		kind = fn.f.info().TypeOf(given)
	}
	root, more := fn.handleOf(given)
	return root, more + behind, kind
}

func (fn *deepFn) handleOf(e ast.Expr) (*types.Var, string) {
	f := fn.f
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := f.variable(e)
		if v != nil && v.Parent() == f.pkg.Types.Scope() {
			return nil, e.Name
		}
		sig := f.info().Defs[fn.decl.Name].(*types.Func).Signature()
		if v != nil && (v == sig.Recv() || slices.Contains(slices.Collect(sig.Params().Variables()), v)) {
			return v, ""
		}
	case *ast.SelectorExpr:
		if chosen := f.info().Selections[e]; chosen != nil && chosen.Kind() == types.FieldVal {
			v, behind := fn.handleOf(e.X)
			if v != nil || behind != "" {
				return v, behind + "." + e.Sel.Name
			}
		}
	}
	return nil, ""
}
