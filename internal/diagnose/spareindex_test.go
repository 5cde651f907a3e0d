package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

func TestSpareIndexes(t *testing.T) {
	index := func(name string, reads int64, unique bool, columns ...string) evidence.TableIndex {
		return evidence.TableIndex{Name: name, Unique: unique, Columns: columns, Type: "BTREE", Reads: reads}
	}
	down := func(name string, descending []bool, columns ...string) evidence.TableIndex {
		return evidence.TableIndex{Name: name, Columns: columns, Type: "BTREE", Reads: 9, Descending: descending}
	}
	hidden := func(x evidence.TableIndex) evidence.TableIndex { x.Hidden = true; return x }
	const month = 30 * 86400
	for _, c := range []struct {
		name    string
		uptime  float64
		keys    []evidence.ForeignKey
		indexes []evidence.TableIndex
		want    string
	}{
		{"the beginning of another", 0, nil, []evidence.TableIndex{index("a", -1, false, "x"), index("b", -1, false, "x", "y")}, "a"},
		{"of two equal ones the second", 0, nil, []evidence.TableIndex{index("a", 9, false, "x"), index("b", 9, false, "x")}, "b"},
		{"a unique one stays", 0, nil, []evidence.TableIndex{index("a", 9, false, "x"), index("b", 9, true, "x")}, "a"},
		{"a unique one is not the shorter one's spare", 0, nil, []evidence.TableIndex{index("a", 9, true, "x"), index("b", 9, false, "x", "y")}, ""},
		{"another prefix length is another index", 0, nil, []evidence.TableIndex{index("a", 9, false, "x(10)"), index("b", 9, false, "x(20)", "y")}, ""},
		{"of two expressions each is its own", month, nil, []evidence.TableIndex{index("a", 0, false, "(lower(`x`))"), index("b", 0, false, "(lower(`x`))", "y")}, ""},
		{"a hidden one does nobody's work", 0, nil, []evidence.TableIndex{index("a", 9, false, "x"), hidden(index("b", 9, false, "x", "y"))}, ""},
		{"a hidden one is somebody's trial", month, nil, []evidence.TableIndex{hidden(index("a", 0, false, "x")), index("b", 9, false, "x", "y")}, ""},
		{"another order of rows", 0, nil, []evidence.TableIndex{index("a", 9, false, "x", "y"), down("b", []bool{false, true}, "x", "y", "z")}, ""},
		{"the same order backwards", 0, nil, []evidence.TableIndex{down("a", []bool{true, false}, "x", "y"), down("b", []bool{false, true}, "x", "y", "z")}, "a"},
		{"never read in a month", month, nil, []evidence.TableIndex{index("a", 0, false, "x")}, "a"},
		{"never read in a day", 86400, nil, []evidence.TableIndex{index("a", 0, false, "x")}, ""},
		{"nobody counted the reads", month, nil, []evidence.TableIndex{index("a", -1, false, "x")}, ""},
		{"unread, but unique", month, nil, []evidence.TableIndex{index("a", 0, true, "x")}, ""},
		{"unread, but a foreign key needs it", month, []evidence.ForeignKey{{Columns: []string{"X"}, RefSchema: "s", RefTable: "p", RefColumns: []string{"id"}}}, []evidence.TableIndex{index("a", 0, false, "x", "y")}, ""},
		{"unread, but another table refers to it", month, []evidence.ForeignKey{{Columns: []string{"z"}, RefSchema: "s", RefTable: "t", RefColumns: []string{"x"}}}, []evidence.TableIndex{index("a", 0, false, "x")}, ""},
	} {
		db := &evidence.Database{Tables: []evidence.Table{{Schema: "s", Name: "t", Indexes: c.indexes, ForeignKeys: c.keys}}}
		var got []string
		for _, s := range SpareIndexes(db, c.uptime) {
			got = append(got, s.Index.Name)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %q, want %q", c.name, g, c.want)
		}
	}
}

// TestSpareIndexesOnMariaDB: MariaDB 10.11 counts written rows in Handler_write
// only, so the rule was silent there.
func TestSpareIndexesOnMariaDB(t *testing.T) {
	in := healthy()
	in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "InnoDB", Indexes: []evidence.TableIndex{
		{Name: "a", Columns: []string{"x"}, Type: "BTREE"}, {Name: "b", Columns: []string{"x", "y"}, Type: "BTREE"}}}}
	delete(in.Evidence.Counters["db"].Delta, "Innodb_rows_inserted")
	in.Evidence.Counters["db"].Delta["Handler_write"] = 4000
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Rule == "db.spare-index" {
			return
		}
	}
	t.Errorf("silent; not judged: %v", d.NotJudged)
}
