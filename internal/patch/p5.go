package patch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// findPrepares finds P5: connections without interpolateParams, and statements that are
// prepared for a single call.
func findPrepares(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if at := f.openPlace(n); at != nil {
					out = append(out, at)
				}
				if at := f.preparePlace(n); at != nil {
					out = append(out, at)
				}
			case *ast.CompositeLit:
				if at := f.configPlace(n); at != nil {
					out = append(out, at)
				}
			}
			return true
		})
	}
	return out
}

// preparedOnce is a statement that is prepared and run once.
type preparedOnce struct {
	*dbCall
	f      *file
	assign *ast.AssignStmt
	stmt   *types.Var
	check  *ast.IfStmt // of the error of Prepare
	close  ast.Stmt    // nil: none
	use    *ast.CallExpr
	useIn  ast.Stmt // the statement of the same block that it is in
}

func (f *file) preparePlace(call *ast.CallExpr) *Place {
	c := f.dbCall(call)
	if c == nil || c.method != "Prepare" && c.method != "Preparex" {
		return nil
	}
	at := f.place("P5", call, "a statement prepared for one call")
	if c.known {
		at.Statement = c.text
	}
	w := &preparedOnce{dbCall: c, f: f}
	several, r := w.understand()
	if several {
		return nil // it is prepared for what preparing is for
	}
	at.refused(f.own()).refused(f.program.onlyMySQL()).refused(r)
	if at.Refused == nil {
		w.write(at)
	}
	return at
}

// understand finds the parts; several: the statement is run more than once, or kept.
func (w *preparedOnce) understand() (several bool, r *Refusal) {
	f := w.f
	other := refuse("once", "what happens to it and its error has not the form that is known")
	assign, ok := f.parents[w.call].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || assign.Tok != token.DEFINE {
		return true, nil
	}
	w.assign = assign
	if w.stmt = f.defined(assign.Lhs[0]); w.stmt == nil {
		return true, nil
	}
	block, ok := f.parents[assign].(*ast.BlockStmt)
	if !ok {
		return true, nil
	}
	var uses []*ast.CallExpr
	for id, o := range f.info().Uses {
		if o != w.stmt {
			continue
		}
		sel, ok := f.parents[id].(*ast.SelectorExpr)
		if !ok {
			return true, nil // given away
		}
		call, ok := f.parents[sel].(*ast.CallExpr)
		if !ok || call.Fun != sel {
			return true, nil
		}
		if sel.Sel.Name != "Close" {
			uses = append(uses, call)
			continue
		}
		switch s := f.parents[call].(type) {
		case *ast.DeferStmt:
			w.close = s
		case *ast.ExprStmt:
			w.close = s
		default:
			return false, other
		}
		if f.parents[w.close] != block {
			return false, other
		}
	}
	if len(uses) != 1 {
		return true, nil
	}
	w.use = uses[0]
	for n := ast.Node(w.use); n != nil && f.parents[n] != nil; n = f.parents[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			if n.Pos() > assign.Pos() {
				return true, nil
			}
		}
		if f.parents[n] == block {
			w.useIn, _ = n.(ast.Stmt)
			break
		}
	}
	if w.useIn == nil {
		return false, other
	}
	return false, w.sequence(block)
}

// sequence shows that check, close and use follow each other, and that errors are told alike.
func (w *preparedOnce) sequence(block *ast.BlockStmt) *Refusal {
	f := w.f
	at := 0
	for i, s := range block.List {
		if s == w.assign {
			at = i
		}
	}
	other := refuse("once", "other statements stand between preparing and running it")
	for _, s := range block.List[at+1:] {
		switch {
		case s == w.useIn:
			if w.check == nil {
				return refuse("once", "the error of preparing is not looked at")
			}
			return w.alike()
		case s == w.close:
		case w.check == nil:
			check, ok := s.(*ast.IfStmt)
			if !ok || check.Init != nil || check.Else != nil || f.text(check.Cond) != f.text(w.assign.Lhs[1])+" != nil" {
				return other
			}
			w.check = check
		default:
			return other
		}
	}
	return other
}

// alike shows that an error of the call leads to what one of preparing does.
func (w *preparedOnce) alike() *Refusal {
	f := w.f
	not := refuse("once", "an error of preparing and one of running it are told in different ways")
	name := f.text(w.assign.Lhs[1])
	want := strings.Join(strings.Fields(f.text(w.check.Body)), " ")
	if strings.Contains(want, "log") || strings.Contains(want, "Print") {
		want = "" // told with words that may say which of both it was
	}
	// The error of the use, and the branch that looks at it.
	var errName string
	var branch *ast.IfStmt
	switch s := w.useIn.(type) {
	case *ast.ReturnStmt:
		if want == "{ return "+name+" }" && len(s.Results) == 1 && isError(f.info().TypeOf(s.Results[0])) {
			return nil
		}
		return not
	case *ast.IfStmt:
		branch = s
		if a, ok := s.Init.(*ast.AssignStmt); ok {
			errName = f.text(a.Lhs[len(a.Lhs)-1])
		}
	case *ast.AssignStmt:
		errName = f.text(s.Lhs[len(s.Lhs)-1])
		block := f.parents[s].(*ast.BlockStmt)
		for i, next := range block.List {
			if next == w.useIn && i+1 < len(block.List) {
				branch, _ = block.List[i+1].(*ast.IfStmt)
			}
		}
	default:
		return not
	}
	for branch != nil {
		if f.text(branch.Cond) == errName+" != nil" {
			got := strings.Join(strings.Fields(f.text(branch.Body)), " ")
			if want != "" && errName == name && got == want {
				return nil
			}
			return not
		}
		if !strings.Contains(f.text(branch.Cond), "ErrNoRows") {
			return not
		}
		next, ok := branch.Else.(*ast.IfStmt)
		if !ok && branch.Else == nil && branch.Init == nil {
			block, isBlock := f.parents[branch].(*ast.BlockStmt)
			for i, s := range block.List {
				if isBlock && s == branch && i+1 < len(block.List) {
					next, _ = block.List[i+1].(*ast.IfStmt)
				}
			}
		}
		branch = next
	}
	return not
}

func (w *preparedOnce) write(at *Place) {
	f := w.f
	sel := w.use.Fun.(*ast.SelectorExpr)
	args := w.use.Args
	var in []string
	if strings.HasSuffix(sel.Sel.Name, "Context") && len(args) > 0 {
		in, args = append(in, f.text(args[0])), args[1:]
	}
	switch method := strings.TrimSuffix(sel.Sel.Name, "Context"); method {
	case "Get", "Select":
		if len(args) == 0 {
			at.refused(refuse("once", "its call has no destination"))
			return
		}
		in, args = append(in, f.text(args[0])), args[1:]
	case "Query", "QueryRow", "Exec", "Queryx", "QueryRowx":
	default:
		at.refused(refuse("once", "its method %s is not known", method))
		return
	}
	in = append(in, f.text(w.query))
	for _, a := range args {
		in = append(in, f.text(a))
	}
	dots := ""
	if w.use.Ellipsis.IsValid() {
		dots = "..."
	}
	at.replace(w.use, fmt.Sprintf("%s.%s(%s%s)", f.text(w.handle), sel.Sel.Name, strings.Join(in, ", "), dots))
	at.edits = append(at.edits, w.removals()...)
	w.declare(at)
	at.Subject = "Run a statement of " + f.function(w.call) + " without preparing it first"
	at.Body = fmt.Sprintf("%s prepared a statement, ran it once and closed it: three round trips. The handle runs it itself now; with interpolateParams in the connection's parameters that is one. Errors lead to the same as before.", f.function(w.call))
}

// removals are the lines of Prepare, its check and Close, with the empty lines behind.
func (w *preparedOnce) removals() []edit {
	p := &Place{file: w.f, program: w.f.program}
	for _, n := range []ast.Stmt{w.assign, w.check, w.close} {
		if n != nil {
			p.remove(n)
		}
	}
	last := &p.edits[len(p.edits)-1]
	for last.to < len(w.f.src) && w.f.src[last.to] == '\n' {
		last.to++
	}
	return p.edits
}

// declare makes the use declare the error that the removed line declared.
func (w *preparedOnce) declare(at *Place) {
	f := w.f
	v := f.defined(w.assign.Lhs[1])
	if v == nil {
		return
	}
	if s, ok := w.useIn.(*ast.AssignStmt); ok && s.Tok == token.ASSIGN && len(s.Lhs) == 1 && f.text(s.Lhs[0]) == v.Name() {
		at.edits = append(at.edits, edit{from: f.offset(s.TokPos), to: f.offset(s.TokPos) + 1, text: ":="})
	}
}
