package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// settings of a type whose Reset keeps them are the same each time, and made each time.
func (r *remade) settings() *Refusal {
	if !r.of.fixed {
		return nil
	}
	var out *Refusal
	f := r.f
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || out != nil {
			return out == nil
		}
		root, ok := f.rootOf(sel)
		if !ok || f.info().Uses[root] != r.v {
			return true
		}
		if chosen := f.info().Selections[sel]; chosen != nil && chosen.Kind() == types.FieldVal {
			if a, ok := f.parents[sel].(*ast.AssignStmt); ok && slices.Contains(a.Lhs, ast.Expr(sel)) {
				out = r.setting(a, a.Rhs...)
			}
		} else if sel.Sel.Name == "Apply" {
			out = r.applied(sel)
		}
		return true
	})
	return out
}

// rootOf is the name that a.b.c begins with.
func (f *file) rootOf(e ast.Expr) (*ast.Ident, bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.Ident:
			return x, true
		default:
			return nil, false
		}
	}
}

// setting is a statement that sets something, by constants, in each call.
func (r *remade) setting(s ast.Stmt, values ...ast.Expr) *Refusal {
	if r.f.parents[s] != r.f.parents[r.stmt] {
		return refuse("settings", "line %d sets something in some calls only", r.f.line(s.Pos()))
	}
	for _, v := range values {
		if r.f.info().Types[v].Value == nil {
			return refuse("settings", "line %d sets %s, which may be another one in each call", r.f.line(s.Pos()), short(r.f.text(v)))
		}
	}
	return nil
}

// applied is w.Apply(option(constant), …).
func (r *remade) applied(sel *ast.SelectorExpr) *Refusal {
	f := r.f
	call, ok := f.parents[sel].(*ast.CallExpr)
	if !ok {
		return refuse("settings", "Apply is not called")
	}
	var values []ast.Expr
	for _, a := range call.Args {
		option, ok := ast.Unparen(a).(*ast.CallExpr)
		if !ok {
			return refuse("settings", "%s is an option that is not known", short(f.text(a)))
		}
		_, name, _ := f.calls(option)
		if !slices.Contains([]string{"BlockSizeOption", "CompressionLevelOption", "ChecksumOption", "BlockChecksumOption"}, name) {
			return refuse("settings", "%s is an option that is not known", short(f.text(a)))
		}
		values = append(values, option.Args...)
	}
	for n := f.parents[call]; n != nil; n = f.parents[n] {
		if s, ok := n.(ast.Stmt); ok && f.listed(s) {
			return r.setting(s, values...)
		}
	}
	return refuse("settings", "Apply is called in no statement")
}

// values refuses a buffer, not a pointer to one, that is copied.
func (r *remade) values(in ast.Node) (out *Refusal) {
	if !r.value {
		return nil
	}
	f := r.f
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || f.info().Uses[id] != r.v {
			return out == nil
		}
		switch up := f.parents[id].(type) {
		case *ast.SelectorExpr:
			return out == nil
		case *ast.UnaryExpr:
			if up.Op == token.AND {
				return out == nil
			}
		}
		out = refuse("kept", "%s is copied, in line %d", id.Name, f.line(id.Pos()))
		return false
	})
	return out
}
