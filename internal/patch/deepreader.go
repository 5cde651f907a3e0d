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
