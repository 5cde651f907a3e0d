package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strings"
)

// findMade finds P10.
func findMade(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if at := f.madePlace(call); at != nil {
					out = append(out, at)
				}
			}
			return true
		})
	}
	return out
}

// calls is the function that an expression calls, as "regexp.MustCompile".
func (f *file) calls(call *ast.CallExpr) (path, name string, fn *types.Func) {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		id = fun.Sel
	case *ast.Ident:
		id = fun
	default:
		return "", "", nil
	}
	fn, ok := f.info().Uses[id].(*types.Func)
	if !ok {
		return "", "", nil
	}
	return pathOf(fn), fn.Name(), fn
}

func (f *file) madePlace(call *ast.CallExpr) *Place {
	path, name, fn := f.calls(call)
	if fn == nil || fn.Signature().Recv() != nil {
		return nil
	}
	switch {
	case path == "regexp" && (name == "MustCompile" || name == "Compile" || name == "MustCompilePOSIX"):
		return f.regexpPlace(call, name)
	case path == "regexp" && (name == "MatchString" || name == "Match"):
		return f.matchPlace(call, name)
	case (path == "html/template" || path == "text/template") && name == "Must":
		return f.templatePlace(call)
	}
	return nil
}

func (f *file) regexpPlace(call *ast.CallExpr, name string) *Place {
	at := f.place("P10", call, "a regular expression compiled in each call")
	at.refused(f.own()).refused(f.inRequest(call)).refused(f.pattern(call))
	var n ast.Node = call
	if name == "Compile" {
		assign, ok := f.parents[call].(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 2 || f.text(assign.Lhs[1]) != "_" {
			at.refused(refuse("error", "its error is looked at"))
		} else {
			n = assign
		}
	}
	if at.refused(f.sharedValue(n, regexpChanges)); at.Refused != nil {
		return at
	}
	variable := f.fresh(call, f.variableName(n, "pattern"))
	if assign, ok := n.(*ast.AssignStmt); ok && name == "Compile" {
		at.replace(assign, f.text(assign.Lhs[0])+" "+assign.Tok.String()+" "+variable)
		pkg := strings.TrimSuffix(f.text(call.Fun), "Compile")
		f.declareBefore(at, call, fmt.Sprintf("var %s = %sMustCompile(%s)\n", variable, pkg, f.text(call.Args[0])))
	} else {
		at.replace(call, variable)
		f.declareBefore(at, call, fmt.Sprintf("var %s = %s\n", variable, f.text(call)))
	}
	at.Subject = "Compile a regular expression of " + f.function(call) + " once"
	at.Body = fmt.Sprintf("%s compiled the same regular expression in each call, which costs more than most matches. It is compiled once now, when the program starts; a compiled expression may be used by many goroutines at once.", f.function(call))
	return at
}

// pattern shows that the pattern is a constant of the package that compiles.
func (f *file) pattern(call *ast.CallExpr) *Refusal {
	if len(call.Args) == 0 {
		return refuse("arguments", "it has none")
	}
	if v := f.info().Types[call.Args[0]].Value; v == nil {
		return refuse("arguments", "the pattern is a value of the program")
	}
	text, _ := f.constant(call.Args[0])
	if _, err := regexp.Compile(text); err != nil {
		return refuse("arguments", "the pattern does not compile")
	}
	return f.global(call.Args[0])
}

// global refuses an expression that names something of the function.
func (f *file) global(e ast.Node) *Refusal {
	var r *Refusal
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := f.info().Uses[id]
		if o == nil || o.Pkg() == nil || o.Pos() >= e.Pos() && o.Pos() < e.End() {
			return true
		}
		switch o := o.(type) {
		case *types.PkgName:
		case *types.Var:
			if o.IsField() {
				return true
			}
			if o.Parent() != o.Pkg().Scope() {
				r = refuse("arguments", "%s is a variable of the function", o.Name())
			} else if f.program.assigned[o] || !f.program.isOwnPackage(o.Pkg()) {
				r = refuse("arguments", "the variable %s may be assigned when the program runs", o.Name())
			}
		case *types.Func:
		default:
			if o.Parent() != o.Pkg().Scope() {
				r = refuse("arguments", "%s is declared in the function", o.Name())
			}
		}
		return true
	})
	return r
}

func (p *Program) isOwnPackage(pkg *types.Package) bool {
	for _, own := range p.packages {
		if own.Types == pkg {
			return true
		}
	}
	return false
}

// matchPlace is regexp.MatchString with a pattern that is a constant.
func (f *file) matchPlace(call *ast.CallExpr, name string) *Place {
	at := f.place("P10", call, "a regular expression compiled in each call")
	at.refused(f.own()).refused(f.inRequest(call)).refused(f.pattern(call))
	assign, ok := f.parents[call].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || f.text(assign.Lhs[1]) != "_" {
		return at.refused(refuse("error", "its error is looked at"))
	}
	if at.Refused != nil {
		return at
	}
	variable := f.fresh(call, lower(camel(f.functionName(call)))+"Pattern")
	pkg := strings.TrimSuffix(f.text(call.Fun), name)
	at.replace(assign, fmt.Sprintf("%s %s %s.%s(%s)", f.text(assign.Lhs[0]), assign.Tok, variable, name, f.text(call.Args[1])))
	f.declareBefore(at, call, fmt.Sprintf("var %s = %sMustCompile(%s)\n", variable, pkg, f.text(call.Args[0])))
	at.Subject = "Compile a regular expression of " + f.function(call) + " once"
	at.Body = fmt.Sprintf("%s compiled the same regular expression in each call, which costs more than most matches. It is compiled once now, when the program starts. Its error is gone with that: the pattern is a constant that compiles.", f.function(call))
	return at
}

// variableName is what the package calls the value: as the function did.
func (f *file) variableName(n ast.Node, otherwise string) string {
	assign, ok := n.(*ast.AssignStmt)
	if !ok {
		assign, ok = f.parents[n].(*ast.AssignStmt)
	}
	if ok && len(assign.Lhs) > 0 {
		if id, ok := assign.Lhs[0].(*ast.Ident); ok && id.Name != "_" && len(id.Name) > 2 {
			return lower(camel(f.functionName(n))) + camel(id.Name)
		}
	}
	return lower(camel(f.functionName(n))) + camel(otherwise)
}

func (f *file) functionName(n ast.Node) string {
	name := f.function(n)
	return name[strings.LastIndex(name, ".")+1:]
}

// declareBefore puts a declaration in front of the function that a node is in, and its
// comment.
func (f *file) declareBefore(at *Place, n ast.Node, text string) {
	d, ok := enclosing[*ast.FuncDecl](f, n)
	if !ok {
		return
	}
	var first ast.Node = d
	if d.Doc != nil {
		first = d.Doc
	}
	at.before(first, text+"\n")
}

// What changes a value, by method.
var (
	regexpChanges   = map[string]bool{"Longest": true, "UnmarshalText": true}
	templateChanges = map[string]bool{"Funcs": true, "Parse": true, "ParseFiles": true, "ParseGlob": true, "ParseFS": true, "AddParseTree": true, "Delims": true, "Option": true, "New": true, "Lookup": true}
)

// sharedValue shows that what is made is only used by methods that change nothing. n is
// the call, or the assignment of it.
func (f *file) sharedValue(n ast.Node, changes map[string]bool) *Refusal {
	assign, ok := n.(*ast.AssignStmt)
	if !ok {
		if sel, ok := f.parents[n].(*ast.SelectorExpr); ok {
			if changes[sel.Sel.Name] {
				return refuse("shared", "%s changes it", sel.Sel.Name)
			}
			return nil
		}
		if assign, ok = f.parents[n].(*ast.AssignStmt); !ok {
			return refuse("shared", "it is given away as it is made")
		}
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || len(assign.Rhs) != 1 {
		return refuse("shared", "it is given away as it is made")
	}
	v := f.info().ObjectOf(id)
	if o, ok := v.(*types.Var); !ok || o.Parent() == o.Pkg().Scope() {
		return refuse("shared", "it is put into a variable of the package")
	}
	var r *Refusal
	for use, o := range f.info().Uses {
		if o != v || use == id {
			continue
		}
		sel, ok := f.parents[use].(*ast.SelectorExpr)
		switch {
		case !ok:
			r = refuse("shared", "%s is given away, in line %d", id.Name, f.line(use.Pos()))
		case changes[sel.Sel.Name]:
			r = refuse("shared", "%s changes it, in line %d", sel.Sel.Name, f.line(use.Pos()))
		}
	}
	return r
}
