package patch

import (
	"fmt"
	"slices"
	"strings"
)

// phpChunk is how many keys are asked for at once.
const phpChunk = "500"

// write gives the place its edits.
func (w *phpWriter) write() {
	unit := w.f.unit(w.loop.node)
	stmt, _, _ := phpStatement(w.at)
	name := w.rowName()
	rows := "$" + w.freshVariable(w.at, plural(name))
	if w.read.list {
		rows = "$" + w.freshVariable(w.at, name+"Of")
	}
	all := plural(name)
	if w.read.list {
		all = name
	}
	call, before := w.reader(all, unit)
	loopIndent, indent := w.f.phpIndent(w.loop.node), w.f.phpIndent(stmt)

	var head []string
	if w.loop.before != "" {
		head = append(head, w.loop.before)
	}
	head = append(head, before...)
	w.insert(w.loop.node, loopIndent, append(head, rows+" = null;"))
	w.writeHead()
	ask := rows + " = " + rows + " ?? " + fmt.Sprintf(call, w.loop.gathered()) + ";"
	found := rows + "[" + w.lookup() + "]"
	if w.read.list {
		found = rows + "(" + w.lookup() + ")"
	}
	if each := w.overList(); each != nil {
		w.writeList(each, ask, found, indent, unit)
		return
	}
	if w.via != nil || len(w.read.region) == 1 {
		w.insert(stmt, indent, []string{ask})
		n := w.at
		if w.via == nil {
			n = w.read.fetch
		}
		w.replaceCall(n, w.orRead(found, n))
		return
	}
	w.writeRegion(ask, found, name, indent, unit)
}

// writeRegion keeps the statements of the read for what was not read before.
func (w *phpWriter) writeRegion(ask, found, name, indent, unit string) {
	region := w.read.region
	last := region[len(region)-1]
	from, to := region[0].From, last.To
	target := ""
	if a := last.Node("expr"); last.Is("Stmt_Expression") && a.Is("Expr_Assign") && a.Node("expr") == w.read.fetch && a.Node("var").Variable() != "" {
		target = "$" + a.Node("var").Variable()
	}
	if target != "" && w.needed(target[1:], region) {
		target = "" // what the read needs it for would be gone
	}
	alone := target != "" && !w.read.wrapped()
	if !alone {
		target, to = "$"+w.freshVariable(w.at, name), region[len(region)-2].To
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s%s = %s ?? null;\n%sif (%s === null) {\n%s%s", ask, indent, target, found, indent, target, indent, unit)
	b.WriteString(w.f.indented(from, to, unit, region))
	fmt.Fprintf(&b, "\n%s}", indent)
	w.edit(from, to, b.String())
	if !alone {
		w.replaceCall(w.read.fetch, w.orRead(target, w.read.fetch))
	}
}

// orRead is what was found, or what is read alone where there is none.
func (w *phpWriter) orRead(found string, n *phpNode) string {
	switch cast := w.via.castOf(); {
	case w.read.wrapped():
		return "isset(" + found + ") ? " + cast + found + "[0] : " + w.f.phpText(n)
	case cast != "":
		return "isset(" + found + ") ? " + cast + found + " : " + w.f.phpText(n)
	}
	return found + " ?? " + w.f.phpText(n)
}

// needed: the statements of a read name the variable that its row is put into.
func (w *phpWriter) needed(name string, region []*phpNode) bool {
	return slices.ContainsFunc(usesOf(w.scope, name), func(use *phpNode) bool {
		return slices.ContainsFunc(region, use.Within) && phpAssigned(use) != w.read.fetch
	})
}

func (w *phpWriter) edit(from, to int, text string) {
	w.place.edits = append(w.place.edits, edit{from: from, to: to, text: text})
}

// replaceCall puts an expression with ?? in the place of a call, in brackets where another
// operator may take a part of it.
func (w *phpWriter) replaceCall(n *phpNode, text string) {
	in := n.Parent
	if !(in.Is("Expr_Assign") && in.Node("expr") == n && in.Parent.Is("Stmt_Expression") || in.Is("Stmt_Return", "Stmt_Foreach", "Arg", "Stmt_Echo", "Expr_ArrayItem")) {
		text = "(" + text + ")"
	}
	w.edit(n.From, n.To, text)
}

// insert puts statements in front of one.
func (w *phpWriter) insert(n *phpNode, indent string, lines []string) {
	if w.f.firstOnLine(n) {
		at := w.f.lineStart(n.From)
		w.edit(at, at, indent+strings.Join(lines, "\n"+indent)+"\n")
		return
	}
	w.edit(n.From, n.From, strings.Join(lines, "\n"+indent)+"\n"+indent)
}

// writeHead writes the loop's head anew.
func (w *phpWriter) writeHead() {
	l := w.loop
	switch {
	case l.head == "":
	case l.node.Is("Stmt_Foreach"):
		w.edit(l.list.From, l.list.To, l.head)
	default:
		end := l.node.Node("cond").To
		for w.f.src[end-1] != ')' || strings.TrimSpace(string(w.f.src[l.node.Node("cond").To:end])) != ")" {
			end++
		}
		w.edit(l.node.From, end, l.head)
		text := w.f.phpText(l.node)
		if i := strings.LastIndex(strings.ToLower(text), "endwhile"); i >= 0 && strings.Trim(text[i:], "endwhilENDWHIL; \n\t") == "" {
			w.edit(l.node.From+i, l.node.From+i+len("endwhile"), "endforeach")
		}
	}
}

// gathered is the text of the keys of all elements.
func (l *phpLoop) gathered() string {
	text, of := l.name, l.name
	if l.pick != "" {
		text, of = "array_intersect_key("+l.pick+", array_flip("+text+"))", l.pick
	}
	if l.keys {
		text = "array_keys(" + text + ")"
	}
	for _, step := range l.path {
		text = "array_column(" + text + ", " + step + ")"
	}
	if l.ints {
		text = "array_map('intval', " + text + ")"
	}
	if !l.array || l.pick != "" {
		text = "is_array(" + of + ") ? " + text + " : []"
	}
	return text
}

// lookup is the key as the rows are found by.
func (w *phpWriter) lookup() string {
	text := w.f.phpText(w.key)
	switch {
	case w.key.Is("Expr_Cast_Int", "Expr_Cast_String", "Scalar_Encapsed") || calledNameOf(w.key) == "intval":
		return text
	case w.key.Is("Expr_Variable", "Expr_ArrayDimFetch", "Expr_PropertyFetch"):
		return "(string) " + text
	}
	return "(string) (" + text + ")"
}

// rowName is the name of what a row is put into, or of its table.
func (w *phpWriter) rowName() string {
	n := w.read.fetch
	if w.via != nil {
		n = w.at
	}
	for n.Parent.Is("Expr_ArrayDimFetch", "Expr_BinaryOp_Coalesce", "Expr_Ternary") {
		n = n.Parent
	}
	name := ""
	if a := n.Parent; a.Is("Expr_Assign") && a.Node("expr") == n && w.overList() == nil {
		name = a.Node("var").Variable()
	}
	if name == "" && w.read.list {
		name = strings.ToLower(w.read.sql.table)
	} else if name == "" {
		name = strings.TrimSuffix(strings.ToLower(w.read.sql.table), "s")
	}
	return strings.Trim(phpNotWord.ReplaceAllString(name, "_"), "_")
}

// reader is the function that reads the rows of keys: the call of it, with %s for the keys,
// and the statements before the loop that it needs.
func (w *phpWriter) reader(name, unit string) (call string, before []string) {
	if w.via != nil {
		return w.via.reader(w), nil
	}
	r := w.read
	free := w.freeVariables(r)
	body := w.body(r, "keys", unit, free)
	fn := w.scope
	var params, args []string
	for _, v := range free {
		given := "$" + v
		if v == r.handle.Variable() {
			given = w.f.class(r.api) + " " + given
		}
		params, args = append(params, given), append(args, "$"+v)
	}
	params, args = append(params, "array $keys"), append(args, "%s")
	tell := phpTell(r, r.api == "PDO" && !r.null)
	switch {
	case fn.Is("Stmt_ClassMethod") && fn.Parent.Is("Stmt_Class", "Stmt_Trait"):
		name = w.fresh(w.at, w.nameOf(name, r))
		static, of := "", "$this->"
		if fn.Int("flags")&8 != 0 {
			static, of = "static ", "self::"
		}
		w.declare(fn, "private "+static+"function "+name, params, body, unit, name+" "+tell)
		return of + name + "(" + strings.Join(args, ", ") + ")", nil
	case fn.Is("Stmt_Function") && (fn.Parent.Kind == "" || fn.Parent.Is("Stmt_Namespace")):
		name = w.fresh(w.at, w.nameOf(name, r))
		w.declare(fn, "function "+name, params, body, unit, name+" "+tell)
		return name + "(" + strings.Join(args, ", ") + ")", nil
	}
	name = "$" + w.freshVariable(w.at, w.nameOf(name, r))
	use := ""
	if len(free) > 0 {
		use = " use ($" + strings.Join(free, ", $") + ")"
	}
	before = append(before, "// It "+tell+".", name+" = function (array $keys)"+use+" {")
	for _, l := range body {
		before = append(before, unit+l)
	}
	return name + "(%s)", append(before, "};")
}

// phpTell says what a function does that reads rows.
func phpTell(r *phpRead, missing bool) string {
	switch {
	case r.list:
		return "returns a function that gives the list of a key, null for one to be read alone; it reads those of " + r.most() + " keys at once"
	case r.wrapped():
		return "returns what there is of all keys by key, each in an array, since it may be null"
	case r.sql.sum:
		return "returns what there is of all keys by key"
	case missing:
		return "returns the rows of all keys by key, false for those without one"
	}
	return "returns the rows of all keys by key"
}

// nameOf a function, as those of the file are named.
func (w *phpWriter) nameOf(rows string, r *phpRead) string {
	column := strings.ToLower(r.key.column)
	if w.scope.Is("Stmt_ClassMethod") || !strings.Contains(w.scope.Name(), "_") && w.scope.Kind != "" || strings.IndexFunc(w.scope.Name(), func(c rune) bool { return c >= 'A' && c <= 'Z' }) > 0 {
		return rows + "By" + phpCamel(column)
	}
	return rows + "_by_" + column
}

// phpCamel is Of_two as OfTwo.
func phpCamel(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// declare puts a function behind another one.
func (w *phpWriter) declare(fn *phpNode, head string, params, body []string, unit, tell string) {
	indent := w.f.phpIndent(fn)
	var b strings.Builder
	gives := "array"
	if w.read.list {
		gives = "callable"
	}
	fmt.Fprintf(&b, "\n\n%s/** %s. */\n%s%s(%s): %s\n%s{\n", indent, tell, indent, head, strings.Join(params, ", "), gives, indent)
	for _, l := range body {
		b.WriteString(indent + unit + l + "\n")
	}
	b.WriteString(indent + "}")
	w.edit(fn.To, fn.To, b.String())
}

// freeVariables are the local variables that handle and values of a read name, but for the
// key.
func (w *phpWriter) freeVariables(r *phpRead) []string {
	var out []string
	handle := r.handle
	if r.sender != "" && r.sent[0].Is("Expr_MethodCall") {
		handle = r.sent[0].Node("var")
	}
	for _, e := range append([]*phpNode{handle}, r.args...) {
		if e == r.keyArg {
			continue
		}
		e.Walk(func(n *phpNode) bool {
			if v := n.Variable(); v != "" && v != "this" && !phpSuper[v] && !slices.Contains(out, v) {
				out = append(out, v)
			}
			return true
		})
	}
	return out
}

// class is the name of a class of PHP as the file has to write it.
func (f *file) class(name string) string {
	for _, n := range f.php.tree.List("stmts") {
		if n.Is("Stmt_Namespace") {
			return `\` + name
		}
	}
	return name
}

// unit is what a line of a loop's body is indented by beyond its head.
func (f *file) unit(loop *phpNode) string {
	head := f.phpIndent(loop)
	for _, s := range loop.List("stmts") {
		if in := f.phpIndent(s); strings.HasPrefix(in, head) && len(in) > len(head) && f.firstOnLine(s) {
			return in[len(head):]
		}
	}
	return "    "
}

func (f *file) phpIndent(n *phpNode) string {
	from := f.lineStart(n.From)
	to := from
	for to < len(f.src) && (f.src[to] == ' ' || f.src[to] == '\t') {
		to++
	}
	return string(f.src[from:to])
}

// indented is a part of the text one step further to the right, but for lines that begin
// within a text.
func (f *file) indented(from, to int, unit string, of []*phpNode) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteByte(f.src[i])
		if f.src[i] != '\n' || i+1 < to && f.src[i+1] == '\n' {
			continue
		}
		inText := false
		for _, n := range of {
			n.Walk(func(n *phpNode) bool {
				inText = inText || n.Is("Scalar_String", "Scalar_Encapsed", "Stmt_InlineHTML") && n.From <= i && i+1 < n.To
				return true
			})
		}
		if !inText {
			b.WriteString(unit)
		}
	}
	return b.String()
}
