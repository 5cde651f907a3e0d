package report

import (
	"bytes"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// The plans are those of MySQL 8.0 and MariaDB 10.11 with names changed.
func TestPlansAreShown(t *testing.T) {
	for name, c := range map[string]struct{ explain, want string }{
		"MySQL": {`{"query_block":{"select_id":1,"ordering_operation":{"using_temporary_table":true,"using_filesort":true,"nested_loop":[
			{"table":{"table_name":"o","access_type":"ALL","rows_examined_per_scan":150000,"filtered":"10.00","attached_condition":"(o.secret = 'x')"}},
			{"table":{"table_name":"u","access_type":"eq_ref","key":"PRIMARY","rows_examined_per_scan":1,"filtered":"100.00","using_index":true}}]}}}`,
			"o|ALL|–|150000|10 %|Using filesort, Using temporary\nu|eq_ref|PRIMARY|1|100 %|Using filesort, Using temporary, Using index"},
		"MariaDB": {`{"query_block":{"select_id":1,"nested_loop":[{"read_sorted_file":{"filesort":{"sort_key":"o.at desc","table":{"table_name":"o","access_type":"range","key":"at","rows":40,"filtered":12.5}}}}]}}`,
			"o|range|at|40|12.5 %|Using filesort"},
		"a constant": {`{"query_block":{"select_id":1,"message":"No tables used"}}`, "–|||||no table in the plan, or a form that is not known: --json holds it"},
		"no JSON":    {"ALL", "–|||||no table in the plan, or a form that is not known: --json holds it"},
	} {
		t.Run(name, func(t *testing.T) {
			run := &store.Run{ID: 9, Evidence: &evidence.Evidence{Load: &load.Result{}, Statements: []evidence.Statement{{Service: "db", Fingerprint: "SELECT ?", Count: 1, Explain: c.explain}}}}
			var got []string
			for _, r := range plans(run).Rows {
				got = append(got, strings.Join(r[1:7], "|"))
			}
			if s := strings.Join(got, "\n"); s != c.want {
				t.Errorf("got\n%s\nwant\n%s", s, c.want)
			}
			var b bytes.Buffer
			if err := RunText(&b, run, run, All); err != nil || !strings.Contains(b.String(), "lans of statements") || strings.Contains(b.String(), "secret") {
				t.Errorf("%v\n%s", err, b.String())
			}
		})
	}
}
