package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// loop goes over the elements of a slice.
type loop struct {
	f    *file
	node ast.Stmt // *ast.RangeStmt or *ast.ForStmt
	body *ast.BlockStmt
	over ast.Expr // the slice
	// index and value are its variables; nil if it has none.
	index, value *types.Var
	overMap      bool     // in no order that is known
	rows         *rowLoop // it is over the rows of a result; nil: it is not
	// given are variables that earlier reads of the turn put their rows into.
	given map[*types.Var]*given
}

// loopOf understands a statement as a loop over a slice or an array, or over the rows of a
// result; the refusal says why it is none.
func (f *file) loopOf(n ast.Node) (*loop, *Refusal) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		l := &loop{f: f, node: n, body: n.Body, over: n.X}
		t := f.info().TypeOf(n.X)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		switch t.Underlying().(type) {
		case *types.Slice, *types.Array:
		default:
			return nil, refuse("end", "the loop is over %s, not a slice", t)
		}
		if n.Tok != token.DEFINE && (n.Key != nil || n.Value != nil) {
			return nil, refuse("end", "the loop's variables are made outside of it")
		}
		l.index, l.value = f.defined(n.Key), f.defined(n.Value)
		return l, nil
	case *ast.ForStmt:
		if overRows(f, n) {
			return f.loopOfRows(n)
		}
		return f.countLoop(n)
	}
	return nil, refuse("end", "it is no loop")
}

// readLoopOf understands a loop over a map too: in which order its reads are made changes
// nothing.
func (f *file) readLoopOf(n ast.Node) (*loop, *Refusal) {
	if n, ok := n.(*ast.RangeStmt); ok && n.Tok == token.DEFINE {
		if _, ok := f.info().TypeOf(n.X).Underlying().(*types.Map); ok {
			return &loop{f: f, node: n, body: n.Body, over: n.X, index: f.defined(n.Key), value: f.defined(n.Value), overMap: true}, nil
		}
	}
	return f.loopOf(n)
}

func (f *file) defined(e ast.Expr) *types.Var {
	if id, ok := e.(*ast.Ident); ok {
		v, _ := f.info().Defs[id].(*types.Var)
		return v
	}
	return nil
}

// countLoop understands `for i := 0; i < len(x); i++`.
func (f *file) countLoop(n *ast.ForStmt) (*loop, *Refusal) {
	other := refuse("end", "the loop is not over a slice")
	if l := f.backLoop(n); l != nil {
		return l, nil
	}
	init, ok := n.Init.(*ast.AssignStmt)
	if !ok || len(init.Lhs) != 1 || len(init.Rhs) != 1 || f.text(init.Rhs[0]) != "0" {
		return nil, other
	}
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS {
		return nil, other
	}
	length, ok := cond.Y.(*ast.CallExpr)
	if !ok || len(length.Args) != 1 || f.text(length.Fun) != "len" {
		return nil, other
	}
	post, ok := n.Post.(*ast.IncDecStmt)
	i := f.defined(init.Lhs[0])
	if !ok || i == nil || post.Tok != token.INC || f.text(post.X) != i.Name() || f.text(cond.X) != i.Name() {
		return nil, other
	}
	if _, ok := f.info().TypeOf(length.Args[0]).Underlying().(*types.Slice); !ok {
		return nil, other
	}
	return &loop{f: f, node: n, body: n.Body, over: length.Args[0], index: i}, nil
}

// backLoop understands `for i := len(x) - 1; i >= 0; i--`; nil: it is something else.
func (f *file) backLoop(n *ast.ForStmt) *loop {
	init, made := n.Init.(*ast.AssignStmt)
	cond, asks := n.Cond.(*ast.BinaryExpr)
	post, steps := n.Post.(*ast.IncDecStmt)
	if !made || !asks || !steps || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 || cond.Op != token.GEQ || post.Tok != token.DEC {
		return nil
	}
	i := f.defined(init.Lhs[0])
	last, ok := ast.Unparen(init.Rhs[0]).(*ast.BinaryExpr)
	if i == nil || !ok || last.Op != token.SUB || f.text(last.Y) != "1" || f.text(cond.X) != i.Name() || f.text(cond.Y) != "0" || f.text(post.X) != i.Name() {
		return nil
	}
	length, ok := last.X.(*ast.CallExpr)
	if !ok || len(length.Args) != 1 || f.text(length.Fun) != "len" {
		return nil
	}
	if _, ok := f.info().TypeOf(length.Args[0]).Underlying().(*types.Slice); !ok {
		return nil
	}
	return &loop{f: f, node: n, body: n.Body, over: length.Args[0], index: i}
}

// inside reports whether an object is declared in the loop, or is there once the rows of a
// result are gathered before it.
func (l *loop) inside(o types.Object) bool {
	if v, ok := o.(*types.Var); ok && l.rows != nil && l.rows.gives(v) {
		return true
	}
	return o != nil && o.Pos() >= l.node.Pos() && o.Pos() < l.node.End()
}

// fixed reports an expression that is the same in each turn, as far as what the loop does
// tells: names, fields and constants that nothing in the loop assigns.
func (l *loop) fixed(e ast.Expr, does *effects) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, isVar := l.f.info().Uses[n].(*types.Var)
			if isVar && (l.inside(v) || does.assigned[v]) {
				ok = false
			}
		case *ast.SelectorExpr, *ast.BasicLit, *ast.ParenExpr, *ast.BinaryExpr, *ast.CompositeLit, *ast.ArrayType, nil:
		case *ast.StarExpr:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && (n.Op == token.SUB || n.Op == token.NOT)
		case *ast.CallExpr:
			tv := l.f.info().Types[n.Fun]
			ok = ok && (tv.IsType() || l.f.requestContext(n) || l.f.ofTime(n) && !isPointer(l.f.info().TypeOf(n.Fun.(*ast.SelectorExpr).X)))
		case ast.Expr:
			ok = false
		}
		return ok
	})
	return ok
}

// requestContext is r.Context() of a request, or the request of echo where nothing gives
// it another one.
func (f *file) requestContext(n *ast.CallExpr) bool {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) != 0 {
		return false
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	if !ok {
		return false
	}
	if strings.Contains(pathOf(fn), "labstack/echo") && fn.Name() == "Request" {
		return !f.program.setsRequest
	}
	return pathOf(fn) == "net/http" && fn.Name() == "Context" || pathOf(fn) == "context" && fn.Name() == "Background"
}

// ofTime is a method of a point in time that gives the same each time.
func (f *file) ofTime(n *ast.CallExpr) bool {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	chosen := f.info().Selections[sel]
	return chosen != nil && chosen.Kind() == types.MethodVal && len(chosen.Index()) == 1 && named(f.info().TypeOf(sel.X), "time", "Time") &&
		slices.Contains([]string{"Format", "Unix", "UnixMilli", "UnixMicro", "UnixNano", "UTC", "Year", "Month", "Day", "Add", "AddDate", "Truncate", "String"}, sel.Sel.Name)
}

// turn is one value per element: a variable, or fields of a variable, that the loop does
// not change before it is asked for. The text is that of before the loop.
func (l *loop) turn(e ast.Expr, does *effects) (string, *Refusal) {
	e = ast.Unparen(e)
	changed := refuse("key", "the loop changes %s", short(l.f.text(e)))
	switch e := e.(type) {
	case *ast.Ident:
		v, ok := l.f.info().Uses[e].(*types.Var)
		if !ok {
			return l.f.text(e), nil // a constant
		}
		if does.assigned[v] {
			return "", changed
		}
		if name := l.nameBefore(v); name != "" {
			return name, nil
		}
		made := l.f.made(v)
		if made == nil {
			return "", refuse("key", "%s is not made of the loop's element in one place", e.Name)
		}
		if !types.Identical(l.f.info().TypeOf(made), v.Type()) {
			return "", refuse("key", "%s is of another type than what it is made of", e.Name)
		}
		return l.turn(made, does)
	case *ast.SelectorExpr:
		s := l.f.info().Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			if l.f.info().Types[e].Value != nil {
				return l.f.text(e), nil
			}
			return "", refuse("key", "%s is no field", short(l.f.text(e)))
		}
		field := s.Obj().(*types.Var)
		if does.assigned[field] || overwrites(does, l.f.info().TypeOf(e.X)) {
			return "", changed
		}
		if _, pointer := l.f.info().TypeOf(e.X).Underlying().(*types.Pointer); pointer {
			if _, deeper := ast.Unparen(e.X).(*ast.SelectorExpr); deeper {
				return "", refuse("key", "%s may be nil", short(l.f.text(e.X)))
			}
		}
		x, r := l.turn(e.X, does)
		return x + "." + e.Sel.Name, r
	case *ast.IndexExpr:
		if l.index == nil || l.f.text(e.X) != l.overText() || l.f.text(e.Index) != l.index.Name() {
			return "", refuse("key", "%s is no element of what the loop is over", short(l.f.text(e)))
		}
		root, r := l.turn(e.X, does)
		if r != nil || overwrites(does, l.f.info().TypeOf(e)) {
			return "", changed
		}
		return root + "[" + l.index.Name() + "]", nil
	case *ast.CallExpr:
		if l.f.info().Types[e.Fun].IsType() && len(e.Args) == 1 {
			x, r := l.turn(e.Args[0], does)
			return l.f.text(e.Fun) + "(" + x + ")", r
		}
	}
	return "", refuse("key", "%s is more than a value of the loop's element", short(l.f.text(e)))
}

// nameBefore is what a variable is called where keys are gathered; "" of one that the loop
// makes.
func (l *loop) nameBefore(v *types.Var) string {
	if part := l.part(v); part != "" {
		return part
	}
	if !l.inside(v) || v == l.index || v == l.value {
		return v.Name()
	}
	return ""
}

// overwrites reports whether a struct of a type, or what it points to, is assigned whole.
func overwrites(does *effects, t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return false
	}
	for _, w := range does.whole {
		if types.Identical(w, t) {
			return true
		}
	}
	return false
}

// toEnd refuses a loop that may end before the last element but for an error.
func (l *loop) toEnd() *Refusal { return l.ends(l.f.returnsError) }

// ends refuses a loop that may end early but by a return that may.
func (l *loop) ends(may func(*ast.ReturnStmt) bool) *Refusal { return l.endsBy(may, false) }

// endsBy is ends for a loop that may be left by a break.
func (l *loop) endsBy(may func(*ast.ReturnStmt) bool, breaks bool) *Refusal {
	var out *Refusal
	var look func(n ast.Node, inner bool)
	look = func(n ast.Node, inner bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				if m != n {
					look(m, true)
					return false
				}
			case *ast.BranchStmt:
				if m.Tok == token.GOTO || m.Label != nil || m.Tok == token.BREAK && !inner && !breaks {
					out = refuse("end", "it may end early: %s in line %d", m.Tok, l.f.line(m.Pos()))
				}
			case *ast.ReturnStmt:
				if !may(m) {
					out = refuse("end", "it may end early: return in line %d", l.f.line(m.Pos()))
				}
			}
			return true
		})
	}
	look(l.body, false)
	return out
}

// returnsError: the return stands in a branch that an error leads to.
func (f *file) returnsError(r *ast.ReturnStmt) bool {
	var n ast.Node = r
	for at := f.parents[n]; at != nil; n, at = at, f.parents[at] {
		switch at := at.(type) {
		case *ast.IfStmt:
			if n == at.Body && f.asksError(at.Cond) {
				return true
			}
			if n == at.Else {
				if f.asksError(at.Cond) && strings.Contains(f.text(at.Cond), "==") {
					return true
				}
			}
		case *ast.CaseClause:
			if f.caseOfError(at) {
				return true
			}
		case *ast.FuncDecl, *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		}
	}
	return false
}

// caseOfError: what leads to a case of a switch is an error.
func (f *file) caseOfError(at *ast.CaseClause) bool {
	tag, ok := f.parents[f.parents[at]].(*ast.SwitchStmt)
	switch {
	case !ok:
		return false
	case tag.Tag == nil:
		return len(at.List) == 1 && f.asksError(at.List[0])
	case !isError(f.info().TypeOf(tag.Tag)) || slices.ContainsFunc(at.List, func(e ast.Expr) bool { return f.text(e) == "nil" }):
		return false
	}
	return at.List != nil || f.hasNil(tag)
}

// hasNil: a switch over an error has a case for none.
func (f *file) hasNil(s *ast.SwitchStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool {
		clause, ok := c.(*ast.CaseClause)
		return ok && slices.ContainsFunc(clause.List, func(e ast.Expr) bool { return f.text(e) == "nil" })
	})
}

// asksError: a condition that an error is there, or is one of some kind.
func (f *file) asksError(cond ast.Expr) bool {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			return f.asksError(c.X) && (c.Op == token.LAND || f.asksError(c.Y))
		}
		return isError(f.info().TypeOf(c.X)) && (c.Op == token.NEQ || f.text(c.Y) != "nil")
	case *ast.CallExpr:
		return len(c.Args) == 2 && (f.text(c.Fun) == "errors.Is" || f.text(c.Fun) == "errors.As") && isError(f.info().TypeOf(c.Args[0]))
	}
	return false
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}
