package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// groups are the parts that mutants are drawn from, each as many as the others.
var groups = []string{"internal/change", "internal/experiment", "internal/stat", "internal/confedit", "internal/digest"}

// helpers serve only tests and generators of files; nothing of them is in the
// program.
var helpers = []string{
	"internal/change/secrettest", "internal/experiment/effecttest", "internal/stat/gen",
	"internal/confedit/memory", "internal/digest/slowgen",
}

// source is one file.
type source struct {
	name string // relative to the root, with slashes
	fset *token.FileSet
	text []byte
	tree *ast.File
}

// pack is one package of a group.
type pack struct {
	dir     string // relative to the root, with slashes
	path    string // as imported
	files   []*source
	tests   []string // names of its test files, relative to the root
	imports []string // of its files and of its tests
	types   types.Importer
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Standard, DepOnly                  bool
}

// load reads the packages of a group.
func load(ctx context.Context, root, group string) ([]*pack, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-p", "1", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Standard,DepOnly", "./"+group+"/...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w: %s", group, err, bytes.TrimSpace(stderr.Bytes()))
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list's answer on %s: %w", group, err)
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			own = append(own, l)
		}
	}
	var packs []*pack
	for _, l := range own {
		p, err := l.read(root, exports)
		if err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	return packs, nil
}

func (l listed) read(root string, exports map[string]string) (*pack, error) {
	rel, err := filepath.Rel(root, l.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of %s: %w", l.ImportPath, err)
	}
	p := &pack{dir: filepath.ToSlash(rel), path: l.ImportPath, imports: slices.Concat(l.Imports, l.TestImports, l.XTestImports)}
	fset := token.NewFileSet()
	for _, f := range l.GoFiles {
		s := &source{name: p.dir + "/" + f, fset: fset}
		if s.text, err = os.ReadFile(filepath.Join(root, s.name)); err != nil {
			return nil, err
		}
		if s.tree, err = parser.ParseFile(fset, s.name, s.text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.files = append(p.files, s)
	}
	for _, f := range slices.Concat(l.TestGoFiles, l.XTestGoFiles) {
		p.tests = append(p.tests, p.dir+"/"+f)
	}
	slices.Sort(p.tests)
	p.types = importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return p, nil
}

// check tells whether the package compiles with one of its files replaced by
// tree; nil replaces none.
func (p *pack) check(name string, tree *ast.File) (*types.Info, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	var trees []*ast.File
	for _, f := range p.files {
		if f.name == name && tree != nil {
			trees = append(trees, tree)
		} else {
			trees = append(trees, f.tree)
		}
	}
	if len(trees) == 0 {
		return info, nil
	}
	config := types.Config{Importer: p.types}
	_, err := config.Check(p.path, p.files[0].fset, trees, info)
	return info, err
}

// compiles tells whether the package compiles with the site's change.
func (p *pack) compiles(s site) bool {
	for _, f := range p.files {
		if f.name != s.file {
			continue
		}
		tree, err := parser.ParseFile(f.fset, f.name+"."+s.new, s.apply(f.text), parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		_, err = p.check(f.name, tree)
		return err == nil
	}
	return false
}

// sites lists every site of the package.
func (p *pack) sites() ([]site, error) {
	info, err := p.check("", nil)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", p.dir, err)
	}
	var out []site
	for _, f := range p.files {
		if !generated(f) {
			out = append(out, find(f, info)...)
		}
	}
	return out, nil
}

func generated(f *source) bool {
	return ast.IsGenerated(f.tree) || strings.HasPrefix(string(f.text), "// Code generated")
}
