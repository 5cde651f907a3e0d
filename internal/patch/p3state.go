package patch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkState refuses a loop that changes what others see when the function ends with an
// error: it would be changed for rows behind the one that failed, too.
func (w *insertLoop) checkState(around ast.Node) *Refusal {
	d, ok := enclosing[*ast.FuncDecl](w.f, w.call)
	for v := range w.does.assigned {
		local := v.Pos() >= around.Pos() && v.Pos() < around.End()
		inDecl := ok && v.Pos() >= d.Pos() && v.Pos() < d.End()
		if v.IsField() && !w.ofTurn(v) || !v.IsField() && v.Parent() == v.Pkg().Scope() || !v.IsField() && inDecl && !local {
			return refuse("error", "the loop changes %s, which others may see after an error", v.Name())
		}
	}
	return nil
}

// ofTurn: the field is changed of structs only that the turn itself makes: by the loop, or
// by methods that it calls of them.
func (w *insertLoop) ofTurn(field *types.Var) bool {
	if !w.changes(w.f, w.loop.body, nil, field) {
		return false
	}
	for fn := range w.does.seen {
		d := w.f.program.bodies[fn]
		if d == nil || d.Body == nil {
			return false
		}
		in := w.f.program.in[d]
		if !w.changes(in, d.Body, in.receiverOf(d), field) {
			return false
		}
		if in.assignsField(d.Body, field) && !w.calledOnTurns(fn) {
			return false
		}
	}
	return true
}

// receiverOf is that of a method, if it has a name.
func (f *file) receiverOf(d *ast.FuncDecl) *types.Var {
	if d.Recv == nil || len(d.Recv.List) != 1 || len(d.Recv.List[0].Names) != 1 {
		return nil
	}
	return f.defined(d.Recv.List[0].Names[0])
}

func (f *file) assignsField(body ast.Node, field *types.Var) bool {
	e := &effects{assigned: map[*types.Var]bool{}}
	ast.Inspect(body, func(n ast.Node) bool {
		f.assignsAt(e, n)
		return true
	})
	return e.assigned[field]
}

// changes: code changes the field of nothing but what a turn makes, or its receiver.
func (w *insertLoop) changes(f *file, body ast.Node, receiver, field *types.Var) bool {
	sure := true
	target := func(x ast.Expr) {
		for {
			x = ast.Unparen(x)
			i, ok := x.(*ast.IndexExpr)
			if !ok {
				break
			}
			x = i.X
		}
		if sel, ok := x.(*ast.SelectorExpr); ok && f.info().Uses[sel.Sel] == field {
			sure = sure && w.madeInTurn(f, sel.X, receiver)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				target(l)
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				target(n.X)
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				target(n.Key)
				target(n.Value)
			}
		}
		return true
	})
	return sure
}

// madeInTurn: a name is the receiver, or a variable of the loop that holds a struct, or the
// address of one that is made there.
func (w *insertLoop) madeInTurn(f *file, x ast.Expr, receiver *types.Var) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok {
		return false
	}
	if receiver != nil {
		return v == receiver
	}
	if f != w.f || !w.loop.inside(v) {
		return false
	}
	if _, ok := v.Type().Underlying().(*types.Struct); ok {
		return true
	}
	return isPointer(v.Type()) && w.neverNil(id)
}

// calledOnTurns: whatever calls a method in the loop calls it of what a turn makes, or is a
// method that is called so, of its own receiver.
func (w *insertLoop) calledOnTurns(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	sure := true
	look := func(f *file, body ast.Node, receiver *types.Var) {
		ast.Inspect(body, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != fn.Name() {
				return true
			}
			called, ok := f.info().Uses[sel.Sel].(*types.Func)
			if !ok {
				return true
			}
			of := called.Signature().Recv()
			switch {
			case of != nil && types.IsInterface(of.Type()):
				sure = false
			case called.Origin() == fn:
				sure = sure && w.madeInTurn(f, sel.X, receiver)
			}
			return true
		})
	}
	look(w.f, w.loop.body, nil)
	for other := range w.does.seen {
		d := w.f.program.bodies[other]
		in := w.f.program.in[d]
		receiver := in.receiverOf(d)
		if receiver != nil && !types.Identical(deref(receiver.Type()), deref(recv.Type())) {
			receiver = nil
		}
		if receiver == nil {
			look(in, d.Body, types.NewVar(token.NoPos, nil, "", recv.Type())) // of which no name is
			continue
		}
		look(in, d.Body, receiver)
	}
	return sure
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
