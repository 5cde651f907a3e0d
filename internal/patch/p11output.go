package patch

import (
	"go/ast"
	"go/token"
)

// checkOutput shows that nothing but what the program prints is taken of it: at once, or
// of a variable that gets no more than an input.
func (s *started) checkOutput() *Refusal {
	f := s.f
	other := refuse("result", "more of it is used than what Output gives")
	if sel, ok := f.parents[s.call].(*ast.SelectorExpr); ok {
		if s.output = f.outputOf(sel); s.output == nil {
			return other
		}
		if stmt, ok := f.parents[s.output].(ast.Stmt); len(s.gone) > 0 && (!ok || !s.firstOf(stmt)) {
			return refuse("order", "the script is made before other parts of the statement that starts it")
		}
		return nil
	}
	made, ok := f.parents[s.call].(*ast.AssignStmt)
	if !ok || made.Tok != token.DEFINE || len(made.Lhs) != 1 || len(made.Rhs) != 1 {
		return other
	}
	v := f.defined(made.Lhs[0])
	block, inBlock := f.parents[made].(*ast.BlockStmt)
	if v == nil || !inBlock {
		return other
	}
	first := len(s.gone)
	s.gone = append(s.gone, made)
	for id, o := range f.info().Uses {
		if o != v {
			continue
		}
		sel, ok := f.parents[id].(*ast.SelectorExpr)
		if !ok || !s.uses(sel) {
			return other
		}
	}
	if s.output == nil {
		return other
	}
	return s.oneByOne(block, made, first)
}

// uses takes one use of the command; false if it is none that is known.
func (s *started) uses(sel *ast.SelectorExpr) bool {
	if call := s.f.outputOf(sel); call != nil && s.output == nil {
		s.output = call
		return true
	}
	assign, ok := s.f.parents[sel].(*ast.AssignStmt)
	if !ok || sel.Sel.Name != "Stdin" || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || assign.Lhs[0] != sel || s.stdin != nil {
		return false
	}
	s.stdin, s.gone = assign.Rhs[0], append(s.gone, assign)
	return true
}

// outputOf is the call of Output that a selector is of; nil if it is none.
func (f *file) outputOf(sel *ast.SelectorExpr) *ast.CallExpr {
	call, ok := f.parents[sel].(*ast.CallExpr)
	if !ok || sel.Sel.Name != "Output" || call.Fun != sel {
		return nil
	}
	return call
}

// oneByOne shows that the statements follow one another, so that nothing is changed between.
func (s *started) oneByOne(block *ast.BlockStmt, made ast.Stmt, first int) *Refusal {
	for i, stmt := range block.List {
		if stmt != made {
			continue
		}
		next := block.List[i+1:]
		if s.stdin != nil {
			if len(next) == 0 || next[0] != s.gone[first+1] {
				break
			}
			next = next[1:]
		}
		if len(next) > 0 && s.firstOf(next[0]) {
			return nil
		}
	}
	return refuse("order", "other statements stand between those that make it and the one that starts it")
}

// firstOf: the program is started by a statement itself, not by a part of it that may be
// left out or repeated.
func (s *started) firstOf(stmt ast.Stmt) bool {
	if is, ok := stmt.(*ast.IfStmt); ok {
		stmt = is.Init
	}
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		return len(stmt.Rhs) == 1 && stmt.Rhs[0] == s.output
	case *ast.ReturnStmt:
		return len(stmt.Results) == 1 && stmt.Results[0] == s.output
	}
	return false
}

// checkInput shows what the program reads.
func (s *started) checkInput() *Refusal {
	switch {
	case s.does.printed && s.stdin != nil:
		return refuse("input", "it is given an input that it does not read")
	case s.does.printed:
		return nil
	case s.hole != nil:
		return refuse("input", "the text is no argument of printf or echo")
	case s.stdin == nil:
		return refuse("input", "it reads a file, or the input of the whole program")
	}
	call, ok := ast.Unparen(s.stdin).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return refuse("input", "%s is no text", short(s.f.text(s.stdin)))
	}
	switch path, name, _ := s.f.calls(call); path + "." + name {
	case "strings.NewReader", "bytes.NewReader", "bytes.NewBufferString", "bytes.NewBuffer":
		s.inner = call.Args[0]
		return nil
	}
	return refuse("input", "%s is no text", short(s.f.text(s.stdin)))
}
