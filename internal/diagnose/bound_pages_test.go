package diagnose

import "testing"

// What a larger buffer pool can bring depends on how many pages it does not hold: a few
// reads from files leave the database's other work as it is.
func TestBoundOfPageReads(t *testing.T) {
	bound := func(reads float64) float64 {
		t.Helper()
		in := healthy()
		db := in.Snapshot.Databases["db"]
		db.Variables["innodb_buffer_pool_size"], db.DataBytes = "134217728", 300<<20
		in.Evidence.Counters["db"].Delta["Innodb_buffer_pool_reads"] = reads
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "db.memory" {
				return f.Bound
			}
		}
		t.Fatal("db.memory is not found")
		return 0
	}
	few, many := bound(20), bound(200_000)
	if few > 1.05 || many < 1.2 {
		t.Errorf("at most ×%.3f by 20 page reads, ×%.3f by 200,000", few, many)
	}
}
