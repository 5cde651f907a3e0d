package index

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// An index that the server's own plan reads stays, unless another one begins
// with its columns; what the plan says of another table's index of that name is
// no reason.
func TestNeededByPlan(t *testing.T) {
	orders := evidence.Table{Schema: "s", Name: "orders", Engine: "InnoDB", Rows: 50, Columns: []evidence.Column{{Name: "id", Type: "int"}, {Name: "customer", Type: "int"}, {Name: "state", Type: "int"}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}, {Name: "state", Columns: []string{"state"}}, {Name: "customer", Columns: []string{"customer"}}, {Name: "both", Columns: []string{"customer", "state"}}}}
	people := evidence.Table{Schema: "s", Name: "people", Engine: "InnoDB", Rows: 50, Columns: []evidence.Column{{Name: "state", Type: "int"}}, Indexes: []evidence.TableIndex{{Name: "state", Columns: []string{"state"}}}}
	for _, c := range []struct {
		why, name, explain string
		needed             bool
	}{
		{"not in the plan", "state", `{"query_block":{"table":{"table_name":"orders","access_type":"ALL","rows":50}}}`, false},
		{"in the plan", "state", `{"query_block":{"table":{"table_name":"orders","access_type":"ref","key":"state","rows":5}}}`, true},
		{"by its alias", "state", `{"query_block":{"nested_loop":[{"table":{"table_name":"o","access_type":"index","key":"state"}}]}}`, true},
		{"another table's", "state", `{"query_block":{"table":{"table_name":"people","access_type":"ref","key":"state"}}}`, false},
		{"another begins with it", "customer", `{"query_block":{"table":{"table_name":"orders","access_type":"ref","key":"customer"}}}`, false},
		{"with others", "state", `{"query_block":{"table":{"table_name":"orders","access_type":"index_merge","key":"union(state,PRIMARY)"}}}`, true},
		{"with others, on MariaDB", "state", `{"query_block":{"table":{"table_name":"orders","access_type":"index_merge","index_merge":{"union":{"range":{"key":"state"},"range":{"key":"PRIMARY"}}}}}}`, true},
		{"no plan", "state", "", false},
	} {
		s := evidence.Statement{Schema: "s", Fingerprint: "SELECT id FROM orders o", Example: "SELECT id FROM orders o", Count: 10, Total: time.Second, Explain: c.explain}
		got := Needed([]evidence.Statement{s}, []evidence.Table{orders, people}, "s", "orders", c.name)
		if strings.Contains(got, "EXPLAIN") != c.needed || (got != "") != c.needed {
			t.Errorf("%s: %q", c.why, got)
		}
	}
}

// The reason of an index cites the server's own plan where that reads the table
// whole.
func TestReasonCitesPlan(t *testing.T) {
	orders := evidence.Table{Schema: "s", Name: "orders", Engine: "InnoDB", Rows: 50000, DataBytes: 4 << 20, Columns: []evidence.Column{{Name: "id", Type: "int"}, {Name: "customer", Type: "int", Distinct: 9000}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}}
	for explain, want := range map[string]bool{
		`{"query_block":{"table":{"table_name":"o","access_type":"ALL","rows":50000}}}`:            true,
		`{"query_block":{"table":{"table_name":"orders","access_type":"ref","key":"x","rows":5}}}`: false,
		`{"query_block":{"union_result":{"table_name":"<union1,2>","access_type":"ALL"}}}`:         false,
		"": false,
	} {
		s := evidence.Statement{Schema: "s", Fingerprint: "SELECT id FROM orders o WHERE customer = ?", Example: "SELECT id FROM orders o WHERE customer = 7", Count: 100, Total: 10 * time.Second,
			RowsExamined: 5000000, RowsSent: 500, FullScans: 100, Explain: explain}
		advice, notes := Advise([]evidence.Statement{s}, []evidence.Table{orders}, Options{})
		if len(advice) != 1 || strings.Contains(advice[0].Reason, "(EXPLAIN: o is read whole, ALL)") != want {
			t.Errorf("%s: %+v, %v", explain, advice, notes)
		}
	}
}

// Rows that are joined by their primary key are found by it: no index is advised that
// begins with it.
func TestNoIndexBeginsWithThePrimaryKey(t *testing.T) {
	threads := evidence.Table{Schema: "s", Name: "threads", Engine: "InnoDB", Rows: 15000, DataBytes: 2 << 20,
		Columns: []evidence.Column{{Name: "id", Type: "int"}, {Name: "list", Type: "int", Distinct: 12}, {Name: "first", Type: "int", Distinct: 15000}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}, {Name: "list", Columns: []string{"list"}}}}
	mails := evidence.Table{Schema: "s", Name: "mails", Engine: "InnoDB", Rows: 60000, DataBytes: 90 << 20,
		Columns: []evidence.Column{{Name: "id", Type: "int"}, {Name: "sent", Type: "datetime", Distinct: 58000}, {Name: "text", Type: "longtext"}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}}
	const text = "SELECT COUNT(*) FROM threads INNER JOIN mails ON threads.first = mails.id WHERE threads.list = 3 AND mails.sent > '2026-10-01'"
	s := evidence.Statement{Schema: "s", Fingerprint: text, Example: text, Count: 150, Total: 5 * time.Second, RowsExamined: 150 * 2500, RowsSent: 150}
	advice, _ := Advise([]evidence.Statement{s}, []evidence.Table{threads, mails}, Options{})
	if len(advice) == 0 {
		t.Fatal("nothing is advised")
	}
	for _, a := range advice {
		if a.Table == "mails" && a.Columns[0] == "id" {
			t.Errorf("advised: %s (%s)", a.Table, strings.Join(a.Columns, ", "))
		}
	}
}
