package patch

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// deepNames are what a group's new declarations are called.
type deepNames struct{ rows, key, make string }

// take makes the places of a group, and the edits of all of them in the first one. Where the
// result is no program, the places are left as they were.
func (g *deepGroup) take(all []*plan) []*Place {
	type was struct {
		p    *plan
		deep bool
		at   Place
	}
	var before []was
	var out, places []*Place
	for _, s := range g.sites {
		for _, d := range s.reads() {
			if i := slices.IndexFunc(all, func(p *plan) bool {
				return p.w != nil && p.w.via != nil && p.w.via.call == s.site.call && p.w.whole == d.whole
			}); i >= 0 {
				before = append(before, was{all[i], all[i].deep, *all[i].at})
				all[i].deep, all[i].at.Refused = true, nil
				places = append(places, all[i].at)
				continue
			}
			sel, _ := parseRead(d.text)
			shape, what := d.title(sel)
			at := s.site.f.place(shape, s.site.call, what+", by "+d.f.function(d.in.decl))
			at.Statement = d.text
			at.statementAt(d.f, d.whole)
			places, out = append(places, at), append(out, at)
		}
	}
	for _, d := range g.reads {
		if p := d.inner; p != nil {
			before = append(before, was{p, p.deep, *p.at})
			p.deep, places = true, append(places, p.at)
		}
	}
	g.lead = places[0]
	for _, at := range places[1:] {
		at.lead = g.lead
	}
	g.write()
	if _, err := Files([]*Place{g.lead}); err != nil {
		for _, w := range before {
			w.p.deep, *w.p.at = w.deep, w.at
		}
		return nil
	}
	return out
}

// reads that the loop reaches.
func (s *deepSite) reads() []*deepRead {
	g := &deepGroup{}
	g.reach(s.to)
	return g.reads
}

// write makes the edits.
func (g *deepGroup) write() {
	first := g.sites[0]
	f, at := first.site.f, g.lead
	name := first.to.decl.Name.Name
	g.names = deepNames{rows: f.fresh(first.site.call, "rowsFor"+upper(name)), key: f.fresh(first.site.call, "rowsFor"+upper(name)+"Key"), make: f.fresh(first.site.call, "getRowsFor"+upper(name))}
	count := map[string]int{}
	for _, d := range g.reads {
		if d.same = g.alike(d); d.same != d {
			continue
		}
		base := lower(camel(d.sql.table))
		if d.name = base; count[base] > 0 {
			d.name = numbered(base, count[base])
		}
		count[base]++
		d.loop, d.place = first.loop, at
		for _, s := range g.sites {
			if s.loop.readsToEnd() != nil {
				d.loop = s.loop
			}
		}
	}
	for _, s := range g.sites {
		g.writeLoop(s)
	}
	at.atEnd(g.typeText(f) + "\n" + g.makeText(f) + g.willTexts(f))
	at.imports = append(at.imports, "context")
	names := map[*deepRead]string{}
	for _, d := range g.kept() {
		if slices.ContainsFunc(g.reads, func(o *deepRead) bool { return o.same == d && o.inner == nil }) {
			names[d] = g.writeReader(d)
		}
	}
	for _, d := range g.reads {
		g.writeRead(d, names[d.same])
	}
	g.say()
}

// kept are the reads of which each has a function of its own.
func (g *deepGroup) kept() []*deepRead {
	return slices.DeleteFunc(slices.Clone(g.reads), func(d *deepRead) bool { return d.same != d })
}

// alike is the first read that reads the same, and whose rows tell the same.
func (g *deepGroup) alike(d *deepRead) *deepRead {
	i := slices.IndexFunc(g.reads, func(o *deepRead) bool { return o.sign() == d.sign() })
	return g.reads[i]
}

// sign is equal for reads that read the same and whose rows tell the same.
func (d *deepRead) sign() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s %s %v\n%s", d.text, d.dbCall.method, d.rowRead.method, d.pointers, d.function+d.signature(d.f)+d.asked.String())
	for _, c := range d.in.reads {
		if c.by == d {
			fmt.Fprintf(&b, "\n%s", c.sign())
			for _, h := range c.values {
				b.WriteString("\n" + h.text)
			}
		}
	}
	for _, c := range d.in.calls {
		if c.by == d {
			fmt.Fprintf(&b, "\n%s", c.to.f.function(c.to.decl))
			for _, h := range c.args {
				b.WriteString("\n" + h.text)
			}
		}
	}
	return b.String()
}

// say writes the commit's message.
func (g *deepGroup) say() {
	var tables, loops []string
	for _, d := range g.reads {
		if !slices.Contains(tables, d.sql.table) {
			tables = append(tables, d.sql.table)
		}
	}
	for _, s := range g.sites {
		if name := s.site.f.function(s.site.call); !slices.Contains(loops, name) {
			loops = append(loops, name)
		}
	}
	g.lead.Subject = fmt.Sprintf("Read rows of %s together in %s", listed(tables), listed(loops))
	if len(loops) > 2 {
		g.lead.Subject = fmt.Sprintf("Read rows of %s together in %d loops", listed(tables), len(g.sites))
	}
	var fns []string
	for _, fn := range g.fns {
		fns = append(fns, fn.f.function(fn.decl))
	}
	g.lead.Body = fmt.Sprintf("The loops in %s call functions that read rows one by one: %s. A loop now notes its elements before its first turn, and each row that is read notes what will be asked for by it. The first read of each kind asks for all that is noted, up to %d by one statement, joined by UNION ALL; the context carries what was read to the functions.\n\nA read takes a row only by the values that it asks for in its turn, and only of the handle that it would ask. What was not noted is read alone, as is all of a statement that fails, so that an error is met where it was met before. Calls outside of the loops read as before. The loops write nothing.",
		listed(loops), strings.Join(fns, ", "), mostBranches)
}

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// writeLoop makes the edits of a loop.
func (g *deepGroup) writeLoop(s *deepSite) {
	f, at := s.site.f, g.lead.in(s.site.f)
	in := f.indent(s.loop.node.Pos())
	rows := f.freshLocal(s.site.call, lower(g.names.rows))
	ctx := f.freshLocal(s.site.call, "rowsCtx")
	given := f.text(s.site.args[s.to.ctx])
	w := &readWriter{rowRead: &rowRead{f: f}, loop: s.loop}
	var args, texts, nils []string
	for _, x := range s.args {
		args, texts = append(args, x.text), append(texts, x.text)
		for _, n := range x.nils {
			if !slices.Contains(nils, n+" == nil") {
				nils = append(nils, n+" == nil")
			}
		}
	}
	w.before = strings.Join(texts, " ")
	skip := ""
	if len(nils) > 0 {
		skip = fmt.Sprintf("%s\tif %s {\n%s\t\tcontinue\n%s\t}\n", in, strings.Join(nils, " || "), in, in)
	}
	at.before(w.outer(), fmt.Sprintf("%s%s := %s(%s, %s)\n%s%s {\n%s%s\t%s.will%s(%s)\n%s}\n%s%s := %s.WithValue(%s, %s{}, %s)\n",
		in, rows, g.names.make, given, s.handle, in, w.header(), skip, in, rows, upper(s.to.decl.Name.Name), strings.Join(args, ", "), in, in, ctx, f.packageName("context"), given, g.names.key, rows))
	at.replace(s.site.args[s.to.ctx], ctx)
	at.imports = append(at.imports, "context")
}

// fields are the lines of a read in the type.
func (d *deepRead) fields(f *file) string {
	var b strings.Builder
	for i, k := range d.keys {
		t, _ := f.typeText(k.t)
		fmt.Fprintf(&b, "\t%s []%s\n", d.slice(i), t)
	}
	fmt.Fprintf(&b, "\t%s %s\n", d.name, d.signature(f))
	return b.String()
}

func (d *deepRead) slice(i int) string {
	if len(d.keys) == 1 {
		return d.name + "Keys"
	}
	return numbered(d.name+"Keys", i)
}

// signature of the function that gives one row.
func (d *deepRead) signature(f *file) string {
	own := d.f
	d.f = f
	_, params, _, _ := d.eachDsts()
	d.f = own
	var keys []string
	for _, k := range d.keys {
		t, _ := f.typeText(k.t)
		keys = append(keys, k.name+" "+t)
	}
	return "func(" + strings.Join(append(keys, params...), ", ") + ") error"
}

// typeText is the type that holds what is noted.
func (g *deepGroup) typeText(f *file) string {
	var b strings.Builder
	var roots []string
	for _, s := range g.sites {
		if name := s.to.decl.Name.Name; !slices.Contains(roots, name) {
			roots = append(roots, name)
		}
	}
	says := fmt.Sprintf("%s are rows that are read together for the elements of a loop: what will be asked for is noted before (will%s), and the first that is asked for is read with all others. A row is given by the values that are asked for, whatever was noted.", g.names.rows, upper(roots[0]))
	fmt.Fprintf(&b, "// %s\ntype %s struct {\n", strings.ReplaceAll(wrap(says, 85), "\n", "\n// "), g.names.rows)
	kind, _ := f.typeText(g.sites[0].kind)
	fmt.Fprintf(&b, "\tdb %s\n", kind)
	for _, d := range g.kept() {
		b.WriteString(d.fields(f))
		g.lead.imports = append(g.lead.imports, f.lacking(append(d.kinds(), d.keyTypes()...))...)
	}
	fmt.Fprintf(&b, "}\n\n// %s is the context's key of %s.\ntype %s struct{}\n", g.names.key, g.names.rows, g.names.key)
	return b.String()
}

// makeText is the function that finds what a context has, or makes a new one.
func (g *deepGroup) makeText(f *file) string {
	var b strings.Builder
	kind, _ := f.typeText(g.sites[0].kind)
	fmt.Fprintf(&b, "func %s(ctx %s.Context, db %s) *%s {\n\tif noted, ok := ctx.Value(%s{}).(*%s); ok && noted.db == db {\n\t\treturn noted\n\t}\n\tnoted := &%s{db: db}\n", g.names.make, f.packageName("context"), kind, g.names.rows, g.names.key, g.names.rows, g.names.rows)
	for _, d := range g.kept() {
		hears := g.hears(d, f)
		helper := d.f.fresh(d.call, "read"+camel(d.sql.table)+"Of")
		var args []string
		for i := range d.keys {
			args = append(args, "&noted."+d.slice(i))
		}
		if hears != "" {
			args = append(args, hears)
		}
		fmt.Fprintf(&b, "\tnoted.%s = %s(ctx, db, %s)\n", d.name, helper, strings.Join(args, ", "))
		at := g.lead.in(d.f)
		at.atEnd(d.eachHelper(helper))
		at.imports = append(at.imports, "strings", "strconv", "context")
		if d.givesNoRows() {
			at.imports = append(at.imports, sqlPath)
		}
		at.imports = append(at.imports, d.f.lacking(append(d.kinds(), d.keyTypes()...))...)
	}
	return b.String() + "\treturn noted\n}\n"
}

// hears is the function that is told of a read's rows; "" if they tell nothing.
func (g *deepGroup) hears(d *deepRead, f *file) string {
	lines := g.lines(d.in, d)
	if len(lines) == 0 {
		return ""
	}
	d.hear, d.followers = "each", []*eachWriter{d.eachWriter}
	var params []string
	for i, t := range d.rowTypes() {
		name := "_"
		if d.intoStruct != nil {
			name = rowName
		} else if v := d.f.variable(addressed(d.dsts[i])); v != nil && mentions(lines, v.Name()) {
			name = v.Name()
		}
		text, _ := f.typeText(t)
		params = append(params, name+" "+text)
	}
	return "func(" + strings.Join(params, ", ") + ") {\n" + strings.Join(lines, "") + "\t}"
}

// mentions: lines have a word.
func mentions(lines []string, name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.Join(lines, " "), func(r rune) bool { return strings.ContainsRune("[]()., *&\n\t", r) }), func(w string) bool { return w == name })
}

// lines that note what a row of a read, or the parameters (nil), tell.
func (g *deepGroup) lines(fn *deepFn, by *deepRead) []string {
	var out []string
	for _, d := range fn.reads {
		if d.by != by {
			continue
		}
		line := ""
		for i := range d.keys {
			slice := d.same.slice(i)
			line += fmt.Sprintf("\t\tnoted.%s = append(noted.%s, %s)\n", slice, slice, d.values[i].text)
		}
		if line = guarded(line, d.values); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, c := range fn.calls {
		if c.by != by {
			continue
		}
		var args []string
		for _, h := range c.args {
			args = append(args, h.text)
		}
		out = append(out, guarded(fmt.Sprintf("\t\tnoted.will%s(%s)\n", upper(c.to.decl.Name.Name), strings.Join(args, ", ")), c.args))
	}
	return out
}

// guarded is a line behind what must not be nil for it.
func guarded(line string, of []hint) string {
	var tests []string
	for _, h := range of {
		for _, n := range h.nils {
			if !slices.Contains(tests, n+" != nil") {
				tests = append(tests, n+" != nil")
			}
		}
	}
	if len(tests) == 0 {
		return line
	}
	return "\t\tif " + strings.Join(tests, " && ") + " {\n" + line + "\t\t}\n"
}

// willTexts are the methods that note what functions will ask for.
func (g *deepGroup) willTexts(f *file) string {
	var b strings.Builder
	for _, fn := range g.fns {
		if len(fn.needs) == 0 {
			continue
		}
		var params []string
		for _, v := range fn.needs {
			t, _ := f.typeText(v.Type())
			params = append(params, v.Name()+" "+t)
		}
		fmt.Fprintf(&b, "\nfunc (noted *%s) will%s(%s) {\n%s}\n", g.names.rows, upper(fn.decl.Name.Name), strings.Join(params, ", "), strings.Join(g.lines(fn, nil), ""))
		var ts []types.Type
		for _, v := range fn.needs {
			ts = append(ts, v.Type())
		}
		g.lead.imports = append(g.lead.imports, f.lacking(ts)...)
	}
	return b.String()
}
