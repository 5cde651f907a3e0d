package patch

import (
	"fmt"
	"go/types"
	"strings"
)

// write puts a function in the place of the one that reads: it gives what that one gave in
// the last second.
func (m *masterRead) write(at *Place) {
	f, d := m.f, m.decl
	name := d.Name.Name
	kept := f.fresh(m.call, lower(camel(name))+"Kept")
	read := f.fresh(m.call, "read"+camel(strings.ToUpper(name[:1])+name[1:]))
	handle, ok := f.typeText(m.kind)
	ts := []types.Type{m.kind}
	var fields, values, given, stored []string
	for i, t := range m.results {
		text, named := f.typeText(t)
		ok = ok && named
		value := "value"
		if i > 0 {
			value = fmt.Sprintf("value%d", i+1)
		}
		get, put := "kept."+value, value
		if isSlice(t) {
			get, put = "slices.Clone("+get+")", "slices.Clone("+put+")"
			at.imports = append(at.imports, "slices")
		}
		ts = append(ts, t)
		fields, values = append(fields, "\t"+value+" "+text+"\n"), append(values, value)
		given, stored = append(given, get), append(stored, put)
	}
	if !ok {
		at.refused(refuse("compiles", "a type has no name in this file"))
		return
	}
	call, db := read, f.text(m.handle)
	if d.Recv != nil && len(d.Recv.List) == 1 && len(d.Recv.List[0].Names) == 1 {
		call = d.Recv.List[0].Names[0].Name + "." + read
	}
	var args []string
	for _, p := range d.Type.Params.List {
		for _, id := range p.Names {
			args = append(args, id.Name)
		}
	}
	var b strings.Builder
	head := string(f.src[f.offset(d.Pos()):f.offset(d.Body.Lbrace)])
	fmt.Fprintf(&b, "%s{\n\tasked, kept := time.Now(), &%s\n\tkept.Lock()\n\tif kept.of == %s && asked.Before(kept.until) {\n\t\tdefer kept.Unlock()\n\t\treturn %s, nil\n\t}\n\tkept.Unlock()\n",
		head, kept, db, strings.Join(given, ", "))
	fmt.Fprintf(&b, "\t%s, failed := %s(%s)\n\tif failed == nil {\n\t\tkept.Lock()\n\t\tdefer kept.Unlock()\n\t\tkept.of, kept.until, %s = %s, asked.Add(time.Second), %s\n\t}\n\treturn %s, failed\n}\n\n",
		strings.Join(values, ", "), call, strings.Join(args, ", "), "kept."+strings.Join(values, ", kept."), db, strings.Join(stored, ", "), strings.Join(values, ", "))
	fmt.Fprintf(&b, "// %s is what %s gave last. It is given again for a second.\nvar %s struct {\n\tsync.Mutex\n\tof    %s\n\tuntil time.Time\n%s}\n\n// %s asks the database for what %s gives.\n",
		kept, read, kept, handle, strings.Join(fields, ""), read, name)
	at.edits = append(at.edits, edit{from: f.offset(d.Pos()), to: f.offset(d.Pos()), text: b.String()})
	at.replace(d.Name, read)
	at.imports = append(append(at.imports, "sync", "time"), f.lacking(ts)...)
	at.Subject = fmt.Sprintf("Keep what %s reads for a second", f.function(d))
	at.Body = fmt.Sprintf("%s asked the database in each call for what hardly ever changes: no statement of the program writes %s. What it read is kept for a second now, in each process, and copied for each caller. A failed read is not kept.\n\nWhat changes: where another program writes the table, an answer may be up to a second older than that. This is the trade staleness of a regulation.",
		f.function(d), strings.Join(m.tables, ", "))
}
