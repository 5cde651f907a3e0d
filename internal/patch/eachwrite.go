package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func numbered(name string, i int) string { return name + strconv.Itoa(i+1) }

// write makes the edits.
func (w *eachWriter) write() {
	f, at := w.f, w.place
	what := strings.TrimPrefix(w.rows(), "the ")
	if w.via != nil {
		w.writeBeside()
	} else {
		keys := w.keyNames(true, f.freshLocal)
		local := f.freshLocal(w.whole, "read"+camel(w.sql.table))
		w.hear = w.hearer(at)
		w.loop.gatherRows(at)
		at.before(w.outer(), w.gatherEach(keys)+w.slicesOfFollowers(at)+f.indent(w.loop.node.Pos())+local+" := "+w.callHelper(w.addressed(keys))+"\n")
		at.replace(w.whole, w.readEach(local))
		if w.row != nil {
			at.remove(w.row)
		}
		w.frees(at)
	}
	caller, by := w.loop.f, ""
	if w.via != nil {
		by = fmt.Sprintf(" called %s, which", f.function(w.via.decl))
	}
	if w.given != nil {
		return // the place tells of the read that gives the keys
	}
	at.Subject = fmt.Sprintf("Read %s of %s together in %s", what, w.sql.table, caller.function(w.loop.node))
	at.Body = fmt.Sprintf("The loop in %s%s read %s of %s one by one, a round trip for each %s. Up to %d of these reads are now sent as one statement, joined by UNION ALL, when the first of them is needed; each branch is the statement as it was, and has its number as a last column.\n\nAn element whose values are not those gathered before the loop is read alone, as before. So are the elements of a statement that fails, so that an error is met where it was met before.",
		caller.function(w.loop.node), by, w.rows(), w.sql.table, w.loop.elements(), w.most())
}

// ownKeys: the rows that are gathered are the keys.
func (w *eachWriter) ownKeys() bool {
	return w.given == nil && len(w.keys) == 1 && w.loop.holdsKeys(w.keys[0].from.text, w.keys[0].t)
}

// keyNames are the slices of keys that the loop before the loop fills; inLoop: as the loop's
// code calls them.
func (w *eachWriter) keyNames(inLoop bool, fresh func(n ast.Node, want string) string) []string {
	if w.keyVars != nil {
		return w.keyVars
	}
	if w.ownKeys() && inLoop {
		return []string{w.loop.rows.list}
	}
	var out []string
	all := w.before
	for _, k := range w.keys {
		w.before = k.from.text
		out = append(out, fresh(w.at(), w.eachName()))
	}
	w.before = all
	return out
}

// eachName is how the values of one key are called: "userIDs" of *p.UserID.
func (w *eachWriter) eachName() string {
	name := w.before
	if head, _, ok := strings.Cut(name, "("); ok && strings.Contains(head, ".") {
		name = head // of a method
	}
	name = name[strings.LastIndexAny(name, ".[(*")+1:]
	name = strings.TrimFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(name) < 2 || !unicode.IsLetter(rune(name[0])) {
		name = "key"
	}
	return plural(lower(name))
}

// at is where the read is called from, for names that are free there.
func (w *eachWriter) at() ast.Node {
	if w.via != nil {
		return w.via.call
	}
	return w.whole
}

// gatherEach is the loop that gathers the keys.
func (w *eachWriter) gatherEach(names []string) string {
	if w.given != nil || w.ownKeys() {
		return ""
	}
	f := w.loop.f
	in := f.indent(w.loop.node.Pos())
	var b strings.Builder
	for i, k := range w.keys {
		t, _ := f.typeText(k.t)
		fmt.Fprintf(&b, "%s%s := make([]%s, 0, len(%s))\n", in, names[i], t, w.loop.overText())
	}
	fmt.Fprintf(&b, "%s%s {\n", in, w.header())
	var nils []string
	for _, k := range w.keys {
		for _, n := range k.from.nils {
			if test := n + " == nil"; !slices.Contains(nils, test) {
				nils = append(nils, test)
			}
		}
	}
	if len(nils) > 0 {
		fmt.Fprintf(&b, "%s\tif %s {\n%s\t\tcontinue\n%s\t}\n", in, strings.Join(nils, " || "), in, in)
	}
	for i, k := range w.keys {
		fmt.Fprintf(&b, "%s\t%s = append(%s, %s)\n", in, names[i], names[i], k.from.text)
	}
	fmt.Fprintf(&b, "%s}\n", in)
	return b.String()
}

// isKey: an argument is another one in each turn.
func (w *eachWriter) isKey(arg int) bool {
	return slices.ContainsFunc(w.keys, func(k eachKey) bool { return k.arg == arg })
}

// callHelper is the call of the new function, which is added to the file of the statement.
func (w *eachWriter) callHelper(keys []string) string {
	f := w.f
	helper := f.fresh(w.call, "read"+camel(w.sql.table)+"Of")
	call := []string{f.text(w.handle)}
	if w.ctx != nil {
		call = []string{f.text(w.ctx), call[0]}
	}
	call = append(call, keys...)
	for i, a := range w.args {
		if !w.isKey(i) {
			call = append(call, f.text(a))
		}
	}
	if w.hear != "" {
		call = append(call, w.hear)
	}
	at := w.place.in(f)
	at.atEnd(w.eachHelper(helper))
	at.imports = append(at.imports, "strings", "strconv")
	if w.givesNoRows() {
		at.imports = append(at.imports, sqlPath)
	}
	if w.ctx != nil {
		at.imports = append(at.imports, "context")
	}
	at.imports = append(at.imports, f.lacking(append(w.kinds(), w.keyTypes()...))...)
	return helper + "(" + strings.Join(call, ", ") + ")"
}

// readEach is the call that takes the place of the read.
func (w *eachWriter) readEach(local string) string {
	var args []string
	if w.other != nil {
		args = append(args, w.f.text(w.query))
	}
	for _, k := range w.keys {
		args = append(args, w.f.text(w.args[k.arg]))
	}
	for _, d := range w.dsts {
		args = append(args, w.f.text(d))
	}
	return local + "(" + strings.Join(args, ", ") + ")"
}

// writeBeside makes the edits of a read in a function that the loop calls.
func (w *eachWriter) writeBeside() {
	s, f, at := w.via, w.f, w.place
	caller := s.f
	all := f.fresh(w.call, plural(s.decl.Name.Name))
	local := caller.freshLocal(s.call, s.decl.Name.Name+"Of")
	keys := w.keyNames(true, caller.freshLocal)
	w.keyVars = nil
	inside := w.keyNames(false, func(_ ast.Node, want string) string { return f.freshLocal(w.call, want) })
	literal := w.hearer(at)
	if literal != "" {
		w.hear = f.freshLocal(w.call, "each")
	}
	varying, _ := s.varying(w.loop, w.does)
	late := s.late(w.loop)
	of := func(v *types.Var) bool {
		return slices.Contains(varying, v) || slices.Contains(s.changed, v) || slices.Contains(late, v)
	}

	var once, each, onceParams, eachParams []string
	for _, field := range s.decl.Type.Params.List {
		for _, id := range field.Names {
			v := f.defined(id)
			if v == nil {
				continue // of the name _
			}
			text := id.Name + " " + f.text(field.Type)
			if v == w.wide {
				t, _ := f.typeText(w.kind)
				text = id.Name + " " + t
			}
			if of(v) {
				each, eachParams = append(each, caller.text(s.args[v])), append(eachParams, text)
			} else {
				once, onceParams = append(once, caller.text(s.args[v])), append(onceParams, text)
			}
		}
	}
	for i, k := range w.keys {
		t, _ := f.typeText(k.t)
		onceParams = append(onceParams, inside[i]+" "+w.pointer()+"[]"+t)
	}
	once = append(once, w.addressed(keys)...)
	if literal != "" {
		once, onceParams = append(once, literal), append(onceParams, w.hear+" "+w.hearsType(f))
	}
	call := all
	switch {
	case w.ofOther():
		each = append([]string{w.receiver()}, each...)
		eachParams = append([]string{s.recv.Name() + " " + f.text(s.decl.Recv.List[0].Type)}, eachParams...)
	case s.recv != nil:
		call = caller.text(s.args[s.recv]) + "." + all
	}
	at.in(f).after(s.decl, "\n"+w.besideEach(all, onceParams, eachParams, inside))
	w.loop.gatherRows(at)
	at.before(w.outer(), fmt.Sprintf("%s%s%s%s := %s(%s)\n", w.gatherEach(keys), w.slicesOfFollowers(at), caller.indent(w.loop.node.Pos()), local, call, strings.Join(once, ", ")))
	at.replace(s.call, local+"("+strings.Join(each, ", ")+")")
	at.imports = append(at.imports, caller.lacking(w.keyTypes())...)
}

// receiver is what the loop calls the method of, as an argument.
func (w *eachWriter) receiver() string {
	s := w.via
	arg := s.args[s.recv]
	text := s.f.text(arg)
	switch given, wants := isPointer(s.f.info().TypeOf(arg)), isPointer(s.recv.Type()); {
	case given && !wants:
		return "*" + text
	case !given && wants:
		return "&" + text
	}
	return text
}

// besideEach is the function beside the one that the loop called.
func (w *eachWriter) besideEach(all string, once, each, keys []string) string {
	s, f := w.via, w.f
	sig := "func(" + strings.Join(each, ", ") + ")"
	if r := s.decl.Type.Results; r != nil {
		sig += " " + f.text(r)
	}
	recv := ""
	if s.decl.Recv != nil && !w.ofOther() {
		recv = f.text(s.decl.Recv) + " "
	}
	local := f.freshLocal(w.call, "read"+camel(w.sql.table))
	says := fmt.Sprintf("%s is %s for the elements of a loop: it reads %s of %s of many elements at once. The function that it returns does for one what %s does.", all, s.decl.Name.Name, w.rows(), w.sql.table, s.decl.Name.Name)
	return "// " + strings.ReplaceAll(wrap(says, 85), "\n", "\n// ") + "\n" +
		fmt.Sprintf("func %s%s(%s) %s {\n\t%s := %s\n\treturn %s %s\n}\n", recv, all, strings.Join(once, ", "), sig, local, w.callHelper(keys), sig, w.bodyOf(w.readEach(local)))
}
