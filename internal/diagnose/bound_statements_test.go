package diagnose

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// A buffer for joins is worth what joins take, not all of the database; where the
// record does not tell which statements join without an index, it may be all.
func TestJoinBufferIsWorthItsJoins(t *testing.T) {
	bound := func(joins int64, took time.Duration) float64 {
		in := healthy()
		both(variable("join_buffer_size", "262144"), delta("db", "Select_full_join", 300))(&in)
		in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Fingerprint: "SELECT * FROM a JOIN b", Count: 300, Total: took, FullJoins: joins})
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "db.join-buffer" {
				return f.Bound
			}
		}
		t.Fatal("no finding")
		return 0
	}
	small, large, unknown := bound(300, 20*time.Millisecond), bound(300, 2*time.Second), bound(0, 20*time.Millisecond)
	if small >= large-0.05 || large >= unknown-0.05 {
		t.Errorf("1 %% of the time: ×%.3f, half of it: ×%.3f, not told: ×%.3f", small, large, unknown)
	}
}
