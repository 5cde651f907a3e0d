package diagnose

import (
	"testing"

	"kasoku/internal/evidence"
)

// That statements are prepared to be used once is work in the source where the program puts
// its data source name together; where a file of settings holds all of it, the option is set
// there, and single requests that were followed say it with their routes.
func TestPreparesAreWorkInTheSource(t *testing.T) {
	listed := func(change func(*Input)) (n int) {
		in := healthy()
		both(goApp, delta("db", "Com_stmt_prepare", 4000), delta("db", "Com_stmt_execute", 4000))(&in)
		change(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range WorkList(in.Evidence, d) {
			if w.OfDriver() {
				n++
				if w.Bound <= 1 {
					t.Errorf("%s has no bound", w.Title)
				}
			}
		}
		return n
	}
	if n := listed(func(*Input) {}); n != 1 {
		t.Errorf("parts in the environment: %d items, want 1", n)
	}
	whole := func(in *Input) {
		in.Snapshot.Files["local"]["/api.env"] = evidence.File{Service: "api", Content: []byte("DSN=u:p@tcp(db:3306)/app?parseTime=true\n")}
	}
	if n := listed(whole); n != 0 {
		t.Errorf("all of it in a file of settings: %d items, want none", n)
	}
}
