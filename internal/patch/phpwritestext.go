package patch

import (
	"fmt"
	"slices"
	"strings"
)

// write gives the place its edits: the values are gathered in the loop, and a function in
// front of it sends them, a hundred at a time and the rest behind the loop.
func (w *phpChange) write() {
	unit, loop := w.f.unit(w.loop.node), w.loop.node
	in, region := w.f.phpIndent(loop), w.read.region
	verb, table := strings.ToLower(w.verb()), w.table()
	send := "$" + w.freshVariable(w.at, w.styled(verb, table))
	rows := "$" + w.freshVariable(w.at, w.styled(map[bool]string{true: "rows", false: "keys"}[w.insert != nil], "of", table))

	takes := w.takes()
	lines := append([]string{"// It sends one statement for all of them.", send + " = function (array " + w.local("all") + ")" + takes + " {"}, w.sends(unit)...)
	w.phpWriter.insert(loop, in, append(lines, "};", rows+" = [];"))
	at := w.f.phpIndent(region[0])
	w.edit(region[0].From, region[len(region)-1].To, strings.Join([]string{
		rows + "[] = " + w.gathered() + ";",
		fmt.Sprintf("if (count(%s) === %d) {", rows, mostRows),
		unit + send + "(" + rows + ");",
		unit + rows + " = [];",
		"}",
	}, "\n"+at))
	w.edit(loop.To, loop.To, "\n"+in+send+"("+rows+");")
	w.removePrepare()
	w.tell()
}

func (w *phpChange) verb() string {
	if w.insert != nil {
		return "INSERT"
	}
	return w.keyed.verb
}

func (w *phpChange) table() string {
	if w.insert != nil {
		return w.insert.table
	}
	return w.keyed.table
}

// styled joins words as the names of the function are.
func (w *phpChange) styled(words ...string) string {
	for i := range words {
		words[i] = strings.Trim(phpNotWord.ReplaceAllString(strings.ToLower(words[i]), "_"), "_")
	}
	if name := phpFunction(w.at); strings.Contains(name, "_") || name == "" {
		return strings.Join(words, "_")
	}
	camel := phpCamel(strings.Join(words, "_"))
	return strings.ToLower(camel[:1]) + camel[1:]
}

// gathered is what a turn adds: the values of a row, or the key.
func (w *phpChange) gathered() string {
	if w.keyed != nil {
		return w.f.phpText(w.read.args[w.key])
	}
	var texts []string
	for _, a := range w.read.args {
		texts = append(texts, w.f.phpText(a))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// local is a variable of the function that sends, which none that it takes is named as.
func (w *phpChange) local(name string) string {
	for slices.Contains(w.taken, "$"+name) {
		name = "the" + strings.ToUpper(name[:1]) + name[1:]
	}
	return "$" + name
}

// takes are the variables that the function which sends needs.
func (w *phpChange) takes() string {
	var out []string
	take := func(e *phpNode) {
		e.Walk(func(n *phpNode) bool {
			if v := n.Variable(); v != "" && v != "this" && !phpSuper[v] && !slices.Contains(out, "$"+v) {
				out = append(out, "$"+v)
			}
			return true
		})
	}
	if w.read.sender == "" {
		take(w.read.handle)
	} else if w.read.sent[0].Is("Expr_MethodCall") {
		take(w.read.sent[0].Node("var"))
	}
	for i, a := range w.read.args {
		if w.keyed != nil && i != w.key {
			take(a)
		}
	}
	if w.taken = out; len(out) == 0 {
		return ""
	}
	return " use (" + strings.Join(out, ", ") + ")"
}

// sends are the lines of the function.
func (w *phpChange) sends(unit string) []string {
	var out []string
	line := func(depth int, text string, args ...any) {
		out = append(out, strings.Repeat(unit, depth)+fmt.Sprintf(text, args...))
	}
	all, some, stmt := w.local("all"), w.local("some"), w.local("stmt")
	switch size := w.local("size"); {
	case w.keyed != nil:
		line(1, "// What is no plain integer is compared alone.")
		line(1, "%s = array_filter(%s, function ($key) {", size, all)
		line(2, "return is_int($key) || is_string($key) && (string) (int) $key === $key;")
		line(1, "}) === %s ? %d : 1;", all, mostRows)
		line(1, "foreach (array_chunk(%s, %s) as %s) {", all, size, some)
	case w.takesNull():
		line(1, "if (%s) {", all)
		some = all
	default:
		line(1, "// Alone, so that a column which takes no null says so.")
		line(1, "%s = in_array(null, array_merge([], ...%s), true) ? 1 : %d;", size, all, mostRows)
		line(1, "foreach (array_chunk(%s, %s) as %s) {", all, size, some)
	}
	r, query, values := w.read, w.query(some), w.values(some)
	if r.sender != "" {
		line(2, "%s(%s, %s);", r.sender, query, values)
		line(1, "}")
		return out
	}
	line(2, "%s = %s->prepare(%s);", stmt, w.f.phpText(r.handle), query)
	if r.api == "PDO" || r.types == "" {
		line(2, "%s->execute(%s);", stmt, values)
	} else {
		given := w.local("values")
		line(2, "%s = %s;", given, values)
		line(2, "%s->bind_param(%s, ...%s);", stmt, w.types(some), given)
		line(2, "%s->execute();", stmt)
	}
	line(1, "}")
	return out
}

// takesNull: all columns of an insert are known to take null.
func (w *phpChange) takesNull() bool {
	t := w.program.schema.tables[strings.ToLower(w.insert.table)]
	return t != nil && !slices.ContainsFunc(w.insert.columns, func(c string) bool { return !t.null[strings.ToLower(c)] })
}

// query is the statement's text for so many rows or keys, as PHP writes it.
func (w *phpChange) query(some string) string {
	text := w.read.text
	before, one, after := "", "?", ""
	if w.insert != nil {
		before, one, after = text[:w.insert.to], text[w.insert.from:w.insert.to], text[w.insert.to:]
	} else {
		c := w.keyed.params[w.key]
		before, after = text[:c.from]+"IN (?", ")"+text[c.to:]
	}
	out := phpQuote(before) + " . str_repeat(" + phpQuote(", "+one) + ", count(" + some + ") - 1)"
	if after = strings.TrimRight(after, " \t\n;"); after != "" {
		out += " . " + phpQuote(after)
	}
	return out
}

// values are what the placeholders are given.
func (w *phpChange) values(some string) string {
	if w.insert != nil {
		return "array_merge(..." + some + ")"
	}
	parts := []string{}
	fixed := func(args []*phpNode) {
		var texts []string
		for _, a := range args {
			texts = append(texts, w.f.phpText(a))
		}
		if len(texts) > 0 {
			parts = append(parts, "["+strings.Join(texts, ", ")+"]")
		}
	}
	fixed(w.read.args[:w.key])
	parts = append(parts, some)
	fixed(w.read.args[w.key+1:])
	if len(parts) == 1 {
		return some
	}
	return "array_merge(" + strings.Join(parts, ", ") + ")"
}

// types are the letters of mysqli.
func (w *phpChange) types(some string) string {
	t := w.read.types
	if w.insert != nil {
		return "str_repeat(" + phpQuote(t) + ", count(" + some + "))"
	}
	var parts []string
	for _, part := range []string{t[:w.key], "", t[w.key+1:]} {
		if part != "" {
			parts = append(parts, phpQuote(part))
		}
	}
	key := "str_repeat(" + phpQuote(t[w.key:w.key+1]) + ", count(" + some + "))"
	at := 0
	if w.key > 0 {
		at = 1
	}
	return strings.Join(slices.Insert(parts, at, key), " . ")
}

// removePrepare takes away the statement that was prepared before the loop for it alone.
func (w *phpChange) removePrepare() {
	if len(w.read.vars) != 1 {
		return
	}
	for _, use := range usesOf(w.scope, w.read.vars[0]) {
		if !slices.ContainsFunc(w.read.region, use.Within) && use.Parent != w.read.sent[0].Parent {
			return
		}
	}
	stmt, _, _ := phpStatement(w.read.sent[0])
	if slices.Contains(w.read.region, stmt) || !w.f.firstOnLine(stmt) || !w.f.lastOnLine(stmt) {
		return
	}
	to := stmt.To
	for to < len(w.f.src) && w.f.src[to-1] != '\n' {
		to++
	}
	w.edit(w.f.lineStart(stmt.From), to, "")
}

// tell gives the place the words of its commit.
func (w *phpChange) tell() {
	at, table := w.place, w.table()
	in := at.Function
	if in == "" {
		in = at.File
	}
	lead := "The loop in " + in + " sent one " + w.verb() + " to " + table + " in each turn, a round trip each. "
	if w.insert != nil {
		at.Subject = "Insert the rows of " + table + " together in " + in
		at.Body = lead + fmt.Sprintf("It now gathers their values, and statements of up to %d rows insert them, in the same order and in the same transaction. An error is thrown as before, and the transaction rolled back.", mostRows)
		if !w.takesNull() {
			at.Body += " Where a value is null, each row is inserted alone, since a server without strict mode takes it otherwise among several."
		}
		return
	}
	verb := map[string]string{"UPDATE": "Change", "DELETE": "Delete"}[w.keyed.verb]
	at.Subject = verb + " the rows of " + table + " together in " + in
	at.Body = lead + fmt.Sprintf("It now gathers the keys, and statements with IN of up to %d of them follow, in the same transaction. Each gives every row the same values, so neither their order nor a key that comes twice matters. Where a key is no plain integer, each is sent alone. An error is thrown as before, and the transaction rolled back.", mostRows)
}
