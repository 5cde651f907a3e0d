package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// mostKeys of one IN list: far below the 65,535 placeholders of a statement, and a
// server's range optimizer takes 1,000 without a second thought.
const mostKeys = 1000

// write makes the edits.
func (w *readWriter) write() {
	if w.via != nil {
		w.writeSite()
		return
	}
	f, at := w.f, w.place
	keys := w.keysAre(w.whole)
	local := f.freshLocal(w.whole, "read"+camel(w.sql.table))
	w.hear = w.hearer(at)
	w.loop.gatherRows(at)
	at.before(w.outer(), w.gather(keys)+w.slicesOfFollowers(at)+f.indent(w.loop.node.Pos())+local+" := "+w.readAll(at, keys)+"\n")
	at.replace(w.whole, w.readOne(local))
	if w.row != nil {
		at.remove(w.row)
	}
	w.frees(at)
	at.Subject = fmt.Sprintf("Read %s of %s at once in %s", strings.TrimPrefix(w.rows(), "the "), w.sql.table, f.function(w.call))
	at.Body = fmt.Sprintf("The loop in %s read %s of %s one by one, a round trip for each %s. They are now read by one statement with IN before the loop, and taken from a map in it.\n\n%s",
		f.function(w.call), w.rows(), w.sql.table, w.loop.elements(), w.alike())
}

// frees notes that a variable with the statement's text is not read here any more.
func (w *readWriter) frees(at *Place) {
	if id, ok := ast.Unparen(w.query).(*ast.Ident); ok && w.texts == nil {
		at.freed = append(at.freed, id)
	}
}

// rows are what it reads.
func (w *readWriter) rows() string {
	if w.sql.sum {
		return "the sums"
	}
	return "the rows"
}

// alike says how what differs between one read and many is kept.
func (w *readWriter) alike() string {
	return fmt.Sprintf("%s. If the read of all fails, or finds two rows for one %s, each is read alone as before, so that an error is met where it was met before.", w.missing(), w.key.column)
}

// keysAre is what the slice of the keys is called.
func (w *readWriter) keysAre(n ast.Node) string {
	if w.loop.holdsKeys(w.before, w.keyType) {
		return w.loop.rows.list
	}
	return w.loop.f.freshLocal(n, w.keysName())
}

// gather is the loop that gathers the keys; nothing where they are gathered.
func (w *readWriter) gather(keys string) string {
	f := w.loop.f
	if w.loop.holdsKeys(w.before, w.keyType) {
		return ""
	}
	in := f.indent(w.loop.node.Pos())
	keyType, _ := f.typeText(w.keyType)
	return fmt.Sprintf("%s%s := make([]%s, 0, len(%s))\n%s%s {\n%s\t%s = append(%s, %s)\n%s}\n",
		in, keys, keyType, w.loop.overText(), in, w.header(), in, keys, keys, w.before, in)
}

// readAll is the call that reads all keys; the function that does is added to the file of
// the statement.
func (w *readWriter) readAll(at *Place, keys string) string {
	f := w.f
	helper := f.fresh(w.call, "read"+camel(w.sql.table)+"By"+camel(w.key.column))
	var extra, extraNames, extraTypes []string
	for i, a := range w.args {
		if i == w.keyArg {
			continue
		}
		t, _ := f.typeText(types.Default(f.info().TypeOf(a)))
		extra, extraTypes = append(extra, f.text(a)), append(extraTypes, t)
		extraNames = append(extraNames, fmt.Sprintf("value%d", len(extra)))
	}
	call := []string{f.text(w.handle), keys}
	if w.ctx != nil {
		call = append([]string{f.text(w.ctx)}, call...)
	}
	at = at.in(f)
	at.atEnd(w.helper(helper, extraNames, extraTypes))
	at.imports = append(at.imports, "strings")
	if isInteger(w.keyType) && !w.sql.sum {
		at.imports = append(at.imports, sqlPath)
	}
	if w.ctx != nil {
		at.imports = append(at.imports, "context")
	}
	at.imports = append(at.imports, f.lacking(w.types())...)
	if call = append(call, extra...); w.hear != "" {
		call = append(call, w.hear)
	}
	return helper + "(" + strings.Join(call, ", ") + ")"
}

// readOne is the call that takes the place of the read.
func (w *readWriter) readOne(local string) string {
	var dsts []string
	for _, d := range w.dsts {
		dsts = append(dsts, w.f.text(d))
	}
	return fmt.Sprintf("%s(%s, %s)", local, w.f.text(w.args[w.keyArg]), strings.Join(dsts, ", "))
}

// missing says what happens with keys that have no row.
func (w *readWriter) missing() string {
	switch {
	case w.sql.count:
		return "A key without rows counts 0"
	case w.sql.sum, !isInteger(w.keyType):
		return "A key that is not among them is read alone"
	}
	return "A key without a row gives sql.ErrNoRows as before"
}

// outer is the statement that new ones can stand in front of: the loop, or its label.
func (w *readWriter) outer() ast.Node {
	if l, ok := w.loop.f.parents[w.loop.node].(*ast.LabeledStmt); ok {
		return l
	}
	return w.loop.node
}

// keysName is how the keys are called: "userIDs" of p.UserID.
func (w *readWriter) keysName() string {
	name := w.before
	if i := strings.LastIndexAny(name, ".("); i >= 0 {
		name = name[i+1:]
	}
	if name = strings.Trim(name, ")]"); strings.ContainsAny(name, "[") || len(name) < 2 {
		name = camel(w.key.column)
	}
	return lower(name) + "s"
}

// header of the loop that gathers keys, with the variables that they need.
func (w *readWriter) header() string {
	f := w.loop.f
	if w.loop.rows != nil {
		return w.loop.header()
	}
	n, ok := w.loop.node.(*ast.RangeStmt)
	if !ok {
		n := w.loop.node.(*ast.ForStmt)
		return string(f.src[f.offset(n.For) : f.offset(n.Body.Lbrace)-1])
	}
	index, value := w.named(w.before, w.loop.index), w.named(w.before, w.loop.value)
	over := f.text(n.X)
	switch {
	case index && value:
		return fmt.Sprintf("for %s, %s := range %s", w.loop.index.Name(), w.loop.value.Name(), over)
	case value:
		return fmt.Sprintf("for _, %s := range %s", w.loop.value.Name(), over)
	case index:
		return fmt.Sprintf("for %s := range %s", w.loop.index.Name(), over)
	}
	return "for range " + over
}

// named reports whether a text names a variable.
func (w *readWriter) named(text string, v *types.Var) bool {
	if v == nil {
		return false
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[]()., *&", r) }) {
		if word == v.Name() {
			return true
		}
	}
	return false
}

// helper is the function that reads all.
func (w *readWriter) helper(name string, extraNames, extraTypes []string) string {
	f := w.f
	key, _ := f.typeText(w.keyType)
	handle, _ := f.typeText(w.kind)
	var params []string
	ctx, ctxArg := "", ""
	if w.ctx != nil {
		t, _ := f.typeText(f.info().TypeOf(w.ctx))
		params, ctx, ctxArg = append(params, "ctx "+t), "Context", "ctx, "
	}
	params = append(params, "db "+handle, "keys []"+key)
	for i, n := range extraNames {
		params = append(params, n+" "+extraTypes[i])
	}
	params = append(params, w.hears()...)
	var dstParams, dstNames []string
	if w.intoStruct != nil {
		t, _ := f.typeText(w.intoStruct)
		dstParams, dstNames = []string{"dst *" + t}, []string{"dst"}
	} else {
		for i, d := range w.dsts {
			t, _ := f.typeText(f.info().TypeOf(d))
			n := fmt.Sprintf("dst%d", i+1)
			if len(w.dsts) == 1 {
				n = "dst"
			}
			dstParams, dstNames = append(dstParams, n+" "+t), append(dstNames, n)
		}
	}
	sig := "key " + key + ", " + strings.Join(dstParams, ", ")

	var b strings.Builder
	what := "the row"
	if w.sql.sum {
		what = "the sum"
	}
	says := fmt.Sprintf("%s reads %ss of %s for all keys at once. The function that it returns gives %s of one key, as a read of its own does; it reads alone what could not be read at once.%s", name, what, w.sql.table, what, w.saysEach())
	b.WriteString("// " + strings.ReplaceAll(wrap(says, 85), "\n", "\n// ") + "\n")
	fmt.Fprintf(&b, "func %s(%s) func(%s) error {\n", name, strings.Join(params, ", "), sig)

	// As before.
	alone := append([]string{}, extraNames...)
	alone = append(alone[:w.keyArg], append([]string{"key"}, alone[w.keyArg:]...)...)
	single := fmt.Sprintf("db.%s%s(%s%s, %s)", w.dbCall.method, ctx, ctxArg, literal(w.text), strings.Join(alone, ", "))
	if w.dbCall.method == "Get" {
		single = fmt.Sprintf("%sdst, %s, %s)", w.into("Get"), literal(w.text), strings.Join(alone, ", "))
	} else {
		single += "." + w.rowRead.method + "(" + strings.Join(dstNames, ", ") + ")"
	}
	fmt.Fprintf(&b, "\talone := func(%s) error {\n\t\treturn %s\n\t}\n", sig, single)

	// What a row holds.
	rowType := ""
	if w.intoStruct != nil {
		rowType, _ = f.typeText(w.intoStruct)
	} else if len(w.dsts) == 1 {
		rowType, _ = f.typeText(f.info().TypeOf(w.dsts[0]).Underlying().(*types.Pointer).Elem())
	} else {
		rowType = "row"
		b.WriteString("\ttype row struct {\n")
		for i, d := range w.dsts {
			t, _ := f.typeText(f.info().TypeOf(d).Underlying().(*types.Pointer).Elem())
			fmt.Fprintf(&b, "\t\tcolumn%d %s\n", i+1, t)
		}
		b.WriteString("\t}\n")
	}
	anyType := f.anyText()
	fmt.Fprintf(&b, "\trows := make(map[%s]%s, len(keys))\n\tasked := make(map[%s]bool, len(keys))\n\tvar args []%s\n", key, rowType, key, anyType)
	b.WriteString("\tfor _, key := range keys {\n\t\tif !asked[key] {\n\t\t\tasked[key] = true\n\t\t\targs = append(args, key)\n\t\t}\n\t}\n")

	before, after := extraNames[:w.keyArg], extraNames[w.keyArg:]
	b.WriteString(w.chunks(anyType, ctx, ctxArg, rowType, before, after))
	fmt.Fprintf(&b, "\treturn func(%s) error {\n\t\trow, ok := rows[key]\n\t\tif !ok {\n", sig)
	switch {
	case w.sql.count:
		b.WriteString("\t\t\t*dst = 0\n\t\t\treturn nil\n")
	case w.sql.sum, !isInteger(w.keyType):
		fmt.Fprintf(&b, "\t\t\treturn alone(key, %s)\n", strings.Join(dstNames, ", "))
	default:
		fmt.Fprintf(&b, "\t\t\treturn %s.ErrNoRows\n", f.packageName(sqlPath))
	}
	b.WriteString("\t\t}\n")
	if rowType == "row" {
		var values []string
		for i := range w.dsts {
			dstNames[i], values = "*"+dstNames[i], append(values, fmt.Sprintf("row.column%d", i+1))
		}
		fmt.Fprintf(&b, "\t\t%s = %s\n", strings.Join(dstNames, ", "), strings.Join(values, ", "))
	} else {
		b.WriteString("\t\t*dst = row\n")
	}
	b.WriteString("\t\treturn nil\n\t}\n}\n")
	return b.String()
}

// chunks is the loop over parts of the keys.
func (w *readWriter) chunks(anyType, ctx, ctxArg, rowType string, before, after []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\tfor len(args) > 0 {\n\t\tn := len(args)\n\t\tif n > %d {\n\t\t\tn = %d\n\t\t}\n", mostKeys, mostKeys)
	values := "args[:n]..."
	if len(before)+len(after) > 0 {
		values = "values..."
		fmt.Fprintf(&b, "\t\tvar values []%s\n", anyType)
		if len(before) > 0 {
			fmt.Fprintf(&b, "\t\tvalues = append(values, %s)\n", strings.Join(before, ", "))
		}
		b.WriteString("\t\tvalues = append(values, args[:n]...)\n")
		if len(after) > 0 {
			fmt.Fprintf(&b, "\t\tvalues = append(values, %s)\n", strings.Join(after, ", "))
		}
	}
	text, at := w.text, w.key
	in := "IN (?"
	if text[at.from-1] != ' ' {
		in = " " + in
	}
	head := text[:at.from] + in
	if w.intoStruct == nil {
		head = text[:w.sql.list] + at.full + ", " + text[w.sql.list:at.from] + in
	}
	tail := ")" + text[at.to:w.sql.end]
	if w.sql.sum {
		tail += " GROUP BY " + at.full
	}
	query := fmt.Sprintf("%s+%s.Repeat(\", ?\", n-1)+%s", literal(head), w.f.packageName("strings"), literal(tail))
	if w.intoStruct != nil {
		fmt.Fprintf(&b, "\t\tvar some []%s\n\t\tif err := %s&some, %s, %s); err != nil {\n\t\t\treturn alone\n\t\t}\n", rowType, w.into("Select"), query, values)
		key, _ := w.f.typeText(w.keyType)
		_, fieldType := keyField(w.intoStruct, w.key.column)
		value := "one." + w.field
		if !types.Identical(fieldType, w.keyType) {
			value = key + "(" + value + ")"
		}
		fmt.Fprintf(&b, "\t\tfor _, one := range some {\n\t\t\tif _, twice := rows[%s]; twice {\n\t\t\t\treturn alone\n\t\t\t}\n\t\t\trows[%s] = one\n%s\t\t}\n", value, value, w.tells("\t\t\t", "&one", "one"))
	} else {
		key, _ := w.f.typeText(w.keyType)
		fmt.Fprintf(&b, "\t\tfound, err := db.Query%s(%s%s, %s)\n\t\tif err != nil {\n\t\t\treturn alone\n\t\t}\n", ctx, ctxArg, query, values)
		fields := []string{"&one"}
		if rowType == "row" {
			fields = nil
			for i := range w.dsts {
				fields = append(fields, fmt.Sprintf("&one.column%d", i+1))
			}
		}
		fmt.Fprintf(&b, "\t\tfor found.Next() {\n\t\t\tvar key %s\n\t\t\tvar one %s\n\t\t\terr := found.Scan(&key, %s)\n\t\t\t_, twice := rows[key]\n\t\t\tif err != nil || twice {\n\t\t\t\tfound.Close()\n\t\t\t\treturn alone\n\t\t\t}\n\t\t\trows[key] = one\n%s\t\t}\n", key, rowType, strings.Join(fields, ", "), w.tells("\t\t\t", "one", "one"))
		b.WriteString("\t\tif err := found.Err(); err != nil {\n\t\t\treturn alone\n\t\t}\n")
	}
	b.WriteString("\t\targs = args[n:]\n\t}\n")
	return b.String()
}
