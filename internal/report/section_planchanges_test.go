package report

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
)

// A statement that is read by an index that was made stands with both plans and with the
// rows of each execution; others do not.
func TestPlansThatChanged(t *testing.T) {
	run := func(access, key string, examined int64) *evidence.Evidence {
		plan := func(access, key string) string {
			return `{"query_block":{"table":{"table_name":"o","access_type":"` + access + `","key":"` + key + `","rows":40}}}`
		}
		return &evidence.Evidence{Load: &load.Result{}, Statements: []evidence.Statement{
			{Service: "db", Schema: "shop", Fingerprint: "SELECT * FROM o WHERE buyer = ?", Count: 10, RowsExamined: 10 * examined, Explain: plan(access, key)},
			{Service: "db", Schema: "shop", Fingerprint: "SELECT * FROM o WHERE id = ?", Count: 10, RowsExamined: 10, Explain: plan("const", "PRIMARY")},
		}}
	}
	x := &Seen{Run: 9, Evidence: run("ref", "kasoku_o_buyer", 12), before: run("ALL", "", 30000)}
	var found *Section
	for _, s := range x.Sections() {
		if s.ID == "plan-changes" {
			found = &s
		}
	}
	if found == nil || len(found.Rows) != 1 {
		t.Fatalf("sections %+v", x.Sections())
	}
	if got, want := strings.Join(found.Rows[0], "|"), "SELECT * FROM o WHERE buyer = ?|o ALL|o ref kasoku_o_buyer|30,000|12|db/shop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	x.before = nil
	for _, s := range x.Sections() {
		if s.ID == "plan-changes" {
			t.Errorf("without a run before: %+v", s)
		}
	}
}
