package patch

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// writeSite makes the edits of a read that stands in a function which the loop calls: a
// second function beside it reads all rows and returns what gives one call's results.
func (w *readWriter) writeSite() {
	s, f, at := w.via, w.f, w.place
	caller, name := s.f, f.function(s.decl)
	all := f.fresh(w.call, plural(s.decl.Name.Name))
	local := caller.freshLocal(s.call, s.decl.Name.Name+"Of")
	keys := w.keysAre(s.call)
	varying, _ := s.varying(w.loop, w.does)
	literal, within := w.hearer(at), ""
	if literal != "" {
		within = f.freshLocal(w.call, "each")
	}
	w.hear = within
	at.in(f).after(s.decl, "\n"+w.besideText(at, all, varying))

	key := s.named(w.args[w.keyArg])[0]
	var once, each []string
	for _, v := range s.params {
		switch {
		case v == key:
			once, each = append(once, keys), append(each, caller.text(s.args[v]))
		case slices.Contains(varying, v):
			each = append(each, caller.text(s.args[v]))
		default:
			once = append(once, caller.text(s.args[v]))
		}
	}
	if literal != "" {
		once = append(once, literal)
	}
	call := all
	if s.recv != nil {
		call = caller.text(s.args[s.recv]) + "." + all
	}
	w.loop.gatherRows(at)
	at.before(w.outer(), fmt.Sprintf("%s%s%s%s := %s(%s)\n", w.gather(keys), w.slicesOfFollowers(at), caller.indent(w.loop.node.Pos()), local, call, strings.Join(once, ", ")))
	at.replace(s.call, local+"("+strings.Join(each, ", ")+")")
	at.imports = append(at.imports, caller.lacking([]types.Type{w.keyType})...)
	at.Subject = fmt.Sprintf("Read %s of %s at once in %s", strings.TrimPrefix(w.rows(), "the "), w.sql.table, caller.function(s.call))
	at.Body = fmt.Sprintf("The loop in %s called %s, which read %s of %s one by one, a round trip for each %s. %s beside it reads them by one statement with IN before the loop; what it returns does for each element what %s does, with the row taken from a map.\n\n%s",
		caller.function(s.call), name, w.rows(), w.sql.table, w.loop.elements(), all, name, w.alike())
}

// besideText is the function that reads all.
func (w *readWriter) besideText(at *Place, all string, varying []*types.Var) string {
	s, f := w.via, w.f
	key := s.named(w.args[w.keyArg])[0]
	keyType, _ := f.typeText(w.keyType)
	keys := f.freshLocal(w.call, w.keysOfFunction())
	var once, each []string
	for _, field := range s.decl.Type.Params.List {
		for _, id := range field.Names {
			v := f.defined(id)
			text := id.Name + " " + f.text(field.Type)
			if v == key {
				once = append(once, keys+" []"+keyType)
			}
			if slices.Contains(varying, v) {
				each = append(each, text)
			} else {
				once = append(once, text)
			}
		}
	}
	if w.hear != "" {
		once = append(once, w.hear+" "+w.hearsType(f))
	}
	sig := "func(" + strings.Join(each, ", ") + ")"
	if r := s.decl.Type.Results; r != nil {
		sig += " " + f.text(r)
	}
	recv := ""
	if s.decl.Recv != nil {
		recv = f.text(s.decl.Recv) + " "
	}
	local := f.freshLocal(w.call, "read"+camel(w.sql.table))
	says := fmt.Sprintf("%s is %s for the elements of a loop: it reads %s of %s for all keys at once. The function that it returns does for one key what %s does.", all, s.decl.Name.Name, w.rows(), w.sql.table, s.decl.Name.Name)
	return "// " + strings.ReplaceAll(wrap(says, 85), "\n", "\n// ") + "\n" +
		fmt.Sprintf("func %s%s(%s) %s {\n\t%s := %s\n\treturn %s %s\n}\n", recv, all, strings.Join(once, ", "), sig, local, w.readAll(at, keys), sig, w.bodyWith(local))
}

// keysOfFunction is how the function beside calls its keys: "ids" of the parameter id.
func (w *readWriter) keysOfFunction() string {
	text := w.f.text(w.args[w.keyArg])
	text = text[strings.LastIndex(text, ".")+1:]
	return plural(lower(text))
}

// bodyWith is the function's body with the read taken from what was read of all.
func (w *readWriter) bodyWith(local string) string { return w.bodyOf(w.readOne(local)) }

// bodyOf is the function's body with another text in the place of the read.
func (w *readWriter) bodyOf(read string) string {
	f, body := w.f, w.via.decl.Body
	base := f.offset(body.Pos())
	text := f.text(body)
	with := func(from, to int, by string) { text = text[:from-base] + by + text[to-base:] }
	with(f.offset(w.whole.Pos()), f.offset(w.whole.End()), read)
	if w.row != nil {
		from, to := f.linesOf(w.row)
		with(from, to, "")
	}
	for _, one := range w.unused {
		from, to := f.linesOf(one)
		with(from, to, "")
	}
	return text
}
