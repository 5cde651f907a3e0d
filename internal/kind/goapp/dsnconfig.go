package goapp

import (
	"go/ast"
	"maps"
	"strings"
)

// configParameters are the fields of mysql.Config that FormatDSN writes behind the
// database's name, in its order, each with the value that it leaves out
// (go-sql-driver/mysql, dsn.go, "FormatDSN").
var configParameters = []struct{ field, parameter, usual string }{
	{"AllowAllFiles", "allowAllFiles", "false"},
	{"AllowCleartextPasswords", "allowCleartextPasswords", "false"},
	{"AllowFallbackToPlaintext", "allowFallbackToPlaintext", "false"},
	{"AllowNativePasswords", "allowNativePasswords", "true"},
	{"AllowOldPasswords", "allowOldPasswords", "false"},
	{"CheckConnLiveness", "checkConnLiveness", "true"},
	{"ClientFoundRows", "clientFoundRows", "false"},
	{"Collation", "collation", "utf8mb4_general_ci"},
	{"ColumnsWithAlias", "columnsWithAlias", "false"},
	{"Loc", "loc", "UTC"},
	{"MultiStatements", "multiStatements", "false"},
	{"ParseTime", "parseTime", "false"},
}

// laterParameters are those that it writes behind them.
var laterParameters = []string{"ReadTimeout", "RejectReadOnly", "ServerPubKey", "Timeout", "TLSConfig", "WriteTimeout", "MaxAllowedPacket", "Params", "ConnectionAttributes"}

// configured is a mysql.Config in a variable, made by mysql.NewConfig or by a literal, whose
// FormatDSN the program opens. Versions from 1.8 on escape the name there.
func (p *program) configured(f *ast.File, variable string, lit *ast.CompositeLit, name ast.Expr) *NamedDatabase {
	if p.escapes || !imports(f, Driver) || !calls(f, variable, "FormatDSN") {
		return nil
	}
	set := fields(lit)
	made := lit != nil
	ast.Inspect(f, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == variable && lit == nil {
			if l := configLiteral(a.Rhs[0]); l != nil {
				made = true
				maps.Copy(set, fields(l))
			}
		}
		if sel, ok := a.Lhs[0].(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == variable {
				set[sel.Sel.Name] = a.Rhs[0]
			}
		}
		return true
	})
	first, ok := firstOfConfig(set, made)
	if !ok {
		return nil
	}
	return p.named(name, first)
}

// firstOfConfig is the first parameter that FormatDSN writes; literal: what the program does
// not set has Go's zero, not what NewConfig sets. False if that cannot be told.
func firstOfConfig(set map[string]ast.Expr, literal bool) (string, bool) {
	for _, c := range configParameters {
		value := c.usual
		switch e := set[c.field]; {
		case e != nil:
			var ok bool
			if value, ok = configValue(e); !ok {
				return "", false
			}
		case literal && c.usual == "true":
			value = "false"
		}
		if value != c.usual {
			return c.parameter + "=" + value, true
		}
	}
	for _, field := range laterParameters {
		if set[field] != nil {
			return "", false
		}
	}
	if literal {
		return "", false // maxAllowedPacket=0
	}
	return "", true
}

// configValue is a field's value as FormatDSN writes it: true, false, a text, time.Local.
func configValue(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name, e.Name == "true" || e.Name == "false"
	case *ast.SelectorExpr:
		return e.Sel.Name, e.Sel.Name == "Local" || e.Sel.Name == "UTC"
	}
	s, ok := text(e)
	return s, ok && s != "" && !strings.ContainsAny(s, "?&/%")
}

// configLiteral is mysql.Config{…} or &mysql.Config{…}; nil if e is neither.
func configLiteral(e ast.Expr) *ast.CompositeLit {
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if sel, ok := lit.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Config" {
		return lit
	}
	return nil
}

// fields of a literal by name; none of nil.
func fields(lit *ast.CompositeLit) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	if lit == nil {
		return out
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				out[id.Name] = kv.Value
			}
		}
	}
	return out
}

func imports(f *ast.File, path string) bool {
	for _, i := range f.Imports {
		if i.Path.Value == `"`+path+`"` {
			return true
		}
	}
	return false
}

// calls reports whether a file calls a method of a variable.
func calls(f *ast.File, variable, method string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == method {
				id, ok := sel.X.(*ast.Ident)
				found = found || ok && id.Name == variable
			}
		}
		return !found
	})
	return found
}

// mostHops from a value to the variable of the environment that it comes from.
const mostHops = 4

// environment follows a value to the variable that it comes from: os.Getenv("X"), a call with
// "env" in its name and a value for where it is not set, a variable or a field that one
// place sets so, and others to a text.
func (p *program) environment(e ast.Expr, hops int) (variable, unset string, ok bool) {
	if hops > mostHops {
		return "", "", false
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		name := ""
		switch fn := e.Fun.(type) {
		case *ast.Ident:
			name = fn.Name
		case *ast.SelectorExpr:
			name = fn.Sel.Name
		}
		if len(e.Args) == 0 || len(e.Args) > 2 || !strings.Contains(strings.ToLower(name), "env") {
			return "", "", false
		}
		if len(e.Args) == 2 {
			if unset, ok = text(e.Args[1]); !ok {
				return "", "", false
			}
		}
		variable, ok = text(e.Args[0])
		return variable, unset, ok
	case *ast.Ident:
		return p.settled(e.Name, hops)
	case *ast.SelectorExpr:
		return p.settled("."+e.Sel.Name, hops)
	}
	return "", "", false
}

// settled follows a variable, or with "." a field: one value of the environment, and at most
// one text for where that is not set.
func (p *program) settled(name string, hops int) (variable, unset string, ok bool) {
	for _, v := range p.values(name) {
		if s, is := text(v); is {
			if unset != "" && unset != s {
				return "", "", false
			}
			unset = s
			continue
		}
		from, otherwise, is := p.environment(v, hops+1)
		if !is || variable != "" {
			return "", "", false
		}
		variable = from
		if otherwise != "" {
			unset = otherwise
		}
	}
	return variable, unset, variable != ""
}

// values are all that a program puts into a variable of this name, or a field.
func (p *program) values(name string) []ast.Expr {
	var out []ast.Expr
	field, isField := strings.CutPrefix(name, ".")
	put := func(l, r ast.Expr) {
		switch l := l.(type) {
		case *ast.Ident:
			if !isField && l.Name == name {
				out = append(out, r)
			}
		case *ast.SelectorExpr:
			if isField && l.Sel.Name == field {
				out = append(out, r)
			}
		}
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					put(l, n.Rhs[min(i, len(n.Rhs)-1)]) // of x, ok := os.LookupEnv(…) the first
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if len(n.Values) > 0 {
						put(id, n.Values[min(i, len(n.Values)-1)])
					}
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && isField && id.Name == field {
					out = append(out, n.Value)
				}
			}
			return true
		})
	}
	return out
}
