package main

import "go/ast"

// checkFields finds structs with more fields than a reader keeps in mind. What is used
// together is a struct of its own, named for what it is.
func checkFields(s *source) []problem {
	most, ok := mostFields[s.dir()]
	if !ok || s.test {
		return nil
	}
	var out []problem
	ast.Inspect(s.tree, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		st, ok := t.Type.(*ast.StructType)
		if !ok {
			return true
		}
		fields := 0
		for _, f := range st.Fields.List {
			fields += max(len(f.Names), 1) // an embedded one has no name
		}
		if fields > most {
			out = append(out, s.at(t, "%s has %d fields, more than %d; make a struct of those that are used together", t.Name.Name, fields, most))
		}
		return true
	})
	return out
}
