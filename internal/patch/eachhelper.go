package patch

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// eachHelper is the function that reads for many elements.
func (w *eachWriter) eachHelper(name string) string {
	f := w.f
	handle, _ := f.typeText(w.kind)
	params := []string{"db " + handle}
	ctx, ctxArg := "", ""
	if w.ctx != nil {
		t, _ := f.typeText(f.info().TypeOf(w.ctx))
		params, ctx, ctxArg = []string{"ctx " + t, params[0]}, "Context", "ctx, "
	}
	var fields, sigKeys []string
	for i, k := range w.keys {
		t, _ := f.typeText(k.t)
		params = append(params, w.sliceName(i)+" "+w.pointer()+"[]"+t)
		sigKeys, fields = append(sigKeys, k.name+" "+t), append(fields, k.name)
	}
	values := make([]string, len(w.args)) // what the placeholders get: of an element, or of all
	alone := make([]string, len(w.args))
	for n, i := 0, 0; i < len(w.args); i++ {
		if w.isKey(i) {
			continue
		}
		n++
		t, _ := f.typeText(types.Default(f.info().TypeOf(w.args[i])))
		params = append(params, fmt.Sprintf("value%d %s", n, t))
		values[i], alone[i] = fmt.Sprintf("value%d", n), fmt.Sprintf("value%d", n)
	}
	for _, k := range w.keys {
		values[k.arg], alone[k.arg] = "elements[to].key", k.name
		if len(w.keys) > 1 {
			values[k.arg] += "." + k.name
		}
	}
	params = append(params, w.hears()...)
	dsts, dstParams, rowType, rowDecl := w.eachDsts()
	sigParams, own := append(slices.Clone(sigKeys), dstParams...), append(slices.Clone(fields), dsts...)
	text := literal(w.text)
	if w.other != nil {
		sigParams, own, text = append([]string{"query string"}, sigParams...), append([]string{"query"}, own...), "query"
	}
	sig := "func(" + strings.Join(sigParams, ", ") + ") error"

	var b strings.Builder
	says := fmt.Sprintf("%s reads %s of %s for the elements of a loop, up to %d by one statement, when the first of them is asked for. The function that it returns gives that of one element, as a read of its own does; it reads alone what could not be read so.%s", name, w.rows(), w.sql.table, w.most(), w.saysKeys()+w.saysEach())
	b.WriteString("// " + strings.ReplaceAll(wrap(says, 85), "\n", "\n// ") + "\n")
	fmt.Fprintf(&b, "func %s(%s) %s {\n", name, strings.Join(params, ", "), sig)
	single := fmt.Sprintf("db.%s%s(%s%s, %s)", w.dbCall.method, ctx, ctxArg, text, strings.Join(alone, ", "))
	if w.dst != nil {
		single = fmt.Sprintf("%sdst, %s, %s)", w.into(w.dbCall.method), text, strings.Join(alone, ", "))
	} else {
		single += "." + w.rowRead.method + "(" + strings.Join(dsts, ", ") + ")"
	}
	fmt.Fprintf(&b, "\talone := %s {\n\t\treturn %s\n\t}\n%s", sig, single, rowDecl)
	keyType, keyValue := w.keyDecl(&b, sigKeys, fields)
	fmt.Fprintf(&b, "\ttype %s struct {\n\t\tkey %s\n\t\tread, alone bool\n\t\t%s\n\t}\n", w.localType("element"), keyType, w.rowField(rowType))
	w.gathered(&b, keyType)
	b.WriteString(w.eachRead(ctx, ctxArg, rowType, values))

	if w.showsNone() {
		fmt.Fprintf(&b, "\tvar none *%s // what a read without a row leaves: pointers that it needs are made\n", rowType)
	}
	fmt.Fprintf(&b, "\treturn %s {\n", sig)
	if w.other != nil {
		fmt.Fprintf(&b, "\t\tif text == \"\" {\n\t\t\ttext = query\n\t\t}\n\t\tif query != text {\n\t\t\treturn alone(%s)\n\t\t}\n", strings.Join(own, ", "))
	}
	if w.list {
		fmt.Fprintf(&b, "\t\tif len(*dst) > 0 {\n\t\t\treturn alone(%s)\n\t\t}\n", strings.Join(own, ", "))
	}
	if w.emptyOnly {
		t, _ := f.typeText(w.intoStruct)
		fmt.Fprintf(&b, "\t\tif *dst != (%s{}) {\n\t\t\treturn alone(%s)\n\t\t}\n", t, strings.Join(own, ", "))
	}
	if w.given != nil {
		b.WriteString("\t\tgather()\n")
	}
	fmt.Fprintf(&b, "\t\ti, ok := at[%s]\n\t\tif ok && !elements[i].read {\n\t\t\tread(i)\n\t\t}\n", keyValue)
	fmt.Fprintf(&b, "\t\tif !ok || elements[i].alone {\n\t\t\treturn alone(%s)\n\t\t}\n", strings.Join(own, ", "))
	switch {
	case w.list:
	case w.showsNone():
		w.handNone(&b, strings.Join(own, ", "))
	case w.givesNoRows():
		fmt.Fprintf(&b, "\t\trow := elements[i].row\n\t\tif row == nil {\n\t\t\treturn %s.ErrNoRows\n\t\t}\n", f.packageName(sqlPath))
	default:
		fmt.Fprintf(&b, "\t\trow := elements[i].row\n\t\tif row == nil {\n\t\t\treturn alone(%s)\n\t\t}\n", strings.Join(own, ", "))
	}
	w.hand(&b, dsts)
	b.WriteString("\t\treturn nil\n\t}\n}\n")
	return b.String()
}

// localType is a name that no type of the package has.
func (w *eachWriter) localType(name string) string {
	for w.f.pkg.Types.Scope().Lookup(name) != nil {
		name += "Read"
	}
	return name
}

// givesNoRows: the new function says itself that there is no row. It cannot in a file of
// a package that has nothing to do with database/sql; and an aggregate has always one.
func (w *eachWriter) givesNoRows() bool {
	return !w.list && !w.branch.sum && w.f.pkg.Imports[sqlPath] != nil
}

// showsNone: the read of one element shows what is left without a row. sqlx makes what the
// pointers of a struct point to before it finds that there is none.
func (w *eachWriter) showsNone() bool { return w.givesNoRows() && len(w.copied) > 0 }

// handNone writes what is done without a row: the first such element is read alone.
func (w *eachWriter) handNone(b *strings.Builder, own string) {
	noRows := w.f.packageName(sqlPath) + ".ErrNoRows"
	fmt.Fprintf(b, "\t\trow := elements[i].row\n\t\tif row == nil && none == nil {\n\t\t\terr := alone(%s)\n\t\t\tif err == %s {\n\t\t\t\tleft := *dst\n\t\t\t\tnone = &left\n\t\t\t}\n\t\t\treturn err\n\t\t}\n", own, noRows)
	b.WriteString("\t\tif row == nil {\n\t\t\t*dst = *none\n")
	w.handOwn(b, "dst")
	fmt.Fprintf(b, "\t\t\treturn %s\n\t\t}\n", noRows)
}

// sliceName is the parameter with the keys of all elements.
func (w *eachWriter) sliceName(i int) string {
	if len(w.keys) == 1 {
		return "keys"
	}
	return numbered("keys", i)
}

// eachDsts are the parameters that a row is put into, and the type of a row.
func (w *eachWriter) eachDsts() (names, params []string, rowType, decl string) {
	f := w.f
	if w.list {
		t, _ := f.typeText(f.info().TypeOf(w.dst))
		rowType, _ = f.typeText(w.elem)
		return []string{"dst"}, []string{"dst " + t}, rowType, ""
	}
	if w.intoStruct != nil {
		t, _ := f.typeText(w.intoStruct)
		return []string{"dst"}, []string{"dst *" + t}, t, ""
	}
	if len(w.dsts) == 1 {
		t, _ := f.typeText(f.info().TypeOf(w.dsts[0]))
		rowType, _ = f.typeText(f.info().TypeOf(w.dsts[0]).Underlying().(*types.Pointer).Elem())
		return []string{"dst"}, []string{"dst " + t}, rowType, ""
	}
	decl = "\ttype " + w.localType("columns") + " struct {\n"
	for i, d := range w.dsts {
		t, _ := f.typeText(f.info().TypeOf(d))
		of, _ := f.typeText(f.info().TypeOf(d).Underlying().(*types.Pointer).Elem())
		names, params = append(names, numbered("dst", i)), append(params, numbered("dst", i)+" "+t)
		decl += "\t\t" + numbered("column", i) + " " + of + "\n"
	}
	return names, params, w.localType("columns"), decl + "\t}\n"
}

// keyDecl writes the type of a key of several values.
func (w *eachWriter) keyDecl(b *strings.Builder, sigKeys, fields []string) (keyType, value string) {
	if len(w.keys) == 1 {
		t, _ := w.f.typeText(w.keys[0].t)
		return t, "key"
	}
	name := w.localType("values")
	b.WriteString("\ttype " + name + " struct {\n")
	for _, k := range sigKeys {
		b.WriteString("\t\t" + k + "\n")
	}
	b.WriteString("\t}\n")
	return name, name + "{" + strings.Join(fields, ", ") + "}"
}

// gathered writes the list of elements, each key once.
func (w *eachWriter) gathered(b *strings.Builder, keyType string) {
	if w.given != nil {
		w.gatheredLater(b, keyType)
		return
	}
	fmt.Fprintf(b, "\tvar elements []%s\n\tat := make(map[%s]int, len(%s))\n", w.localType("element"), keyType, w.sliceName(0))
	if len(w.keys) == 1 {
		b.WriteString("\tfor _, key := range keys {\n")
	} else {
		var of []string
		for i := range w.keys {
			of = append(of, w.sliceName(i)+"[i]")
		}
		fmt.Fprintf(b, "\tfor i := range keys1 {\n\t\tkey := %s{%s}\n", keyType, strings.Join(of, ", "))
	}
	fmt.Fprintf(b, "\t\tif _, ok := at[key]; !ok {\n\t\t\tat[key] = len(elements)\n\t\t\telements = append(elements, %s{key: key})\n\t\t}\n\t}\n", w.localType("element"))
}

// eachRead is the function that reads the elements from one on.
func (w *eachWriter) eachRead(ctx, ctxArg, rowType string, values []string) string {
	var b strings.Builder
	most := fmt.Sprint(w.most())
	early := w.loop.readsToEnd() != nil && w.most() > 16
	if early {
		b.WriteString("\tmost := 16 // more each time: the loop may end early\n")
		most = "most"
	}
	head, tail := w.branch.withNumber(w.number)
	head, tail = literal(head), literal(tail)
	if w.other != nil {
		_, otherTail := w.other.withNumber(w.number)
		fmt.Fprintf(&b, "\ttext := \"\" // that the first of them has\n\ttail := func() string {\n\t\tif text == %s {\n\t\t\treturn %s\n\t\t}\n\t\treturn %s\n\t}\n", literal(w.text), tail, literal(otherTail))
		tail = "tail()"
	}
	fmt.Fprintf(&b, "\tread := func(from int) {\n\t\tvar query %s.Builder\n\t\tvar args []%s\n\t\tto := from\n", w.f.packageName("strings"), w.f.anyText())
	fmt.Fprintf(&b, "\t\tfor ; to < len(elements) && to < from+%s && !elements[to].read; to++ {\n", most)
	b.WriteString("\t\t\tif to > from {\n\t\t\t\tquery.WriteString(\" UNION ALL \")\n\t\t\t}\n")
	fmt.Fprintf(&b, "\t\t\tquery.WriteString(%s + %s.Itoa(to-from) + %s)\n", head, w.f.packageName("strconv"), tail)
	fmt.Fprintf(&b, "\t\t\targs = append(args, %s)\n\t\t\telements[to].read, elements[to].alone = true, true\n\t\t}\n", strings.Join(values, ", "))
	if early {
		fmt.Fprintf(&b, "\t\tif most < %d {\n\t\t\tmost *= 2\n\t\t}\n", w.most())
	}
	if w.given == nil { // many rows may lead to one key
		b.WriteString("\t\tif to == from+1 {\n\t\t\treturn\n\t\t}\n")
	}
	if w.column != "" {
		field := camel(w.number)
		fmt.Fprintf(&b, "\t\tvar some []struct {\n\t\t\tValue %s `db:\"%s\"`\n\t\t\t%s int `db:\"%s\"`\n\t\t}\n", rowType, w.column, field, w.number)
		fmt.Fprintf(&b, "\t\tif err := %s&some, query.String(), args...); err != nil {\n\t\t\treturn\n\t\t}\n", w.into("Select"))
		w.taken(&b, "for i := range some", "&elements[from+some[i]."+field+"]", "&some[i].Value")
	} else if w.intoStruct != nil {
		field := camel(w.number)
		fmt.Fprintf(&b, "\t\tvar some []struct {\n\t\t\t%s\n\t\t\t%s int `db:\"%s\"`\n\t\t}\n", rowType, field, w.number)
		fmt.Fprintf(&b, "\t\tif err := %s&some, query.String(), args...); err != nil {\n\t\t\treturn\n\t\t}\n", w.into("Select"))
		w.taken(&b, "for i := range some", "&elements[from+some[i]."+field+"]", "&some[i]."+rowType[strings.LastIndex(rowType, ".")+1:])
	} else {
		fields := []string{"&row"}
		if len(w.dsts) > 1 {
			fields = nil
			for i := range w.dsts {
				fields = append(fields, "&row."+numbered("column", i))
			}
		}
		fmt.Fprintf(&b, "\t\tfound, err := db.Query%s(%squery.String(), args...)\n\t\tif err != nil {\n\t\t\treturn\n\t\t}\n\t\tdefer found.Close()\n", ctx, ctxArg)
		b.WriteString("\t\tvar rows []" + rowType + "\n\t\tvar of []int\n\t\tfor found.Next() {\n\t\t\tvar row " + rowType + "\n\t\t\tvar n int\n")
		fmt.Fprintf(&b, "\t\t\tif err := found.Scan(%s, &n); err != nil {\n\t\t\t\treturn\n\t\t\t}\n\t\t\trows, of = append(rows, row), append(of, n)\n\t\t}\n\t\tif found.Err() != nil {\n\t\t\treturn\n\t\t}\n", strings.Join(fields, ", "))
		w.taken(&b, "for i := range rows", "&elements[from+of[i]]", "&rows[i]")
	}
	b.WriteString("\t}\n")
	return b.String()
}

// taken writes the loop that gives each element its first row, as a read of one row does.
// Where the statement says not which is first, two rows are no answer.
func (w *eachWriter) taken(b *strings.Builder, loop, element, row string) {
	b.WriteString("\t\tfor i := from; i < to; i++ {\n\t\t\telements[i].alone = false\n\t\t}\n")
	if w.list {
		fmt.Fprintf(b, "\t\t%s {\n\t\t\te := %s\n\t\t\te.rows = append(e.rows, %s)\n%s\t\t}\n", loop, element, strings.TrimPrefix(row, "&"), w.tells("\t\t\t", row, ""))
		return
	}
	fmt.Fprintf(b, "\t\t%s {\n\t\t\te := %s\n\t\t\tif e.row == nil {\n\t\t\t\te.row = %s\n%s\t\t\t}", loop, element, row, w.tells("\t\t\t\t", w.wholeRow(), "e.row"))
	if !w.branch.ordered && !w.branch.sum {
		b.WriteString(" else {\n\t\t\t\te.alone = true\n\t\t\t}")
	}
	b.WriteString("\n\t\t}\n")
}

// hand writes how a row is put into what the loop has for it.
func (w *eachWriter) hand(b *strings.Builder, dsts []string) {
	if w.intoStruct == nil && len(dsts) > 1 {
		var to, values []string
		for i := range dsts {
			to, values = append(to, "*"+dsts[i]), append(values, "row."+numbered("column", i))
		}
		fmt.Fprintf(b, "\t\t%s = %s\n", strings.Join(to, ", "), strings.Join(values, ", "))
		w.handPointed(b, dsts)
		return
	}
	if w.list {
		b.WriteString("\t\tfor _, row := range elements[i].rows {\n\t\t\tone := row\n")
		w.handOwn(b, "one")
		one := "one"
		if w.pointers {
			one = "&one"
		}
		fmt.Fprintf(b, "\t\t\t*dst = append(*dst, %s)\n\t\t}\n", one)
		return
	}
	if w.bytes {
		b.WriteString("\t\t*dst = append((*row)[:0:0], *row...)\n")
		return
	}
	b.WriteString("\t\t*dst = *row\n")
	w.handOwn(b, "dst")
	w.handPointed(b, dsts)
}

// handPointed writes how a column that is read into a pointer gets memory of its own.
func (w *eachWriter) handPointed(b *strings.Builder, dsts []string) {
	if w.intoStruct != nil {
		return
	}
	for i, d := range w.dsts {
		if p, ok := w.f.info().TypeOf(d).Underlying().(*types.Pointer); ok && isPointer(p.Elem()) {
			fmt.Fprintf(b, "\t\tif *%s != nil {\n\t\t\town := **%s\n\t\t\t*%s = &own\n\t\t}\n", dsts[i], dsts[i], dsts[i])
		}
	}
}

// handOwn writes how a copy of a row gets memory of its own.
func (w *eachWriter) handOwn(b *strings.Builder, dst string) {
	for _, field := range w.cloned {
		fmt.Fprintf(b, "\t\t%s.%s = append(%s.%s[:0:0], %s.%s...)\n", dst, field, dst, field, dst, field)
	}
	for _, field := range w.copied {
		fmt.Fprintf(b, "\t\tif %s.%s != nil {\n\t\t\town := *%s.%s\n\t\t\t%s.%s = &own\n\t\t}\n", dst, field, dst, field, dst, field)
	}
}

// rowField is where an element holds what was read for it.
func (w *eachWriter) rowField(rowType string) string {
	if w.list {
		return "rows []" + rowType
	}
	return "row *" + rowType
}
