package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// kind is what a mutation does.
type kind string

const (
	comparison kind = "comparison" // < to <=, == to != and back
	arithmetic kind = "arithmetic" // + to - and back
	condition  kind = "condition"  // if c to if !(c)
	statement  kind = "statement"  // an assignment or a call is left out
	constant   kind = "constant"   // n to n + 1
	noError    kind = "error"      // return err to return nil
	operand    kind = "operand"    // a && b to a
)

var kinds = []kind{comparison, arithmetic, condition, statement, constant, noError, operand}

// site is one change of one file.
type site struct {
	kind     kind
	file     string // relative to the root, with slashes
	line     int
	function string // "(T).Method" or "Function"; "" outside of functions
	from, to int    // bytes of the file
	old, new string
	out      string // what is left out, if that is all
	nth      int    // how many like it are before it in the function
}

// id names a site by what it does, so that it stays the same while other lines
// of the file move.
func (s site) id() string {
	id := fmt.Sprintf("%s %s: %s", s.file, s.function, s.what())
	if s.nth > 0 {
		id += fmt.Sprintf(" (%d)", s.nth+1)
	}
	return id
}

func (s site) what() string {
	switch {
	case s.out != "":
		return oneLine(s.out) + " left out"
	case s.kind == condition:
		return oneLine(s.old) + " negated"
	}
	return oneLine(s.old) + " -> " + oneLine(s.new)
}

// oneLine shortens a piece of source to what fits into a table.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 70 {
		text = string(r[:67]) + "…"
	}
	return text
}

// apply returns the file with the site's change.
func (s site) apply(text []byte) []byte {
	out := append([]byte{}, text[:s.from]...)
	out = append(out, s.new...)
	return append(out, text[s.to:]...)
}

// finder collects the sites of one file.
type finder struct {
	file  *source
	info  *types.Info
	fn    *ast.FuncDecl
	sites []site
	seen  map[string]int // by id without nth
	kept  map[ast.Node]bool
}

func find(f *source, info *types.Info) []site {
	w := &finder{file: f, info: info, seen: map[string]int{}, kept: map[ast.Node]bool{}}
	for _, d := range f.tree.Decls {
		w.fn, _ = d.(*ast.FuncDecl)
		ast.Inspect(d, w.visit)
	}
	return w.sites
}

func (w *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CommClause:
		w.kept[n.Comm] = true // a select's case has to have one
	case *ast.CallExpr:
		w.capacity(n)
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.IfStmt:
		w.negate(n.Cond)
	case *ast.AssignStmt:
		w.assignment(n)
	case *ast.IncDecStmt:
		swap := map[token.Token]string{token.INC: "--", token.DEC: "++"}
		w.change(arithmetic, n, w.text(n), w.text(n.X)+swap[n.Tok])
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok && !w.kept[n] {
			w.without(statement, n, "", w.text(n))
		}
	case *ast.BasicLit:
		if n.Kind == token.INT && !w.kept[n] {
			w.change(constant, n, n.Value, "("+n.Value+" + 1)")
		}
	case *ast.ReturnStmt:
		w.returned(n)
	}
	return true
}

// capacity leaves out make's last of three: how much room is reserved changes
// nothing that a test could see.
func (w *finder) capacity(call *ast.CallExpr) {
	if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "make" && len(call.Args) == 3 {
		ast.Inspect(call.Args[2], func(n ast.Node) bool { w.kept[n] = true; return true })
	}
}

var flipped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
}

func (w *finder) binary(n *ast.BinaryExpr) {
	x, y := w.text(n.X), w.text(n.Y)
	if op, ok := flipped[n.Op]; ok {
		w.change(comparison, n, w.text(n), x+" "+op+" "+y)
	}
	swap := map[token.Token]string{token.ADD: "-", token.SUB: "+"}
	if op, ok := swap[n.Op]; ok && w.numeric(n) && !w.kept[n] {
		w.change(arithmetic, n, w.text(n), x+" "+op+" "+y)
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		w.without(operand, n, x, n.Op.String()+" "+y)
		w.without(operand, n, y, x+" "+n.Op.String())
	}
}

// negate turns a condition round; those of == and != are comparisons.
func (w *finder) negate(c ast.Expr) {
	if b, ok := c.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	w.change(condition, c, w.text(c), "!("+w.text(c)+")")
}

func (w *finder) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE || w.kept[n] {
		return
	}
	w.without(statement, n, "", w.text(n))
	swap := map[token.Token]string{token.ADD_ASSIGN: " -= ", token.SUB_ASSIGN: " += "}
	if op, ok := swap[n.Tok]; ok && w.numeric(n.Lhs[0]) {
		w.change(arithmetic, n, w.text(n), w.text(n.Lhs[0])+op+w.text(n.Rhs[0]))
	}
}

func (w *finder) returned(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if t := w.info.TypeOf(last); t == nil || !types.Identical(t, types.Universe.Lookup("error").Type()) {
		return
	}
	w.change(noError, last, w.text(last), "nil")
}

func (w *finder) numeric(e ast.Expr) bool {
	t := w.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

func (w *finder) text(n ast.Node) string {
	return string(w.file.text[w.offset(n.Pos()):w.offset(n.End())])
}

func (w *finder) offset(p token.Pos) int { return w.file.fset.Position(p).Offset }

// change adds a site that replaces n by new.
func (w *finder) change(k kind, n ast.Node, old, new string) {
	w.add(n, site{kind: k, old: old, new: new})
}

// without adds a site that replaces n by what remains of it without out.
func (w *finder) without(k kind, n ast.Node, rest, out string) {
	w.add(n, site{kind: k, old: w.text(n), new: rest, out: out})
}

func (w *finder) add(n ast.Node, s site) {
	s.file, s.line, s.function = w.file.name, w.file.fset.Position(n.Pos()).Line, name(w.fn)
	s.from, s.to = w.offset(n.Pos()), w.offset(n.End())
	id := s.id()
	s.nth = w.seen[id]
	w.seen[id]++
	w.sites = append(w.sites, s)
}

func name(fn *ast.FuncDecl) string {
	if fn == nil {
		return ""
	}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
