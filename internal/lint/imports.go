package main

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
)

// groupOf returns the group that a folder of the repository belongs to, and
// the place of its layer: -1 for groups that stand alone, len(layers) for the
// outer folders.
func groupOf(dir string) (group string, at int) {
	for _, o := range outer {
		if within(dir, o) {
			return o, len(layers)
		}
	}
	dir = strings.TrimPrefix(dir, "internal/")
	for i, l := range layers {
		for _, g := range l {
			if within(dir, g) {
				return g, i
			}
		}
	}
	for _, g := range alone {
		if within(dir, g) {
			return g, -1
		}
	}
	return "", -1
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// forTests says whether a package serves tests only, or breaks hosts as they do.
func forTests(dir string) bool {
	return contains(testBeds, dir) || contains(breakers, dir) || contains(testOnly, strings.TrimPrefix(dir, "internal/"))
}

// checkImports requires that s imports only what stands before it.
func checkImports(s *source) []problem {
	var out []problem
	own, at := groupOf(s.dir())
	if own == "" {
		return []problem{s.at(s.tree.Name, "package %s is in no layer; add it to internal/lint/rules.go where it belongs", s.dir())}
	}
	for _, spec := range s.tree.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !within(name, module) {
			continue
		}
		target := strings.TrimPrefix(name, module+"/")
		group, place := groupOf(target)
		short := strings.TrimPrefix(target, "internal/")
		switch {
		case !s.test && !forTests(s.dir()) && contains(testOnly, short) && path.Dir(target) != s.dir():
			out = append(out, s.at(spec, "%s is for tests only", name))
		case group == own:
		case group == "":
			out = append(out, s.at(spec, "%s is in no layer; add it to internal/lint/rules.go where it belongs", name))
		case place < 0 || place == len(layers):
			out = append(out, s.at(spec, "%s is not to be imported", name))
		case place >= at:
			out = append(out, s.at(spec, "%s must not import %s, which does not stand before it (internal/lint/rules.go)", own, group))
		}
	}
	return out
}

// importNames maps the names that a file uses to the paths it imports.
func importNames(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = p
	}
	return out
}
