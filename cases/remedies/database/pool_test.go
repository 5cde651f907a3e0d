package database_test

import (
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy"
)

// TestPoolShrinks: a buffer pool of a gigabyte for some megabytes of data is
// made smaller while the server runs, and undo makes it as large again. That
// memory is short would disturb all that runs here, so it is put into the
// evidence.
func TestPoolShrinks(t *testing.T) {
	const large = "1073741824"
	s := start(t, "innodb_buffer_pool_size = 1G\ninnodb_flush_log_at_trx_commit = 2\n",
		[]string{"CREATE TABLE t (id INT PRIMARY KEY, v CHAR(100))", "INSERT INTO t SELECT seq, MD5(seq) FROM seq_1_to_20000"},
		map[string]route{"/read": {weight: 1, sql: func(n int64) []string { return []string{"DO (SELECT v FROM t WHERE id = 7)"} }}})
	in := s.Look(t, bed.Relaxed())
	in.Evidence.System.MemoryAvailable = in.Evidence.System.MemoryTotal / 10
	planned := func() (remedy.Input, remedy.Result) {
		in := in
		in.Snapshot = s.Snapshot(t)
		var err error
		if in.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot}); err != nil {
			t.Fatal(err)
		}
		return in, remedy.PlanAll(in)
	}
	_, bad := planned()
	p, before := bed.Want(t, bad, "mariadb.pool-smaller"), s.Hash(t)
	tx := s.Apply(t, p)
	if got := s.variable(t, "innodb_buffer_pool_size"); got != "268435456" {
		t.Errorf("the pool is %s bytes, want 256 MiB", got)
	}
	s.Answers(t, "a smaller pool")
	now, again := planned()
	for _, f := range now.Diagnosis.Findings {
		if f.Rule == p.Rule {
			t.Errorf("the sign is still there: %s", f.Text)
		}
	}
	for _, q := range again.Plans {
		if q.Remedy == p.Remedy || q.Remedy == "mariadb.memory" {
			t.Errorf("planned although the pool was just made smaller: %s", q.Title)
		}
	}
	s.Revert(t, tx)
	if got := s.variable(t, "innodb_buffer_pool_size"); got != large || s.Hash(t) != before {
		t.Errorf("the pool is %s bytes after the undo, or something else is not as before", got)
	}
}
