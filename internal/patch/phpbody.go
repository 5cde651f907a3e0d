package patch

import (
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

var phpNotWord = lazyregexp.New(`[^A-Za-z0-9_]+`)

// phpBody writes the statements that read the rows of keys.
type phpBody struct {
	w     *phpWriter
	r     *phpRead
	keys  string
	unit  string
	taken []string
	lines []string
}

// body are the lines of a function that reads the rows of keys; taken are variables that it
// has already.
func (w *phpWriter) body(r *phpRead, keys, unit string, taken []string) []string {
	b := &phpBody{w: w, r: r, keys: "$" + keys, unit: unit, taken: append([]string{keys}, taken...)}
	if r.list {
		b.lists(w.freeVariables(r))
		return b.lines
	}
	rows, key, some := b.local("rows"), b.local("key"), b.local("some")
	caught := map[string]string{"PDO": "PDOException", "mysqli": "mysqli_sql_exception"}[r.api]
	b.line(0, rows+" = [];")
	b.line(0, b.keys+" = array_unique(array_filter("+b.keys+", function ("+key+") {")
	b.line(1, "return is_int("+key+") || is_string("+key+") && (string) (int) "+key+" === "+key+";")
	b.line(0, "}));")
	b.line(0, "try {")
	b.line(1, "foreach (array_chunk("+b.keys+", "+phpChunk+") as "+some+") {")
	b.ask(rows, some)
	b.line(1, "}")
	b.line(0, "} catch ("+w.fileOf().class(caught)+" "+b.local("e")+") {")
	b.line(1, "return []; // each is read alone then")
	b.line(0, "}")
	if r.sql.sum {
		b.line(0, "unset("+rows+"['']);")
	}
	b.line(0, "return "+rows+";")
	return b.lines
}

// fileOf is the file that the function is written to.
func (w *phpWriter) fileOf() *file {
	if w.via != nil {
		return w.via.fn.f
	}
	return w.f
}

func (b *phpBody) line(depth int, text string) {
	b.lines = append(b.lines, strings.Repeat(b.unit, depth)+text)
}

// local is a variable that the function does not have yet.
func (b *phpBody) local(name string) string {
	for slices.Contains(b.taken, name) {
		name = "the" + strings.ToUpper(name[:1]) + name[1:]
	}
	b.taken = append(b.taken, name)
	return "$" + name
}

// ask sends the statement for some keys and takes the rows.
func (b *phpBody) ask(rows, some string) {
	r, f := b.r, b.r.f
	stmt := b.local("stmt")
	handle := ""
	if r.handle != nil {
		handle = f.phpText(r.handle)
	}
	unique := r.api == "PDO" && r.mode != "BOTH"
	as := ""
	if !unique {
		as = b.w.rowKey(r)
	}
	before, after := r.inTexts(as)
	switch {
	case r.sender != "":
		b.line(2, stmt+" = "+r.sender+"("+phpQuote(before+"?")+" . str_repeat(', ?', count("+some+") - 1) . "+phpQuote(after)+", "+b.values(some)+");")
	case !r.prepared:
		q := r.quote
		glue := phpQuote(q + ", " + q)
		b.line(2, stmt+" = "+handle+"->query("+phpQuote(before+q)+" . implode("+glue+", "+some+") . "+phpQuote(q+after)+");")
	default:
		b.line(2, stmt+" = "+handle+"->prepare("+phpQuote(before+"?")+" . str_repeat(', ?', count("+some+") - 1) . "+phpQuote(after)+");")
		b.execute(stmt, some)
	}
	class := f.program.php.classIn(b.w.fileOf(), r.api)
	mode := r.mode
	if r.wrapped() {
		mode = "NUM"
	}
	switch {
	case mode == "COLUMN":
		b.line(2, rows+" += "+stmt+"->fetchAll("+class+"::FETCH_KEY_PAIR)"+b.none(some)+";")
	case unique:
		b.line(2, rows+" += "+stmt+"->fetchAll("+class+"::FETCH_UNIQUE | "+class+"::FETCH_"+mode+")"+b.none(some)+";")
	default:
		b.each(rows, stmt, class)
	}
	if r.sql.sum {
		b.sums(rows, some)
	}
}

func (p *php) classIn(f *file, name string) string { return f.class(name) }

// none is what keys without a row have.
func (b *phpBody) none(some string) string {
	if b.r.sql.sum || b.r.null || b.w.via != nil && !b.w.via.missing {
		return ""
	}
	return " + array_fill_keys(" + some + ", false)"
}

// values are what the placeholders are given, in their order.
func (b *phpBody) values(some string) string {
	var parts, fixed []string
	flush := func() {
		if len(fixed) > 0 {
			parts = append(parts, "["+strings.Join(fixed, ", ")+"]")
		}
		fixed = nil
	}
	for _, a := range b.r.args {
		if a == b.r.keyArg {
			flush()
			parts = append(parts, some)
			continue
		}
		fixed = append(fixed, b.r.f.phpText(a))
	}
	flush()
	if len(parts) > 1 {
		return "array_merge(" + strings.Join(parts, ", ") + ")"
	}
	return parts[0]
}

// execute gives the statement its values.
func (b *phpBody) execute(stmt, some string) {
	r := b.r
	values := b.values(some)
	if r.api == "PDO" {
		b.line(2, stmt+"->execute("+values+");")
		return
	}
	if values != some {
		all := b.local("values")
		b.line(2, all+" = "+values+";")
		values = all
	}
	var types []string
	for i, a := range r.args {
		switch {
		case a == r.keyArg:
			types = append(types, "str_repeat('i', count("+some+"))")
		case i < len(r.types):
			types = append(types, phpQuote(r.types[i:i+1]))
		default:
			types = append(types, "'s'")
		}
	}
	b.line(2, stmt+"->bind_param("+strings.Join(types, " . ")+", ..."+values+");")
	b.line(2, stmt+"->execute();")
}

// each takes the key, which is the last column, from each row.
func (b *phpBody) each(rows, stmt, class string) {
	row, result := b.local("row"), stmt
	fetch := "fetch(" + class + "::FETCH_" + b.r.mode + ")"
	if b.r.api == "mysqli" {
		fetch = "fetch_array(MYSQLI_" + b.r.mode + ")"
		if b.r.prepared {
			result = b.local("result")
			b.line(2, result+" = "+stmt+"->get_result();")
		}
	}
	b.line(2, "while ("+row+" = "+result+"->"+fetch+") {")
	if b.r.mode == "BOTH" {
		b.line(3, "array_pop("+row+"); // the key has a name and a number")
	}
	key := b.local("of")
	b.line(3, key+" = array_pop("+row+");")
	if b.r.sql.sum {
		key = "(string) " + key // null is that of none
	}
	b.line(3, rows+"["+key+"] = "+row+";")
	b.line(2, "}")
	if b.r.api == "PDO" && b.none("") != "" {
		b.line(2, rows+" += array_fill_keys("+b.some()+", false);")
	}
}

// some is the variable of the keys of one statement.
func (b *phpBody) some() string {
	i := slices.IndexFunc(b.taken, func(v string) bool { return strings.HasSuffix(strings.ToLower(v), "some") })
	return "$" + b.taken[i]
}
