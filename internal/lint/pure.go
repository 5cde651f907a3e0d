package main

import (
	"go/ast"
	"strconv"
)

// checkPure finds what would make a choice another one on another machine or at another
// time.
func checkPure(s *source) []problem {
	if !contains(pureFiles, s.file) {
		return nil
	}
	var out []problem
	for _, spec := range s.tree.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil && contains(impureImports, name) {
			out = append(out, s.at(spec, "imports %s; what is chosen here follows from its arguments alone", name))
		}
	}
	imports := importNames(s.tree)
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] == "time" && contains(impureTime, sel.Sel.Name) {
			out = append(out, s.at(sel, "time.%s reads the clock; what is chosen here is told what time it is", sel.Sel.Name))
		}
		return true
	})
	return out
}
