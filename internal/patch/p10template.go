package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// templatePlace is template.Must(…) in a function that requests run.
func (f *file) templatePlace(call *ast.CallExpr) *Place {
	at := f.place("P10", call, "templates parsed in each request")
	at.refused(f.own()).refused(f.inRequest(call))
	if !f.newer(21) {
		at.refused(refuse("compiles", "sync.OnceValue needs Go 1.21, and go.mod says less"))
	}
	if len(call.Args) != 1 {
		return at.refused(refuse("arguments", "they are not one call"))
	}
	moved := map[*types.Var]ast.Expr{}
	at.refused(f.templateChain(call.Args[0], moved)).refused(f.sharedValue(call, templateChanges))
	if at.Refused != nil {
		return at
	}
	variable := f.fresh(call, f.variableName(call, "templates"))
	typeText, ok := f.typeText(f.info().TypeOf(call))
	if !ok {
		return at.refused(refuse("compiles", "the type has no name in this file"))
	}
	at.replace(call, variable+"()")
	body := f.inlined(call, moved)
	in := f.indent(call.Pos())
	body = strings.ReplaceAll(body, "\n"+in, "\n\t")
	f.declareBefore(at, call, fmt.Sprintf("var %s = %s.OnceValue(func() %s {\n\treturn %s\n})\n", variable, f.packageName("sync"), typeText, body))
	for v := range moved {
		at.remove(f.definition(v))
	}
	at.imports = append(at.imports, "sync")
	at.Subject = "Parse the templates of " + f.function(call) + " once"
	at.Body = fmt.Sprintf("%s read and parsed its templates in each request. They are parsed at the first one now and kept; parsed templates may be executed by many goroutines at once. To see an edited file the program has to be started again.", f.function(call))
	return at
}

// templateChain shows that an expression is template.New(…).Funcs(…).ParseFiles(…) and the
// like of values that are the same in each call. moved are variables of the function that
// are only used in it, with what they are made of.
func (f *file) templateChain(e ast.Expr, moved map[*types.Var]ast.Expr) *Refusal {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return refuse("arguments", "%s is no call", short(f.text(e)))
	}
	path, name, fn := f.calls(call)
	if fn == nil || path != "html/template" && path != "text/template" {
		return refuse("arguments", "%s is no function of the template package", short(f.text(call.Fun)))
	}
	if fn.Signature().Recv() != nil {
		if name == "Clone" || name == "Lookup" {
			return refuse("shared", "%s makes it of another one", name)
		}
		if r := f.templateChain(call.Fun.(*ast.SelectorExpr).X, moved); r != nil {
			return r
		}
	}
	for _, a := range call.Args {
		if r := f.always(a, call, moved); r != nil {
			return r
		}
	}
	return nil
}

// always shows that an argument is the same in each call.
func (f *file) always(e ast.Expr, around *ast.CallExpr, moved map[*types.Var]ast.Expr) *Refusal {
	if f.info().Types[e].Value != nil {
		return f.global(e)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := f.info().Uses[e].(*types.Var)
		if !ok || v.Parent() == v.Pkg().Scope() {
			return f.global(e)
		}
		made := f.made(v)
		if made == nil || f.program.assigned[v] || f.usesOf(v) != 1 {
			return refuse("arguments", "%s is a variable of the function", e.Name)
		}
		if r := f.always(made, around, moved); r != nil {
			return r
		}
		moved[v] = made
		return nil
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			kv, ok := x.(*ast.KeyValueExpr)
			if ok {
				x = kv.Value
			}
			if r := f.always(x, around, moved); r != nil {
				return r
			}
		}
		return nil
	case *ast.FuncLit, *ast.SelectorExpr:
		return f.global(e)
	case *ast.CallExpr:
		path, name, fn := f.calls(e)
		pure := (path == "path" || path == "path/filepath") && name == "Join" || fn != nil && f.program.joins(fn) || f.info().Types[e.Fun].IsType()
		if !pure {
			return refuse("arguments", "%s may give another value in each call", short(f.text(e.Fun)))
		}
		for _, a := range e.Args {
			if r := f.always(a, around, moved); r != nil {
				return r
			}
		}
		return nil
	}
	return refuse("arguments", "%s is more than constants and functions", short(f.text(e)))
}

// joins: a function of the program that only puts its arguments together with constants.
func (p *Program) joins(fn *types.Func) bool {
	d := p.bodies[fn]
	if d == nil || d.Recv != nil || d.Body == nil || len(d.Body.List) != 1 {
		return false
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	f, pure := p.in[d], true
	ast.Inspect(ret.Results[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			path, name, _ := f.calls(n)
			pure = pure && (path == "path" || path == "path/filepath") && name == "Join"
		case *ast.Ident:
			if v, ok := f.info().Uses[n].(*types.Var); ok && v.Parent() == v.Pkg().Scope() && p.assigned[v] {
				pure = false
			}
		case *ast.UnaryExpr, *ast.StarExpr, *ast.IndexExpr, *ast.FuncLit:
			pure = false
		}
		return pure
	})
	return pure
}

func (f *file) usesOf(v *types.Var) int {
	n := 0
	for _, o := range f.info().Uses {
		if o == v {
			n++
		}
	}
	return n
}

// definition is the statement that makes a variable.
func (f *file) definition(v *types.Var) ast.Node {
	var out ast.Node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.info().Defs[id] == v {
			out = f.parents[id]
			if s, ok := out.(*ast.ValueSpec); ok {
				out = f.parents[s] // var ( … ) with one variable
			}
		}
		return true
	})
	return out
}

// inlined is the text of a call with variables replaced by what they are made of.
func (f *file) inlined(call *ast.CallExpr, moved map[*types.Var]ast.Expr) string {
	text, base := f.text(call), f.offset(call.Pos())
	var edits []edit
	ast.Inspect(call, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := f.info().Uses[id].(*types.Var); ok && moved[v] != nil {
				edits = append(edits, edit{from: f.offset(id.Pos()) - base, to: f.offset(id.End()) - base, text: f.text(moved[v])})
			}
		}
		return true
	})
	for i := len(edits) - 1; i >= 0; i-- {
		text = text[:edits[i].from] + edits[i].text + text[edits[i].to:]
	}
	return text
}
