package patch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

const option = "interpolateParams"

// refusedCharsets are those in which the driver refuses to put values into the text
// (go-sql-driver/mysql, README, interpolateParams).
var refusedCharsets = []string{"big5", "cp932", "gb2312", "gbk", "sjis"}

const (
	optionWhat = "a connection that prepares each statement with values"
	optionBody = "Without interpolateParams the driver prepares every statement that has values, runs it and closes it: two round trips and a third message for each. With it, values are put into the text by the driver, escaped as the connection's character set needs, and one round trip is left. Statements that the program prepares itself stay prepared."
)

// openPlace is sql.Open and its like with a DSN.
func (f *file) openPlace(call *ast.CallExpr) *Place {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	if !ok || fn.Signature().Recv() != nil || len(call.Args) < 2 || pathOf(fn) != sqlPath && pathOf(fn) != sqlxPath {
		return f.newConfigPlace(call, fn)
	}
	if !slices.Contains([]string{"Open", "Connect", "MustOpen", "MustConnect", "ConnectContext"}, fn.Name()) {
		return nil
	}
	args := call.Args
	if fn.Name() == "ConnectContext" && len(args) > 2 {
		args = args[1:]
	}
	at := f.place("P5", call, optionWhat)
	at.Subject = "Let the driver put values into statements"
	at.Body = optionBody
	if driver, ok := f.constant(args[0]); ok && driver != "mysql" {
		return nil
	}
	if made := f.dsnMade(args[1]); made != nil {
		if c, ok := made.(*ast.CallExpr); ok && f.formatsConfig(c) {
			return nil // the configuration is a place of its own
		}
	}
	at.refused(f.own()).refused(f.program.onlyMySQL()).refused(f.program.sameByText())
	if at.Refused == nil {
		at.refused(f.addToDSN(at, args[1]))
	}
	return at
}

func (f *file) formatsConfig(c *ast.CallExpr) bool {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := f.info().Uses[sel.Sel].(*types.Func)
	return ok && fn.Name() == "FormatDSN" && pathOf(fn) == driverPath
}

// dsnMade is the expression that a DSN is made by: itself, or what a variable is made from.
func (f *file) dsnMade(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		if v, ok := f.info().Uses[id].(*types.Var); ok {
			return f.made(v)
		}
	}
	return e
}

// addToDSN edits the literal that ends the DSN.
func (f *file) addToDSN(at *Place, e ast.Expr) *Refusal {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		switch o := f.info().Uses[id].(type) {
		case *types.Var:
			if f.program.assigned[o] || f.made(o) == nil {
				return refuse("option", "%s is not made in one place", id.Name)
			}
			e = f.made(o)
		case *types.Const:
			return f.addToConstant(at, o)
		}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		return f.addToLiteral(at, e, false, e)
	case *ast.BinaryExpr:
		last, ok := e.Y.(*ast.BasicLit)
		if ok && e.Op == token.ADD {
			return f.addToLiteral(at, last, false, e)
		}
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok || len(e.Args) == 0 {
			break
		}
		fn, ok := f.info().Uses[sel.Sel].(*types.Func)
		if lit, isLit := e.Args[0].(*ast.BasicLit); ok && isLit && pathOf(fn) == "fmt" && fn.Name() == "Sprintf" {
			return f.addToLiteral(at, lit, true, e)
		}
	}
	return refuse("option", "its parameters are not in the text of the source")
}

// addToConstant edits a constant that only this place uses.
func (f *file) addToConstant(at *Place, c *types.Const) *Refusal {
	uses := 0
	var lit *ast.BasicLit
	for _, other := range f.program.files {
		for _, o := range other.info().Uses {
			if o == c {
				uses++
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok {
			for i, id := range s.Names {
				if f.info().Defs[id] == c && i < len(s.Values) {
					lit, _ = s.Values[i].(*ast.BasicLit)
				}
			}
		}
		return true
	})
	if lit == nil || uses != 1 {
		return refuse("option", "the constant %s is used elsewhere, or not one text of this file", c.Name())
	}
	return f.addToLiteral(at, lit, false, lit)
}

// addToLiteral adds the option at the end of a literal, which is that of the DSN; whole is
// all that the DSN is made of.
func (f *file) addToLiteral(at *Place, lit *ast.BasicLit, formatted bool, whole ast.Expr) *Refusal {
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return refuse("option", "its parameters are not in the text of the source")
	}
	all := ""
	ast.Inspect(whole, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				all += s
			}
		}
		return true
	})
	slash := strings.LastIndex(all, "/")
	if at := strings.Index(all, "?"); at >= 0 {
		slash = strings.LastIndex(all[:at], "/")
	}
	_, params, has := strings.Cut(all[max(slash, 0):], "?")
	switch {
	case slash < 0:
		return refuse("option", "its text has no name of a database")
	case strings.Contains(params, option):
		return refuse("option", "%s is among its parameters already", option)
	case has && !strings.Contains(text, "?"), formatted && endsOpen(text, params):
		return refuse("option", "its parameters are not all in the text of the source")
	}
	if r := charset(params); r != nil {
		return r
	}
	add := "?" + option + "=true"
	switch {
	case has && (params == "" || strings.HasSuffix(params, "&")):
		add = option + "=true"
	case has:
		add = "&" + option + "=true"
	}
	end := f.offset(lit.End()) - 1
	at.edits = append(at.edits, edit{from: end, to: end, text: add})
	return nil
}

// endsOpen: a format whose parameters, or the name without any, come from a value that may
// have parameters of its own.
func endsOpen(text, params string) bool {
	return params != "" && !strings.Contains(params, "=") || strings.HasSuffix(text, "?%s") || strings.HasSuffix(text, "&%s")
}

// charset refuses what the driver does.
func charset(params string) *Refusal {
	for _, p := range strings.Split(params, "&") {
		name, value, _ := strings.Cut(p, "=")
		if name != "charset" && name != "collation" {
			continue
		}
		if strings.Contains(value, "%") {
			return refuse("charset", "it is a value of the program")
		}
		for _, c := range refusedCharsets {
			if strings.Contains(strings.ToLower(value), c) {
				return refuse("charset", "it is %s", value)
			}
		}
	}
	return nil
}

// newConfigPlace is mysql.NewConfig().
func (f *file) newConfigPlace(call *ast.CallExpr, fn *types.Func) *Place {
	if fn == nil || pathOf(fn) != driverPath || fn.Name() != "NewConfig" {
		return nil
	}
	at := f.place("P5", call, optionWhat)
	at.Subject, at.Body = "Let the driver put values into statements", optionBody
	at.refused(f.own()).refused(f.program.sameByText())
	assign, ok := f.parents[call].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return at.refused(refuse("option", "the configuration is not put into a variable"))
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return at.refused(refuse("option", "the configuration is not put into a variable"))
	}
	v := f.info().ObjectOf(id)
	if at.refused(f.configSet(v)); at.Refused == nil {
		at.after(assign, f.indent(assign.Pos())+id.Name+".InterpolateParams = true\n")
	}
	return at
}

// configSet refuses a configuration that says already what it wants, or has a charset
// that the driver refuses.
func (f *file) configSet(v types.Object) *Refusal {
	var r *Refusal
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, l := range assign.Lhs {
			sel, ok := l.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || f.info().ObjectOf(id) != v {
				continue
			}
			switch sel.Sel.Name {
			case "InterpolateParams":
				r = refuse("option", "InterpolateParams is set already, in line %d", f.line(l.Pos()))
			case "Collation":
				r = f.collation(assign.Rhs[min(i, len(assign.Rhs)-1)])
			case "Params":
				r = f.paramsCharset(assign.Rhs[min(i, len(assign.Rhs)-1)])
			}
		}
		return true
	})
	return r
}

// collation refuses one that is not known, or that the driver refuses.
func (f *file) collation(e ast.Expr) *Refusal {
	text, ok := f.constant(e)
	if !ok {
		return refuse("charset", "the collation is a value of the program")
	}
	return charset("collation=" + text)
}

// paramsCharset is collation for a map of parameters.
func (f *file) paramsCharset(e ast.Expr) *Refusal {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return refuse("charset", "the parameters are a value of the program")
	}
	for _, x := range lit.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := f.constant(kv.Key)
		if !ok || name == "charset" {
			value, known := f.constant(kv.Value)
			if !ok || !known {
				return refuse("charset", "the parameters are a value of the program")
			}
			if r := charset("charset=" + value); r != nil {
				return r
			}
		}
		if name == option {
			return refuse("option", "%s is among its parameters already", option)
		}
	}
	return nil
}

// configPlace is a literal of mysql.Config.
func (f *file) configPlace(lit *ast.CompositeLit) *Place {
	if t := f.info().TypeOf(lit); t == nil || !named(t, driverPath, "Config") {
		return nil
	}
	at := f.place("P5", lit, optionWhat)
	at.Subject, at.Body = "Let the driver put values into statements", optionBody
	at.refused(f.own()).refused(f.program.sameByText())
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return at.refused(refuse("option", "its fields have no names"))
		}
		switch f.text(kv.Key) {
		case "InterpolateParams":
			return at.refused(refuse("option", "InterpolateParams is set already"))
		case "Collation":
			at.refused(f.collation(kv.Value))
		case "Params":
			at.refused(f.paramsCharset(kv.Value))
		}
	}
	if len(lit.Elts) == 0 {
		return at.refused(refuse("option", "the configuration is empty where it is made"))
	}
	var n ast.Node = lit
	if u, ok := f.parents[lit].(*ast.UnaryExpr); ok {
		n = u
	}
	if assign, ok := f.parents[n].(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
		if id, ok := assign.Lhs[0].(*ast.Ident); ok {
			at.refused(f.configSet(f.info().ObjectOf(id)))
		}
	}
	if at.Refused != nil {
		return at
	}
	last := lit.Elts[len(lit.Elts)-1]
	if f.line(last.End()) == f.line(lit.Rbrace) {
		end := f.offset(last.End())
		at.edits = append(at.edits, edit{from: end, to: end, text: ", InterpolateParams: true"})
		return at
	}
	at.after(last, f.indent(last.Pos())+"InterpolateParams: true,\n")
	return at
}
