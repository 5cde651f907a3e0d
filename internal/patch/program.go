package patch

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"kasoku/internal/tables"
)

// Program is the code of a folder: its Go, type-checked, and its PHP.
type Program struct {
	Dir string
	// Skipped are packages that could not be type-checked, with the reason.
	Skipped []string

	fset     *token.FileSet
	files    []*file
	packages []*packages.Package
	// bodies are the functions of the program; methods them by name.
	bodies      map[*types.Func]*ast.FuncDecl
	in          map[*ast.FuncDecl]*file
	methods     map[string][]*types.Func
	known       []tables.Table // of its database
	schema      *schema
	mapped      bool // sqlx is told how columns are named
	setsRequest bool // something calls SetRequest
	textChecked bool // sameByText
	textRefused *Refusal
	handles     map[*types.Func]bool // reached by requests
	callers     map[*types.Func][]caller
	// assigned are variables and fields that something writes after they are made.
	assigned map[*types.Var]bool
	taken    map[*types.Package]map[string]bool
	standard map[string]*types.Package
	php      *php // nil: it has none
}

// file is one of its files.
type file struct {
	program *Program
	pkg     *packages.Package
	name    string // absolute
	rel     string // below the program's folder
	src     []byte
	syntax  *ast.File
	php     *phpFile // nil: it is Go
	parents map[ast.Node]ast.Node
	locals  map[*ast.FuncDecl]map[string]bool // names that are taken in functions
	// rowLoops are loops over the rows of a result that were looked at.
	rowLoops map[*ast.ForStmt]gathered
}

const mode = packages.LoadSyntax | packages.NeedModule

// Load reads the packages of all modules in a folder, and its PHP. known are the tables of
// its database, as far as somebody has looked. An error says that there is neither, or what
// is missing to read it.
func Load(ctx context.Context, dir string, known ...tables.Table) (*Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	p := &Program{Dir: dir, fset: token.NewFileSet(), bodies: map[*types.Func]*ast.FuncDecl{}, in: map[*ast.FuncDecl]*file{},
		known: known, methods: map[string][]*types.Func{}, taken: map[*types.Package]map[string]bool{}}
	var without error
	if p.php, without = p.loadPHP(ctx); p.php != nil || without != nil {
		if p.schema, err = schemaOf(dir, p.known); err != nil {
			return nil, err
		}
	}
	roots, err := modules(dir)
	switch {
	case err != nil && p.php != nil:
		return p, nil
	case err != nil && without != nil:
		return nil, without
	case err != nil:
		return nil, err
	}
	if without != nil {
		p.Skipped = append(p.Skipped, without.Error())
	}
	if err := p.loadGo(ctx, roots); err != nil {
		if p.php == nil {
			return nil, err
		}
		if len(p.packages) > 0 || len(p.Skipped) > 0 {
			p.Skipped = append(p.Skipped, err.Error())
		}
		p.packages = nil
	}
	return p, nil
}

// loadGo reads the packages of modules.
func (p *Program) loadGo(ctx context.Context, roots []string) error {
	dir := p.Dir
	his := ownerOf(dir)
	his.findGo()
	for _, root := range roots {
		cfg := &packages.Config{Mode: mode, Context: ctx, Dir: root, Fset: p.fset, Env: his.goEnv()}
		found, err := packages.Load(cfg, "./...")
		if err != nil {
			return fmt.Errorf("go list in %s: %w", root, err)
		}
		for _, pkg := range found {
			if err := p.add(pkg); err != nil {
				return err
			}
		}
	}
	if len(p.files) == 0 {
		if len(p.Skipped) > 0 {
			return fmt.Errorf("no package in %s could be type-checked: %s", dir, p.Skipped[0])
		}
		return fmt.Errorf("no Go package in %s", dir)
	}
	var err error
	if p.schema, err = schemaOf(dir, p.known); err != nil {
		return err
	}
	p.note()
	return p.readStandard(ctx)
}

// modules are the folders of modules: the nearest above, and those below.
func modules(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"vendor", "node_modules", "testdata"}, d.Name())):
			return fs.SkipDir
		case d.Name() == "go.mod":
			out = append(out, filepath.Dir(name))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if slices.Contains(out, dir) {
		return out, nil
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return append(out, dir), nil
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no go.mod in " + dir + " or above it, and no PHP in it")
	}
	return out, nil
}

// add takes a package that was type-checked.
func (p *Program) add(pkg *packages.Package) error {
	if len(pkg.Errors) > 0 {
		p.Skipped = append(p.Skipped, fmt.Sprintf("%s: %v", pkg.PkgPath, pkg.Errors[0]))
		return nil
	}
	p.packages = append(p.packages, pkg)
	for i, syntax := range pkg.Syntax {
		name := pkg.CompiledGoFiles[i]
		rel, err := filepath.Rel(p.Dir, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue // what cgo made
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f := &file{program: p, pkg: pkg, name: name, rel: filepath.ToSlash(rel), src: src, syntax: syntax, parents: parentsOf(syntax)}
		p.files = append(p.files, f)
		for _, d := range syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				if fn, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func); ok {
					p.bodies[fn], p.in[d] = d, f
					if d.Recv != nil {
						p.methods[fn.Name()] = append(p.methods[fn.Name()], fn)
					}
				}
			}
		}
	}
	return nil
}

func parentsOf(root ast.Node) map[ast.Node]ast.Node {
	out := map[ast.Node]ast.Node{}
	var stack []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			out[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	return out
}

// own refuses files that are not the application's own text.
func (f *file) own() *Refusal {
	switch {
	case ast.IsGenerated(f.syntax):
		return refuse("own", "the file says that it was generated")
	case slices.Contains(strings.Split(f.rel, "/"), "vendor"):
		return refuse("own", "the file is vendored")
	case strings.Contains(string(f.src), "\r\n"):
		return refuse("own", "its lines end with CR LF")
	}
	return nil
}

func (f *file) info() *types.Info       { return f.pkg.TypesInfo }
func (f *file) line(at token.Pos) int   { return f.program.fset.Position(at).Line }
func (f *file) offset(at token.Pos) int { return f.program.fset.Position(at).Offset }

// text of a node as it stands in the file.
func (f *file) text(n ast.Node) string { return string(f.src[f.offset(n.Pos()):f.offset(n.End())]) }

// enclosing is the nearest node of a type around n.
func enclosing[T ast.Node](f *file, n ast.Node) (T, bool) {
	for at := f.parents[n]; at != nil; at = f.parents[at] {
		if t, ok := at.(T); ok {
			return t, true
		}
	}
	var none T
	return none, false
}

// function that a node is in: "Users.change", "handler"; "" outside of all.
func (f *file) function(n ast.Node) string {
	d, ok := n.(*ast.FuncDecl)
	if !ok {
		if d, ok = enclosing[*ast.FuncDecl](f, n); !ok {
			return ""
		}
	}
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if x, ok := t.(*ast.IndexExpr); ok {
		t = x.X
	}
	return f.text(t) + "." + d.Name.Name
}

// indent is the white space that the line of a position begins with.
func (f *file) indent(at token.Pos) string {
	from := f.lineStart(f.offset(at))
	to := from
	for to < len(f.src) && (f.src[to] == ' ' || f.src[to] == '\t') {
		to++
	}
	return string(f.src[from:to])
}

func (f *file) lineStart(offset int) int {
	for offset > 0 && f.src[offset-1] != '\n' {
		offset--
	}
	return offset
}
