package patch

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// others are packages through which statements are sent whose text does not stand there.
var others = []string{"gorm", "xorm", "entgo", "uptrace/bun", "squirrel", "sqlboiler", "os/exec", "plugin"}

// checkOnly: nothing of the program writes the tables. No text that names one is more than
// a SELECT, and of each that is run the source tells what it writes.
func (m *masterRead) checkOnly() (out *Refusal) {
	for _, pkg := range m.f.program.packages {
		for path := range pkg.Imports {
			if slices.ContainsFunc(others, func(o string) bool { return strings.Contains(path, o) }) {
				return refuse("writes", "%s may write, in words that do not stand in the source", path)
			}
		}
	}
	for _, f := range m.f.program.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && out == nil {
				out = f.runsForeignText(call)
			}
			e, ok := n.(ast.Expr)
			if !ok || out != nil {
				return out == nil
			}
			if v := f.info().Types[e].Value; v != nil && v.Kind() == constant.String {
				out = m.checkText(f, e, constant.StringVal(v))
				return false
			}
			return true
		})
	}
	return out
}

// changing are words of statements that may change a table.
var changing = wordSet("INSERT UPDATE DELETE REPLACE TRUNCATE LOAD ALTER DROP RENAME CREATE CALL INTO SET")

// checkText refuses a text that names a table and is no mere SELECT.
func (m *masterRead) checkText(f *file, e ast.Expr, text string) *Refusal {
	for _, t := range m.tables {
		if names(text, t) && changes(text) {
			return refuse("writes", "line %d of %s names %s in something else than a SELECT", f.line(e.Pos()), f.rel, t)
		}
	}
	return nil
}

func changes(text string) bool {
	if strings.EqualFold(firstWord(text), "SELECT") && !strings.Contains(text, ";") {
		_, writes, _, _ := touched(text)
		return writes
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r > 0x7f || !isWordByte(byte(r)) }),
		func(w string) bool { return changing[strings.ToUpper(w)] })
}

// runsForeignText refuses a statement of which the source does not tell what it writes.
func (f *file) runsForeignText(call *ast.CallExpr) *Refusal {
	var query ast.Expr
	if c := f.dbCall(call); c != nil && !c.known {
		query = c.query
	} else if path, name, fn := f.calls(call); c == nil && fn != nil && fn.Signature().Recv() == nil && path == sqlxPath && len(call.Args) > 1 &&
		slices.Contains([]string{"MustExec", "MustExecContext", "NamedExec", "NamedExecContext", "NamedQuery", "NamedQueryContext", "Preparex", "PreparexContext", "LoadFile", "LoadFileContext"}, name) {
		query = call.Args[1]
	}
	if query == nil || f.tellsTable(query, 0) {
		return nil
	}
	return refuse("writes", "line %d of %s runs a text of which the source does not tell what it writes", f.line(call.Pos()), f.rel)
}

// mostMade is how many variables are followed from a text to the constants that it is of.
const mostMade = 8

// tellsTable: a text begins with a constant that tells what it does, and of a write to
// which table.
func (f *file) tellsTable(e ast.Expr, depth int) bool {
	if v := f.info().Types[e].Value; v != nil && v.Kind() == constant.String {
		return headTells(constant.StringVal(v))
	}
	if depth > mostMade {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return f.tellsTable(e.X, depth+1)
	case *ast.CallExpr:
		path, name, fn := f.calls(e)
		switch {
		case fn == nil || len(e.Args) == 0:
		case path == "fmt" && name == "Sprintf":
			text, known := f.constant(e.Args[0])
			head, _, _ := strings.Cut(text, "%")
			return known && headTells(head)
		case path == sqlxPath && name == "Rebind":
			return f.tellsTable(e.Args[len(e.Args)-1], depth+1)
		case path == sqlxPath && (name == "In" || name == "Named"):
			return f.tellsTable(e.Args[0], depth+1)
		}
	case *ast.Ident:
		v, ok := f.info().Uses[e].(*types.Var)
		return ok && !v.IsField() && f.allTell(v, depth)
	}
	return false
}

// headTells: what a statement begins with is a SELECT, or a write with the name of its only
// table, and a word behind that.
func headTells(head string) bool {
	ws, ok := words(head)
	if !ok || len(ws) == 0 {
		return false
	}
	if ws[0].is("SELECT") {
		return true
	}
	if slices.ContainsFunc(ws, func(w word) bool { return w.is(";") }) {
		return false
	}
	p := &sqlParser{ws: ws, read: &read{text: head}, at: 1}
	after := map[string]bool{"(": true, "VALUES": true, "VALUE": true, "SELECT": true, "SET": true}
	switch strings.ToUpper(ws[0].text) {
	case "INSERT", "REPLACE":
		p.take("IGNORE")
		p.take("INTO")
	case "UPDATE":
		after = map[string]bool{"SET": true}
	case "DELETE":
		after = map[string]bool{"WHERE": true}
		if !p.take("FROM") {
			return false
		}
	default:
		return false
	}
	_, _, ok = p.name()
	return ok && after[strings.ToUpper(p.peek().text)]
}

// allTell: a local variable is only given texts that tell it.
func (f *file) allTell(v *types.Var, depth int) bool {
	given, all := false, !f.escapes(v)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || !all {
			return all
		}
		for i, l := range a.Lhs {
			if !f.isName(l, v) {
				continue
			}
			given = true
			switch {
			case a.Tok == token.ADD_ASSIGN:
			case len(a.Rhs) == len(a.Lhs):
				all = all && f.tellsTable(a.Rhs[i], depth+1)
			default:
				all = all && i == 0 && f.tellsTable(a.Rhs[0], depth+1)
			}
		}
		return all
	})
	return given && all
}

// Writes reports whether a statement, or its fingerprint, writes one of the tables, or may.
func Writes(statement string, tables []string) bool {
	written, writes, _, all := touched(statement)
	return writes && (all && slices.ContainsFunc(tables, func(t string) bool { return names(statement, t) }) ||
		slices.ContainsFunc(tables, func(t string) bool { return slices.Contains(written, strings.ToLower(t)) }))
}
