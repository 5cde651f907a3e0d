package goapp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Driver is the import path of the driver for MySQL and MariaDB.
const Driver = "github.com/go-sql-driver/mysql"

// NamedDatabase is how a program makes its data source name: the name of the database comes
// from a variable of its environment, and what stands behind the name is the program's.
type NamedDatabase struct {
	File string `json:"file"` // in the program's folder
	Line int    `json:"line"` // from 1
	// Variable of the environment, and what the program takes where it is not set.
	Variable string `json:"variable"`
	Default  string `json:"default,omitempty"`
	// First is the first parameter behind the name, "parseTime=true"; "" if there is none.
	First string `json:"first,omitempty"`
}

// WithValues is the database's name with the driver's option that puts values into the text
// of statements. The driver takes everything from the first "?" on for parameters, so what
// the program writes behind the name, "?parseTime=true&loc=Local", would be part of the last
// value here. That is a list of encodings of which the first that the server knows is
// taken (go-sql-driver/mysql, README, "charset"): what follows the comma is never used.
func (d *NamedDatabase) WithValues(database string) string {
	name := database + "?interpolateParams=true"
	key, value, _ := strings.Cut(d.First, "=")
	switch {
	case d.First == "":
		return name
	case key == "charset":
		return name + "&charset=" + value + ","
	}
	return name + "&" + d.First + "&charset=utf8mb4,"
}

// noValues are encodings in which the driver refuses to put values into the text (its
// README, "interpolateParams").
var noValues = []string{"big5", "cp932", "gb2312", "gbk", "sjis"}

// FindNamedDatabase finds that place in the files of a program's folder, path → content;
// driver is the version that it was built with, "v1.6.0". The error says why there is none:
// the option is chosen already, the name goes elsewhere, too, or the program is not understood.
func FindNamedDatabase(files map[string][]byte, driver string) (*NamedDatabase, error) {
	p := &program{set: token.NewFileSet(), escapes: atLeast(driver, 1, 8)}
	if !atLeast(driver, 1, 5) { // its encoding was another before
		return nil, fmt.Errorf("it was built with version %q of the driver", driver)
	}
	for name, content := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if strings.Contains(strings.ToLower(string(content)), "interpolateparams") {
			return nil, fmt.Errorf("%s has chosen already", name)
		}
		f, err := parser.ParseFile(p.set, name, content, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	return p.find()
}

// program is the syntax of one program.
type program struct {
	set     *token.FileSet
	files   []*ast.File
	escapes bool // FormatDSN writes the name escaped
}

func (p *program) find() (*NamedDatabase, error) {
	var found []*NamedDatabase
	for _, f := range p.files {
		for _, i := range f.Imports {
			if i.Path.Value == `"os/exec"` || i.Path.Value == `"plugin"` {
				return nil, fmt.Errorf("%s starts programs, which may take the same name", p.at(i).Filename)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if d := p.place(f, n); d != nil {
				d.File, d.Line = p.at(n).Filename, p.at(n).Line
				found = append(found, d)
				return false
			}
			return true
		})
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d places that put a name out of the environment into a data source name", len(found))
	}
	if n := p.mentions(found[0].Variable); n != 1 {
		return nil, fmt.Errorf("%s is named in %d places", found[0].Variable, n)
	}
	for _, e := range noValues {
		if strings.Contains(strings.ToLower(found[0].First), e) {
			return nil, fmt.Errorf("the driver does not do it in %s", found[0].First)
		}
	}
	return found[0], nil
}

func (p *program) at(n ast.Node) token.Position { return p.set.Position(n.Pos()) }

// place is what a node says about the data source name; nil if it is none that is understood.
func (p *program) place(f *ast.File, n ast.Node) *NamedDatabase {
	switch n := n.(type) {
	case *ast.CallExpr:
		return p.formatted(n)
	case *ast.BinaryExpr:
		return p.concatenated(n)
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
			if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "DBName" {
				if id, ok := sel.X.(*ast.Ident); ok {
					return p.configured(f, id.Name, nil, n.Rhs[0])
				}
			}
			if lit := configLiteral(n.Rhs[0]); lit != nil {
				if id, ok := n.Lhs[0].(*ast.Ident); ok {
					if name := fields(lit)["DBName"]; name != nil {
						return p.configured(f, id.Name, lit, name)
					}
				}
			}
		}
	}
	return nil
}

// formatted is fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true", …, name).
func (p *program) formatted(c *ast.CallExpr) *NamedDatabase {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Sprintf" || len(c.Args) < 2 {
		return nil
	}
	format, ok := text(c.Args[0])
	if !ok || strings.ContainsAny(format, "*[") {
		return nil
	}
	before, behind, ok := cutName(format, "%s")
	if !ok {
		if before, behind, ok = cutName(format, "%v"); !ok {
			return nil
		}
	}
	arg := 1 + strings.Count(strings.ReplaceAll(before, "%%", ""), "%")
	if arg >= len(c.Args) {
		return nil
	}
	first, ok := firstParameter(behind)
	if !ok || strings.Contains(first, "%") {
		return nil
	}
	return p.named(c.Args[arg], first)
}

// cutName cuts a data source name at what stands for the database.
func cutName(dsn, name string) (before, behind string, ok bool) {
	at := strings.Index(dsn, ")/"+name)
	if at < 0 || !strings.Contains(dsn[:at], "@") {
		return "", "", false
	}
	return dsn[:at+2], dsn[at+2+len(name):], true
}

// firstParameter of what stands behind the name. A "/" there would be taken for the one
// before the name.
func firstParameter(behind string) (string, bool) {
	if behind == "" {
		return "", true
	}
	all, ok := strings.CutPrefix(behind, "?")
	first, _, _ := strings.Cut(all, "&")
	return first, ok && strings.Contains(first, "=") && !strings.Contains(all, "/")
}

// concatenated is user + ":" + password + "@tcp(" + address + ")/" + name + "?parseTime=true".
func (p *program) concatenated(b *ast.BinaryExpr) *NamedDatabase {
	parts := addends(b)
	for i, e := range parts {
		s, ok := text(e)
		if !ok || !strings.HasSuffix(s, ")/") || i+1 == len(parts) || i+3 < len(parts) {
			continue
		}
		behind := ""
		if i+2 < len(parts) {
			if behind, ok = text(parts[i+2]); !ok {
				return nil
			}
		}
		if first, ok := firstParameter(behind); ok {
			return p.named(parts[i+1], first)
		}
	}
	return nil
}

func addends(e ast.Expr) []ast.Expr {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return append(addends(b.X), addends(b.Y)...)
	}
	return []ast.Expr{e}
}

// named is a place if the name comes from the environment.
func (p *program) named(e ast.Expr, first string) *NamedDatabase {
	variable, value, ok := p.environment(e, 0)
	if !ok {
		return nil
	}
	return &NamedDatabase{Variable: variable, Default: value, First: first}
}

// mentions counts where a program names a variable of its environment.
func (p *program) mentions(variable string) int {
	n := 0
	for _, f := range p.files {
		ast.Inspect(f, func(node ast.Node) bool {
			if lit, ok := node.(*ast.BasicLit); ok {
				if s, ok := text(lit); ok && strings.Contains(s, variable) {
					n++
				}
			}
			return true
		})
	}
	return n
}

// text is the value of a text in the source.
func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// atLeast compares a module's version, "v1.6.0"; false if it is none.
func atLeast(version string, major, minor int) bool {
	have := [2]int{}
	if n, _ := fmt.Sscanf(version, "v%d.%d", &have[0], &have[1]); n != 2 {
		return false
	}
	return slices.Compare(have[:], []int{major, minor}) >= 0
}
