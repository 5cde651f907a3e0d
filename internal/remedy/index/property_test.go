package index

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/evidence"
	_ "kasoku/internal/rapidseed"
)

// randomWorkload draws tables a…c and statements on their columns.
func randomWorkload(t *rapid.T) ([]evidence.Statement, []evidence.Table) {
	var tables []evidence.Table
	types := []string{"int(11)", "varchar(50)", "varchar(500)", "text", "tinyint(1)", "datetime", "json"}
	for _, name := range []string{"a", "b", "c"} {
		rows := rapid.Int64Range(0, 500000).Draw(t, "rows")
		columns := fmt.Sprintf("id:int(11):%d", rows)
		for i := range 5 {
			columns += fmt.Sprintf(" c%d:%s:%d", i, rapid.SampledFrom(types).Draw(t, "type"), rapid.Int64Range(0, max(rows, 1)).Draw(t, "distinct"))
		}
		indexes := []string{"PRIMARY(id)"}
		for i := range rapid.IntRange(0, 2).Draw(t, "indexes") {
			list := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"id", "c0", "c1", "c2", "c3", "c4"}), 1, 3, rapid.ID[string]).Draw(t, "columns")
			indexes = append(indexes, fmt.Sprintf("%six%d(%s)", rapid.SampledFrom([]string{"", "UNIQUE "}).Draw(t, "unique"), i, strings.Join(list, ",")))
		}
		tables = append(tables, define(name, rows, columns, indexes...))
	}
	column := rapid.SampledFrom([]string{"id", "c0", "c1", "c2", "c3", "c4"})
	forms := []func() string{
		func() string { return "SELECT * FROM a WHERE " + column.Draw(t, "x") + " = 'x'" },
		func() string {
			return "SELECT * FROM a WHERE " + column.Draw(t, "x") + " = ? AND " + column.Draw(t, "y") + " > ? ORDER BY " + column.Draw(t, "z") + " DESC LIMIT 5"
		},
		func() string {
			return "SELECT a.c0 FROM a JOIN b ON a." + column.Draw(t, "x") + " = b." + column.Draw(t, "y") + " WHERE b." + column.Draw(t, "z") + " IN (1,2)"
		},
		func() string {
			return "SELECT " + column.Draw(t, "x") + ", COUNT(*) FROM b WHERE " + column.Draw(t, "y") + " = ? GROUP BY " + column.Draw(t, "z")
		},
		func() string {
			return "UPDATE b SET c1 = ? WHERE " + column.Draw(t, "x") + " = ? AND " + column.Draw(t, "y") + " = ?"
		},
		func() string {
			return "SELECT * FROM a LEFT JOIN b USING (c0) JOIN c ON c.id = b." + column.Draw(t, "x") + " WHERE EXISTS (SELECT 1 FROM c z WHERE z.c1 = a." + column.Draw(t, "y") + ")"
		},
		func() string {
			return "SELECT MAX(" + column.Draw(t, "x") + ") FROM c WHERE " + column.Draw(t, "y") + " = ?"
		},
		func() string { return "INSERT INTO c (c0) VALUES (1), (2)" },
		func() string { return "SELECT '" + rapid.String().Draw(t, "junk") },
	}
	var statements []evidence.Statement
	for range rapid.IntRange(1, 8).Draw(t, "statements") {
		sql := rapid.SampledFrom(forms).Draw(t, "form")()
		statements = append(statements, run(sql, rapid.Int64Range(1, 100000).Draw(t, "count"),
			time.Duration(rapid.Int64Range(0, int64(100*time.Second)).Draw(t, "total")),
			float64(rapid.IntRange(0, 500000).Draw(t, "examined")), float64(rapid.IntRange(0, 100).Draw(t, "sent"))))
	}
	return statements, tables
}

// TestAdviceIsMinimal: no index is a prefix of another or of an existing one,
// none is on a small table or too wide, names are unique and short.
func TestAdviceIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		statements, tables := randomWorkload(t)
		advice, _ := Advise(statements, tables, Options{})
		cat := newCatalog(tables)
		var read []*statement
		for at, st := range statements {
			read = append(read, newStatement(st, at, cat, false))
		}
		grow(read)
		var all []indexDef
		names := map[string]bool{}
		for _, a := range advice {
			tab := cat.find(a.Schema, a.Table)
			d := newTable(evidence.Table{Indexes: []evidence.TableIndex{{Columns: a.Columns}}}).indexes[0]
			d.table = tab
			for _, have := range tab.indexes {
				if d.prefixOf(have) {
					t.Fatalf("%v of %s is a prefix of existing %v", a.Columns, a.Table, have.columns)
				}
			}
			for _, o := range all {
				if d.prefixOf(o) || o.prefixOf(d) {
					t.Fatalf("%v and %v are redundant", d.columns, o.columns)
				}
			}
			all = append(all, d)
			if tab.rows*(1+tab.bytes/bytesOfRow) < 100 || len(a.Columns) > 5 || len(a.Name) > 64 || names[a.Table+a.Name] {
				t.Fatalf("bad advice %+v on %d rows", a, tab.Rows)
			}
			if last := d.columns[len(d.columns)-1]; last == "id" {
				t.Fatalf("%v ends with the primary key, which is there anyway", d.columns)
			}
			if a.Benefit <= 0 || a.Benefit > 1 {
				t.Fatalf("benefit %v", a.Benefit)
			}
			names[a.Table+a.Name] = true
		}
	})
}

// sortStatements puts an index's statements in order, each with what is left of it.
func sortStatements(a *Advice) {
	left := map[int]float64{}
	for i, at := range a.Statements {
		left[at] = a.Left[i]
	}
	slices.Sort(a.Statements)
	for i, at := range a.Statements {
		a.Left[i] = left[at]
	}
}

// TestAdviceIgnoresOrder: shuffled statements and tables give the same advice.
func TestAdviceIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		statements, tables := randomWorkload(t)
		want, _ := Advise(statements, tables, Options{})
		again, _ := Advise(statements, tables, Options{})
		if !reflect.DeepEqual(want, again) {
			t.Fatalf("two calls differ:\n%+v\n%+v", want, again)
		}
		order := rapid.Permutation(indices(len(statements))).Draw(t, "order")
		var shuffled []evidence.Statement
		for _, i := range order {
			shuffled = append(shuffled, statements[i])
		}
		slices.Reverse(tables)
		got, _ := Advise(shuffled, tables, Options{})
		for i := range got {
			for j, at := range got[i].Statements {
				got[i].Statements[j] = order[at]
			}
			sortStatements(&got[i])
		}
		for i := range want {
			sortStatements(&want[i])
		}
		if !reflect.DeepEqual(canonical(want, statements), canonical(got, statements)) {
			t.Fatalf("order matters:\n%+v\n%+v", want, got)
		}
	})
}

// canonical replaces statement positions by texts: equal statements may change
// places.
func canonical(list []Advice, statements []evidence.Statement) (out []string) {
	for _, a := range list {
		var texts []string
		for i, at := range a.Statements {
			texts = append(texts, fmt.Sprint(statements[at], a.Left[i]))
		}
		slices.Sort(texts)
		a.Statements, a.Left = nil, nil
		out = append(out, fmt.Sprintf("%+v %q", a, texts))
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
