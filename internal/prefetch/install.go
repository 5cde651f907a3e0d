package prefetch

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kasoku/accelerator"
)

// Install is the accelerator put into a Go module.
type Install struct {
	// Files are their texts by path: the library, the package that registers the driver, and
	// the files that open a database, changed.
	Files map[string][]byte
	// Opens are the places that are changed, Left those that are not, with the reason.
	Opens []string
	Left  []string
}

// The driver of the program, and the name that it has with rules.
const (
	driverModule = "github.com/go-sql-driver/mysql"
	driverName   = "mysql"
	fastName     = "mysql-accelerated"
	folder       = "internal/accelerator"
	registers    = folder + "/mysqldriver"
)

// openers are functions whose argument at a place is a driver's name, by package.
var openers = map[string]map[string]int{
	"database/sql":            {"Open": 0},
	"github.com/jmoiron/sqlx": {"Open": 0, "MustOpen": 0, "Connect": 0, "MustConnect": 0, "ConnectContext": 1},
}

const registerText = `// Package mysqldriver registers the driver "` + fastName + `": that of MySQL, which follows the
// rules in the file that ACCELERATOR_RULES names. Without one it is the driver as it is.
package mysqldriver

import (
	"os"

	"` + driverModule + `"

	"%s/` + folder + `"
)

func init() {
	accelerator.Register("` + fastName + `", &mysql.MySQLDriver{}, os.Getenv("ACCELERATOR_RULES"))
}
`

// PlanInstall finds where a module opens its database, and makes the files. It writes
// nothing. dir is the folder of go.mod.
func PlanInstall(dir string) (*Install, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("no Go module: %w", err)
	}
	module := moduleOf(mod)
	switch {
	case module == "":
		return nil, fmt.Errorf("%s names no module", filepath.Join(dir, "go.mod"))
	case !bytes.Contains(mod, []byte(driverModule)):
		return nil, fmt.Errorf("%s does not require %s, the driver that rules are for", filepath.Join(dir, "go.mod"), driverModule)
	}
	if _, err := os.Stat(filepath.Join(dir, folder)); err == nil {
		return nil, fmt.Errorf("%s is there already", filepath.Join(dir, folder))
	}
	in := &Install{Files: map[string][]byte{filepath.Join(dir, registers, "register.go"): fmt.Appendf(nil, registerText, module)}}
	if err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return skipped(dir, name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !e.Type().IsRegular() {
			return nil
		}
		return in.file(dir, name, module)
	}); err != nil {
		return nil, err
	}
	if len(in.Opens) == 0 {
		why := "no call of sql.Open or of sqlx with the driver's name \"" + driverName + "\""
		if len(in.Left) > 0 {
			why += "; " + strings.Join(in.Left, "; ")
		}
		return nil, errors.New(why)
	}
	return in, in.library(dir)
}

// library adds the accelerator's files.
func (in *Install) library(dir string) error {
	entries, err := accelerator.Source.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := accelerator.Source.ReadFile(e.Name())
		if err != nil {
			return err
		}
		in.Files[filepath.Join(dir, folder, e.Name())] = text
	}
	return nil
}

// moduleOf is the path of a module.
func moduleOf(mod []byte) string {
	for _, line := range strings.Split(string(mod), "\n") {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return strings.Trim(words[1], `"`)
		}
	}
	return ""
}

// skipped leaves out folders that are no part of the module's own source.
func skipped(dir, name string) error {
	base := filepath.Base(name)
	if name == dir {
		return nil
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || base == "vendor" || base == "testdata" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	return nil
}

// file changes a file if it opens a database.
func (in *Install) file(dir, name, module string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil // no program that builds has it
	}
	packages := imported(f)
	var changed []*ast.BasicLit
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		arg := driverArgument(call, packages)
		if arg == nil {
			return true
		}
		at := fmt.Sprintf("%s:%d", filepath.ToSlash(rel), fset.Position(call.Pos()).Line)
		lit, ok := arg.(*ast.BasicLit)
		switch {
		case !ok:
			in.Left = append(in.Left, at+": the driver's name is no constant there")
		case lit.Value != strconv.Quote(driverName):
			in.Left = append(in.Left, at+": the driver is "+lit.Value)
		case ast.IsGenerated(f):
			in.Left = append(in.Left, at+": the file is generated")
		default:
			changed = append(changed, lit)
			in.Opens = append(in.Opens, at)
		}
		return true
	})
	if len(changed) > 0 {
		in.Files[name] = edited(text, fset, f, changed, module)
	}
	return nil
}

// imported are the packages with openers that a file imports, by their names in it.
func imported(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil || openers[path] == nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = path
	}
	return out
}

// driverArgument is the argument of a call that is a driver's name, nil if it has none.
func driverArgument(call *ast.CallExpr, packages map[string]string) ast.Expr {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || x.Obj != nil || packages[x.Name] == "" {
		return nil
	}
	at, ok := openers[packages[x.Name]][sel.Sel.Name]
	if !ok || len(call.Args) <= at {
		return nil
	}
	return call.Args[at]
}

// edited is a file with the driver's other name, and with the package that registers it.
func edited(text []byte, fset *token.FileSet, f *ast.File, names []*ast.BasicLit, module string) []byte {
	out := slices.Clone(text)
	for _, lit := range slices.Backward(names) {
		from, to := fset.Position(lit.Pos()).Offset, fset.Position(lit.End()).Offset
		out = slices.Concat(out[:from], []byte(strconv.Quote(fastName)), out[to:])
	}
	// Beside the driver if that is imported here, else behind the last one.
	after := f.Imports[len(f.Imports)-1]
	for _, i := range f.Imports {
		if i.Path.Value == strconv.Quote(driverModule) {
			after = i
		}
	}
	line := "\n\t_ " + strconv.Quote(module+"/"+registers)
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Pos() <= after.Pos() && after.End() <= g.End() && !g.Lparen.IsValid() {
			line = "\nimport _ " + strconv.Quote(module+"/"+registers)
		}
	}
	at := fset.Position(after.End()).Offset
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		at += n // behind a comment of that line
	}
	out = slices.Concat(out[:at], []byte(line), out[at:])
	if was, err := format.Source(text); err == nil && bytes.Equal(was, text) {
		if is, err := format.Source(out); err == nil {
			return is
		}
	}
	return out
}
