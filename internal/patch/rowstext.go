package patch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// gives: a variable holds a row, or a part of one, in the second loop.
func (r *rowLoop) gives(v *types.Var) bool { return slices.Contains(r.kept, v) }

// part is what a variable of a row is in an element of the slice; "" of one that is the
// element itself, or that holds no row.
func (l *loop) part(v *types.Var) string {
	if l.rows == nil || len(l.rows.kept) < 2 || !l.rows.gives(v) {
		return ""
	}
	return l.rows.one + "." + v.Name()
}

// overFixed: what the loop is over stays what it is.
func (l *loop) overFixed(does *effects) bool { return l.rows != nil || l.fixed(l.over, does) }

// overThere: what the loop is over can be gone over before it as well, for reads that compare
// what they ask for in their turn: whatever the loop puts into it, it goes over what was there.
func (l *loop) overThere() bool { return l.rows != nil || l.fixed(l.over, &effects{}) }

// overText is what the loop is over, once the rows of a result are gathered.
func (l *loop) overText() string {
	if l.rows != nil {
		return l.rows.list
	}
	return l.f.text(l.over)
}

// elements are what the loop goes over, in words.
func (l *loop) elements() string {
	if l.rows != nil {
		return "row of its result"
	}
	return "element of " + short(l.f.text(l.over))
}

// holdsKeys: the rows that are gathered are keys, each as it stands.
func (l *loop) holdsKeys(text string, t types.Type) bool {
	return l.rows != nil && len(l.rows.kept) == 1 && text == l.rows.kept[0].Name() && types.Identical(t, l.rows.kept[0].Type())
}

// header of the loop over rows that were gathered.
func (l *loop) header() string { return l.rows.header() }

func (r *rowLoop) header() string {
	value := r.kept[0].Name()
	if len(r.kept) > 1 {
		value = r.one
	}
	return "for _, " + value + " := range " + r.list
}

// gatherRows adds what gathers the rows to a place; nothing for other loops.
func (l *loop) gatherRows(at *Place) {
	if l.rows != nil {
		at.rows = l.rows
		l.rows.write(at.in(l.f))
	}
}

// says is what is done, for the commit's message.
func (r *rowLoop) says() string {
	says := fmt.Sprintf("The rows of the result are read to their end first, into %s, which the loop then goes over. So no connection is held while another statement waits for one.", r.list)
	if r.moves {
		says += " A row that cannot be scanned ends the function as before, after what is done with the rows before it."
	}
	return says
}

// name finds names that are free.
func (r *rowLoop) name() {
	f, of := r.f, "row"
	if ws, ok := words(r.from.text); ok && r.from.known {
		if tables := tablesOf(ws); len(tables) > 0 && camel(tables[0]) != "" {
			of = lower(camel(tables[0]))
		}
	}
	v := r.kept[0]
	if r.moves {
		r.failed = f.freshLocal(r.node, "scanErr")
	}
	if len(r.kept) > 1 {
		single := strings.TrimSuffix(of, "s")
		if of == "row" {
			single = "result"
		}
		r.rowType = f.freshLocal(r.node, single+"Row")
		r.list, r.one = f.freshLocal(r.node, single+"Rows"), f.freshLocal(r.node, "one")
		return
	}
	want := plural(v.Name())
	if _, basic := v.Type().Underlying().(*types.Basic); !basic && len(v.Name()) < 3 {
		want = of
		if of == "row" || !strings.HasSuffix(of, "s") {
			want = plural(of)
		}
	}
	r.list = f.freshLocal(r.node, want)
}

// write makes the edits: a loop that reads the rows in front, the second loop's header, and
// what an error leads to behind.
func (r *rowLoop) write(at *Place) {
	f := r.f
	in := f.indent(r.node.Pos())
	outer := ast.Node(r.node)
	if l, ok := f.parents[outer].(*ast.LabeledStmt); ok {
		outer = l
	}
	add := func(from, to int, text string) {
		at.edits = append(at.edits, edit{from, to, text, r})
	}
	before, stays := r.first(in)
	line := f.lineStart(f.offset(outer.Pos()))
	add(line, line, before)
	add(f.offset(r.node.Pos()), f.offset(r.node.Body.Lbrace)+1, r.header()+" {")
	_, from := f.linesOf(f.headerEnd(r.node))
	_, to := f.linesOf(r.stmts[len(r.stmts)-1])
	add(from, to, stays)
	if r.moves {
		_, end := f.linesOf(r.node)
		add(end, end, r.failure(in))
	}
	for _, v := range r.kept {
		at.imports = append(at.imports, f.lacking([]types.Type{v.Type()})...)
	}
}

// headerEnd is a node that ends with the header's line.
func (f *file) headerEnd(n *ast.ForStmt) ast.Node {
	return &ast.BadStmt{From: n.Pos(), To: n.Body.Lbrace + 1}
}

// first is the loop that reads the rows, and what of its statements stays in the second.
func (r *rowLoop) first(in string) (before, stays string) {
	f := r.f
	var b, rest strings.Builder
	element := r.rowType
	if len(r.kept) > 1 {
		fmt.Fprintf(&b, "%stype %s struct {\n", in, r.rowType)
		for _, v := range r.kept {
			t, _ := f.typeAt(v.Type(), r.node.Pos())
			fmt.Fprintf(&b, "%s\t%s %s\n", in, v.Name(), t)
		}
		b.WriteString(in + "}\n")
	} else {
		element, _ = f.typeAt(r.kept[0].Type(), r.node.Pos())
	}
	fmt.Fprintf(&b, "%svar %s []%s\n", in, r.list, element)
	if r.moves {
		fmt.Fprintf(&b, "%svar %s error\n", in, r.failed)
	}
	fmt.Fprintf(&b, "%sfor %s {\n", in, f.text(r.node.Cond))
	_, from := f.linesOf(f.headerEnd(r.node))
	chunk := func(s ast.Node) string { // with the lines of comments before it
		_, to := f.linesOf(s)
		text := string(f.src[from:to])
		from = to
		return text
	}
	for _, s := range r.head {
		if text := chunk(s); r.moved(s) {
			b.WriteString(text)
		} else {
			rest.WriteString(text)
		}
	}
	for i, s := range r.stmts {
		comments := string(f.src[from:f.lineStart(f.offset(s.Pos()))])
		text := chunk(s)
		if after := strings.TrimSpace(string(f.src[f.offset(s.End()):from])); after != "" {
			comments += in + "\t" + after + "\n"
		}
		switch {
		case !r.moves:
			b.WriteString(text)
		case i == 1:
			b.WriteString(comments)
		default:
			fmt.Fprintf(&b, "%s%s\tif %s = %s; %s != nil {\n%s\t\tbreak\n%s\t}\n", comments, in, r.failed, f.text(r.scan), r.failed, in, in)
		}
	}
	if kept := r.keptError(); kept {
		fmt.Fprintf(&rest, "%s\tvar %s error\n", in, r.err.Name())
	}
	b.WriteString(r.appended(in))
	r.unpack(&rest, in)
	return b.String(), rest.String()
}

// keptError: what is done with a row uses the variable that the Scan's error was made in.
func (r *rowLoop) keptError() bool {
	if r.err == nil || r.firstInRest() == nil {
		return false
	}
	made, ok := r.stmts[0].(*ast.AssignStmt)
	return ok && r.f.defined(made.Lhs[0]) == r.err
}

// appended is the end of the first loop.
func (r *rowLoop) appended(in string) string {
	names := make([]string, len(r.kept))
	for i, v := range r.kept {
		names[i] = v.Name()
	}
	element := strings.Join(names, ", ")
	if len(names) > 1 {
		element = r.rowType + "{" + element + "}"
	}
	return fmt.Sprintf("%s\t%s = append(%s, %s)\n%s}\n", in, r.list, r.list, element, in)
}

// unpack gives the second loop the variables that it names.
func (r *rowLoop) unpack(b *strings.Builder, in string) {
	if len(r.kept) > 1 {
		var names, parts []string
		for _, v := range r.kept {
			names, parts = append(names, v.Name()), append(parts, r.one+"."+v.Name())
		}
		fmt.Fprintf(b, "%s\t%s := %s\n", in, strings.Join(names, ", "), strings.Join(parts, ", "))
		return
	}
	if v := r.kept[0]; !r.f.newer(22) && r.shares(v) {
		fmt.Fprintf(b, "%s\t%s := %s // a variable of its own for each row\n", in, v.Name(), v.Name())
	}
}

// shares: something may keep the variable itself, by its address or in a function.
func (r *rowLoop) shares(v *types.Var) bool {
	found := false
	r.f.changes(r.body(), func(e ast.Expr) {
		found = found || r.f.valueRoot(e) == v
	})
	for _, id := range r.f.namesOf(v) {
		found = found || r.f.literalAround(id) != r.f.literalAround(r.node)
	}
	return found
}

// failure is what a failed Scan leads to, behind the loop.
func (r *rowLoop) failure(in string) string {
	if r.must != nil {
		return fmt.Sprintf("%s%s(%s)\n", in, r.f.text(r.must.Fun), r.failed)
	}
	f, body := r.f, r.branch.Body
	text := f.text(body)
	base := f.offset(body.Pos())
	outer := r.err != nil && !(r.err.Pos() >= r.node.Pos() && r.err.Pos() < r.node.End())
	if r.err != nil && !outer {
		uses := f.namesOf(r.err)
		for _, id := range slices.Backward(uses) {
			if within(id, body) {
				text = text[:f.offset(id.Pos())-base] + r.failed + text[f.offset(id.End())-base:]
			}
		}
	}
	text = strings.ReplaceAll(text, "\n"+f.indent(r.branch.Pos()), "\n"+in)
	if outer {
		text = "{\n" + in + "\t" + r.err.Name() + " = " + r.failed + text[1:]
	}
	return fmt.Sprintf("%sif %s != nil %s\n", in, r.failed, text)
}

// typeAt is a type as it is written at a place in a function.
func (f *file) typeAt(t types.Type, at token.Pos) (string, bool) {
	text, ok := f.typeText(t)
	if ok {
		return text, true
	}
	for n := range namedIn(t) {
		o := n.Obj()
		if o.Pkg() == nil || o.Parent() == o.Pkg().Scope() && o.Pkg() != f.pkg.Types && o.Exported() || o.Parent() == f.pkg.Types.Scope() {
			continue
		}
		scope := f.pkg.Types.Scope().Innermost(at)
		if scope == nil {
			return text, false
		}
		if _, found := scope.LookupParent(o.Name(), at); found != types.Object(o) {
			return text, false
		}
	}
	return text, true
}
