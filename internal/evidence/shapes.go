package evidence

import (
	"maps"
	"slices"
	"strings"

	"kasoku/internal/tables"
)

// Shapes are the tables of all databases, by name. Of those that several schemas have under
// one name it is only told what is so in all: nothing says which of them a program uses.
func (s *Snapshot) Shapes() []tables.Table {
	found := map[string]tables.Table{}
	for _, service := range slices.Sorted(maps.Keys(s.Databases)) {
		for _, t := range s.Databases[service].Tables {
			one, name := t.shape(), strings.ToLower(t.Name)
			if other, twice := found[name]; twice {
				one = common(one, other)
			}
			found[name] = one
		}
	}
	var out []tables.Table
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}

// shape is what of a table decides whether a statement may be changed.
func (t *Table) shape() tables.Table {
	out := tables.Table{Name: t.Name, Columns: map[string]string{}, Acts: t.Triggers > 0}
	for _, c := range t.Columns {
		out.Columns[c.Name] = c.Type
		if c.Nullable {
			out.Nullable = append(out.Nullable, c.Name)
		}
	}
	for _, x := range t.Indexes {
		if _, whole := out.Columns[x.Columns[0]]; x.Unique && len(x.Columns) == 1 && whole {
			out.Unique = append(out.Unique, x.Columns[0])
		}
	}
	for _, k := range t.ForeignKeys {
		out.Acts = out.Acts || k.Acts
		out.Itself = out.Itself || k.RefSchema == t.Schema && k.RefTable == t.Name
	}
	return out
}

// common is what two tables of one name have in common.
func common(a, b tables.Table) tables.Table {
	out := tables.Table{Name: a.Name, Columns: map[string]string{}, Acts: a.Acts || b.Acts, Itself: a.Itself || b.Itself}
	for name, kind := range a.Columns {
		if b.Columns[name] == kind {
			out.Columns[name] = kind
		}
	}
	out.Unique, out.Nullable = both(a.Unique, b.Unique), both(a.Nullable, b.Nullable)
	return out
}

func both(a, b []string) (out []string) {
	for _, name := range a {
		if slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}
