package patch

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// remade is what a function makes in each call although it could use it again.
type remade struct {
	f     *file
	of    *reusable
	maker maker
	name  string // of the maker; "" for a buffer
	call  *ast.CallExpr
	// stmt makes v; fails is the variable of its error.
	stmt  ast.Stmt
	v     *types.Var
	fails *ast.Ident
	check *ast.IfStmt // of that error, which is not needed any more
	// value: the variable is not a pointer.
	value bool
}

// findRemade finds P12.
func findRemade(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		leads := map[*ast.FuncDecl]*Place{}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			r, at := f.remadeAt(n)
			if at == nil {
				return true
			}
			out = append(out, at)
			at.refused(f.own()).refused(f.inRequest(n)).refused(r.refusal())
			if at.Refused != nil {
				return true
			}
			at.Makes, at.Symbol = r.of.made(r.name), f.symbol(n)
			r.write(at)
			if d, ok := enclosing[*ast.FuncDecl](f, n); ok {
				at.follows(leads[d])
				if leads[d] == nil {
					leads[d] = at
				}
			}
			return true
		})
	}
	return out
}

// follows gives what a place changes to another one of the same function.
func (p *Place) follows(lead *Place) {
	if lead == nil {
		return
	}
	p.lead = lead
	lead.edits, lead.imports = append(lead.edits, p.edits...), append(lead.imports, p.imports...)
	lead.Makes = append(lead.Makes, p.Makes...)
	lead.Body += "\n\nThe same goes for " + strings.TrimSuffix(p.What, " made in each call") + "." + strings.TrimPrefix(p.Body, whatGoes(p.Body))
	p.edits, p.imports = nil, nil
}

// whatGoes is what the first of several says for all of them.
func whatGoes(body string) string {
	before, _, _ := strings.Cut(body, isCollected)
	return before + isCollected
}

// remadeAt understands a node that makes something reusable; nil if it makes none.
func (f *file) remadeAt(n ast.Node) (*remade, *Place) {
	r := &remade{f: f}
	var what string
	switch n := n.(type) {
	case *ast.CallExpr:
		path, name, fn := f.calls(n)
		if fn == nil || fn.Signature().Recv() != nil {
			return nil, nil
		}
		if r.of, r.maker = makes(path, name); r.of == nil {
			return nil, nil
		}
		r.call, r.name, what = n, name, r.of.noun
	default:
		if r.of = f.newBuffer(n); r.of == nil {
			return nil, nil
		}
		r.stmt, what = n.(ast.Stmt), r.of.noun
	}
	return r, f.place("P12", n, article(what)+" made in each call")
}

// article puts one before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeioulMS", rune(noun[0])) && !strings.HasPrefix(noun, "u") {
		return "an " + noun
	}
	return "a " + noun
}

// newBuffer: a statement makes an empty bytes.Buffer in a variable.
func (f *file) newBuffer(n ast.Node) *reusable {
	switch n := n.(type) {
	case *ast.DeclStmt:
		d, ok := n.Decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
			return nil
		}
		s, ok := d.Specs[0].(*ast.ValueSpec)
		if ok && len(s.Names) == 1 && s.Type != nil && len(s.Values) == 0 {
			return bufferOf(f.info().TypeOf(s.Type))
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE && len(n.Lhs) == 1 && len(n.Rhs) == 1 && f.emptyBuffer(n.Rhs[0]) {
			return bufferOf(f.info().TypeOf(n.Rhs[0]))
		}
	}
	return nil
}

func bufferOf(t types.Type) *reusable {
	if r := reusableType(t); r != nil && r.path == "bytes" {
		return r
	}
	return nil
}

// emptyBuffer: new(bytes.Buffer), bytes.Buffer{}, &bytes.Buffer{}, bytes.NewBuffer(nil) or
// bytes.NewBuffer(make([]byte, 0, n)).
func (f *file) emptyBuffer(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.AND && f.emptyBuffer(e.X)
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		if f.info().Types[e.Fun].IsBuiltin() {
			return f.text(e.Fun) == "new"
		}
		path, name, _ := f.calls(e)
		if path != "bytes" || name != "NewBuffer" || len(e.Args) != 1 {
			return false
		}
		if f.info().Types[e.Args[0]].IsNil() {
			return true
		}
		size, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
		return ok && len(size.Args) == 3 && f.info().Types[size.Fun].IsBuiltin() && f.text(size.Fun) == "make" && f.isZero(size.Args[1]) && f.info().Types[size.Args[2]].Value != nil
	}
	return false
}

func (f *file) isZero(e ast.Expr) bool {
	v := f.info().Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// symbol is how a profile names the function around a node.
func (f *file) symbol(n ast.Node) string {
	d, ok := enclosing[*ast.FuncDecl](f, n)
	if !ok {
		return ""
	}
	pkg := f.pkg.PkgPath
	if f.pkg.Name == "main" {
		pkg = "main"
	}
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return pkg + "." + d.Name.Name
	}
	fn := f.info().Defs[d.Name].(*types.Func)
	name := receiverName(fn.Signature().Recv().Type())
	if isPointer(fn.Signature().Recv().Type()) {
		name = "(*" + name + ")"
	}
	return pkg + "." + name + "." + d.Name.Name
}

// refusal is why it cannot be used again.
func (r *remade) refusal() *Refusal {
	if why := r.statement(); why != nil {
		return why
	}
	if why := r.arguments(); why != nil {
		return why
	}
	if why := r.inLoop(); why != nil {
		return why
	}
	if why := r.settings(); why != nil {
		return why
	}
	d, ok := enclosing[*ast.FuncDecl](r.f, r.stmt)
	if !ok {
		return refuse("handle", "it is in no function")
	}
	k := &keeper{program: r.f.program, seen: map[*types.Var]bool{}}
	in := k.functionOf(r.f, r.stmt, d)
	if why := r.values(in); why != nil {
		return why
	}
	return k.variable(r.f, r.v, in)
}

// statement finds what makes the variable.
func (r *remade) statement() *Refusal {
	f := r.f
	alone := refuse("handle", "it is not put into a variable of its own by a statement of its own")
	if r.call == nil {
		return r.bufferStatement(alone)
	}
	assign, ok := f.parents[r.call].(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Rhs) != 1 || !f.listed(assign) {
		return alone
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return alone
	}
	if r.v, ok = f.info().Defs[id].(*types.Var); !ok {
		return alone
	}
	r.stmt = assign
	if !r.maker.fails && !r.maker.resetFails {
		return nil
	}
	return r.errorOf(assign)
}

func (r *remade) bufferStatement(alone *Refusal) *Refusal {
	var id *ast.Ident
	ast.Inspect(r.stmt, func(n ast.Node) bool {
		if d, ok := n.(*ast.Ident); ok && id == nil && r.f.info().Defs[d] != nil {
			id = d
		}
		return id == nil
	})
	if id == nil || !r.f.listed(r.stmt) {
		return alone
	}
	v, ok := r.f.info().Defs[id].(*types.Var)
	if !ok {
		return alone
	}
	r.v, r.value = v, !isPointer(v.Type())
	return nil
}

// errorOf is the error that the making gives, beside the value.
func (r *remade) errorOf(assign *ast.AssignStmt) *Refusal {
	f := r.f
	id, ok := assign.Lhs[1].(*ast.Ident)
	if !ok {
		return refuse("error", "its error is put into something else than a variable")
	}
	r.fails = id
	if id.Name == "_" {
		if r.maker.resetFails {
			return refuse("error", "its error is not looked at, and without a value nothing can be read")
		}
		return nil
	}
	if r.check = f.checked(assign); r.check == nil {
		return refuse("error", "its error is not looked at right behind it")
	}
	if r.maker.resetFails || f.info().Defs[id] != nil || f.noError(assign, f.info().Uses[id]) {
		return nil
	}
	return refuse("error", "%s may hold an earlier error, which the making takes away", id.Name)
}

// noError: the statement before that assigns the variable in the same block is followed by
// one that returns unless it is nil, and nothing around may assign it but errors of its own.
func (f *file) noError(s ast.Stmt, v types.Object) bool {
	block, ok := f.parents[s].(*ast.BlockStmt)
	own, isVar := v.(*types.Var)
	if !ok || !isVar || f.escapes(own) {
		return false
	}
	for i := slices.Index(block.List, s) - 1; i >= 0; i-- {
		if !f.assignedIn(block.List[i], own) {
			continue
		}
		a, ok := block.List[i].(*ast.AssignStmt)
		return ok && f.isName(a.Lhs[len(a.Lhs)-1], own) && f.checked(a) != nil
	}
	return false
}

// arguments are the same in each call, and right.
func (r *remade) arguments() *Refusal {
	f := r.f
	if r.call == nil || r.maker.nothing {
		return nil
	}
	if len(r.call.Args) != 1+r.maker.args || r.call.Ellipsis.IsValid() {
		return refuse("arguments", "it is made with options")
	}
	to := r.call.Args[0]
	if f.mentions(to, r.v.Name()) {
		return refuse("arguments", "%s is made of another %s", r.v.Name(), r.v.Name())
	}
	if i, ok := f.info().TypeOf(to).Underlying().(*types.Interface); ok && r.of.path == "bufio" && types.Implements(r.v.Type(), i) || types.Identical(f.info().TypeOf(to), r.v.Type()) {
		return refuse("arguments", "%s may be a %s itself, which is then used as it is", short(f.text(to)), r.of.noun)
	}
	for _, a := range r.call.Args[1:] {
		v := f.info().Types[a].Value
		if v == nil {
			return refuse("arguments", "%s is no constant", short(f.text(a)))
		}
		if n, exact := constant.Int64Val(v); r.maker.fails && (!exact || n < -2 || n > 9) {
			return refuse("arguments", "%s is no level", short(f.text(a)))
		}
		if why := f.global(a); why != nil {
			return why
		}
	}
	return nil
}

// mentions reports whether an expression has a name in it.
func (f *file) mentions(e ast.Node, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// inLoop: what a turn of a loop makes would be put back when the function ends.
func (r *remade) inLoop() *Refusal {
	for n := r.f.parents[r.stmt]; n != nil; n = r.f.parents[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return refuse("loop", "it is made in a loop, and would be put back behind it only")
		case *ast.LabeledStmt:
			return refuse("loop", "a label is before it")
		case *ast.FuncDecl, *ast.FuncLit:
			return nil
		}
	}
	return nil
}
