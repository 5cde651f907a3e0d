package patch

import (
	"fmt"
	"strings"
)

// writeReader adds the function that takes the place of reads, and is its name.
func (g *deepGroup) writeReader(d *deepRead) string {
	f, at := d.f, g.lead.in(d.f)
	name := f.fresh(d.call, "read"+camel(d.sql.table))
	kind, _ := f.typeText(d.asked)
	dsts, dstParams, _, _ := d.eachDsts()
	params := []string{"ctx " + f.packageName("context") + ".Context", "db " + kind}
	var keys []string
	for _, k := range d.keys {
		t, _ := f.typeText(k.t)
		params, keys = append(params, k.name+" "+t), append(keys, k.name)
	}
	params = append(params, dstParams...)
	single := fmt.Sprintf("db.%sContext(ctx, %s, %s)", d.dbCall.method, literal(d.text), strings.Join(keys, ", "))
	if d.dst != nil {
		single = fmt.Sprintf("%sdst, %s, %s)", d.into(d.dbCall.method), literal(d.text), strings.Join(keys, ", "))
	} else {
		single += "." + d.rowRead.method + "(" + strings.Join(dsts, ", ") + ")"
	}
	says := fmt.Sprintf("%s reads %s of %s by one statement, or takes what was read for a loop where ctx has %s.", name, d.rows(), d.sql.table, g.names.rows)
	at.atEnd(fmt.Sprintf("// %s\nfunc %s(%s) error {\n\tif noted, ok := ctx.Value(%s{}).(*%s); ok && noted.db == db {\n\t\treturn noted.%s(%s)\n\t}\n\treturn %s\n}\n",
		strings.ReplaceAll(wrap(says, 85), "\n", "\n// "), name, strings.Join(params, ", "), g.names.key, g.names.rows, d.name, strings.Join(append(keys, dsts...), ", "), single))
	return name
}

// writeRead makes the edits of one read: it takes its row from those that the context has.
func (g *deepGroup) writeRead(d *deepRead, reader string) {
	f, at := d.f, g.lead.in(d.f)
	if d.inner != nil {
		g.writeInner(d)
		return
	}
	args := []string{f.text(d.ctx), f.text(d.handle)}
	for _, a := range d.args {
		args = append(args, f.text(a))
	}
	for _, dst := range d.dsts {
		args = append(args, f.text(dst))
	}
	at.replace(d.whole, reader+"("+strings.Join(args, ", ")+")")
	if d.row != nil {
		at.remove(d.row)
	}
	d.frees(at)
}

// writeInner makes the edits of a read in a loop of its function: the loop notes its elements
// once more, since the function may be called by none.
func (g *deepGroup) writeInner(d *deepRead) {
	f, at, p := d.f, g.lead.in(d.f), d.inner
	in := f.indent(p.w.loop.node.Pos())
	rows := f.freshLocal(d.call, lower(g.names.rows))
	w := &readWriter{rowRead: d.rowRead, loop: p.w.loop}
	var texts []string
	nils, lines := "", ""
	for i, a := range d.args {
		x, _ := p.w.loop.early(a, p.w.does) // it is told that it can be, where it was noted
		texts = append(texts, x.text)
		for _, n := range x.nils {
			nils += fmt.Sprintf("%s\tif %s == nil {\n%s\t\tcontinue\n%s\t}\n", in, n, in, in)
		}
		slice := rows + "." + d.same.slice(i)
		lines += fmt.Sprintf("%s\t%s = append(%s, %s)\n", in, slice, slice, x.text)
	}
	w.before = strings.Join(texts, " ")
	at.before(w.outer(), fmt.Sprintf("%s%s := %s(%s, %s)\n%s%s {\n%s%s%s}\n", in, rows, g.names.make, f.text(d.ctx), f.text(d.handle), in, w.header(), nils, lines, in))
	var args []string
	for _, a := range d.args {
		args = append(args, f.text(a))
	}
	for _, dst := range d.dsts {
		args = append(args, f.text(dst))
	}
	at.replace(d.whole, rows+"."+d.same.name+"("+strings.Join(args, ", ")+")")
	if d.row != nil {
		at.remove(d.row)
	}
	d.frees(at)
}
