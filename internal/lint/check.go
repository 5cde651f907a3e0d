package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// problem is one violation.
type problem struct {
	file string // relative to the root
	line int
	text string
}

func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

// source is one parsed Go file.
type source struct {
	file string // relative to the root, with slashes
	test bool
	fset *token.FileSet
	tree *ast.File
}

func (s *source) dir() string { return path.Dir(s.file) }

func (s *source) at(n ast.Node, format string, args ...any) problem {
	return problem{file: s.file, line: s.fset.Position(n.Pos()).Line, text: fmt.Sprintf(format, args...)}
}

// check applies every rule to the repository at root.
func check(root string) ([]problem, error) {
	files, err := tracked(root)
	if err != nil {
		return nil, err
	}
	var out []problem
	var sources []*source
	pages := texts{}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(root, f))
		if os.IsNotExist(err) {
			continue // removed, but not from the index yet
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		out = append(out, checkText(f, data)...)
		out = append(out, checkTerms(f, data)...)
		if pages[f] = nil; !strings.Contains(f, "testdata/") {
			pages[f] = data
		}
		if !strings.HasSuffix(f, ".go") || strings.Contains(f, "testdata/") {
			continue
		}
		s := &source{file: f, test: strings.HasSuffix(f, "_test.go"), fset: token.NewFileSet()}
		if s.tree, err = parser.ParseFile(s.fset, f, data, parser.ParseComments); err != nil {
			return nil, fmt.Errorf("parse %s: %w", f, err)
		}
		sources = append(sources, s)
	}
	for _, s := range sources {
		out = append(out, checkImports(s)...)
		out = append(out, checkCalls(s)...)
		out = append(out, checkTexts(s)...)
		out = append(out, checkFields(s)...)
		out = append(out, checkPure(s)...)
	}
	out = append(out, checkComments(sources)...)
	list, err := os.ReadFile(filepath.Join(root, clockList))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read %s: %w", clockList, err)
	}
	out = append(out, checkClock(sources, list)...)
	out = append(out, checkLinks(pages)...)
	sort.Slice(out, func(i, j int) bool {
		if out[i].file != out[j].file {
			return out[i].file < out[j].file
		}
		return out[i].line < out[j].line
	})
	return out, nil
}

// skipped are folders that hold nothing of the repository's own.
var skipped = map[string]bool{".git": true, ".kasoku": true, "bin": true, "run": true}

// walk lists the files under root for a tree that is not in git.
func walk(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != root && skipped[e.Name()]:
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, name)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	return out, err
}

// checkComments requires a package comment in every package that is more than
// tests.
func checkComments(sources []*source) []problem {
	first, documented := map[string]*source{}, map[string]bool{}
	for _, s := range sources {
		if s.test {
			continue
		}
		if first[s.dir()] == nil {
			first[s.dir()] = s
		}
		if s.tree.Doc != nil && strings.TrimSpace(s.tree.Doc.Text()) != "" {
			documented[s.dir()] = true
		}
	}
	var out []problem
	for dir, s := range first {
		if !documented[dir] {
			out = append(out, s.at(s.tree.Name, "package %s has no comment; say which step it is, what comes in, what goes out", s.tree.Name.Name))
		}
	}
	return out
}

// checkCalls finds calls that end the process, and calls that write to a host.
func checkCalls(s *source) []problem {
	if s.test || contains(breakers, s.dir()) {
		return nil
	}
	var out []problem
	group, _ := groupOf(s.dir())
	imports := importNames(s.tree)
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && s.tree.Name.Name != "main" && contains(exits[imports[x.Name]], n.Sel.Name) {
				out = append(out, s.at(n, "%s.%s ends the process; return an error and let the command do that", x.Name, n.Sel.Name))
			}
			if w, ok := writerNamed(n.Sel.Name); ok && w.args == 0 && !contains(mayWrite, group) {
				out = append(out, s.at(n, "%s writes to a host; only internal/change does, so that it can be undone", n.Sel.Name))
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || contains(mayWrite, group) {
				return true
			}
			if w, ok := writerNamed(f.Sel.Name); ok && w.args > 0 && w.args == len(n.Args) {
				out = append(out, s.at(f, "%s writes to a host; only internal/change does, so that it can be undone", f.Sel.Name))
			}
		}
		return true
	})
	return out
}

func writerNamed(name string) (writer, bool) {
	for _, w := range writers {
		if w.name == name {
			return w, true
		}
	}
	return writer{}, false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
