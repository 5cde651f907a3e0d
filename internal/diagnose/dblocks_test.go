package diagnose

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// What waits for tables is told by the statements' lock time, however seldom the server
// counted a wait; tables that nothing writes lock nobody out.
func TestTableLocksByTime(t *testing.T) {
	statement := func(sql string, total, locked time.Duration) evidence.Statement {
		return evidence.Statement{Service: "db", Schema: "s", Fingerprint: sql, Count: 10, Total: total, LockTime: locked}
	}
	find := func(waits float64, engine string, statements ...evidence.Statement) *Finding {
		in := run()
		in.Evidence.System = evidence.System{CPUs: 2, User: 5, Sys: 1, Idle: 14, ServicesCPU: 5, GeneratorCPU: 1}
		in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: 1}, "app": {CPU: 2}, "db": {CPU: 2}}
		in.Evidence.Counters = map[string]evidence.CounterDelta{}
		delta("db", "Table_locks_waited", waits)(&in)
		in.Evidence.Statements = statements
		in.Snapshot.Databases = map[string]*evidence.Database{"db": {MariaDB: true, Version: "10.11.6-MariaDB", Variables: map[string]string{"max_connections": "151"}}}
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "posts", Engine: engine}, {Schema: "s", Name: "words", Engine: engine}}
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Findings {
			if d.Findings[i].Rule == "db.myisam" {
				return &d.Findings[i]
			}
		}
		return nil
	}
	write, read := statement("UPDATE posts SET n = n + ?", time.Second, 900*time.Millisecond), statement("SELECT * FROM posts JOIN words", 9*time.Second, 3*time.Second)
	f := find(1, "MyISAM", write, read)
	if f == nil || f.Subject["tables"] != "s.posts" || !strings.Contains(f.Text, "39 % of the statement time") || f.Bound <= 1 {
		t.Fatalf("%+v", f)
	}
	if more := find(1, "MyISAM", write, statement("SELECT * FROM posts", 9*time.Second, 6*time.Second)); more == nil || more.Bound <= f.Bound {
		t.Errorf("longer waits are worth no more: %+v, %+v", more, f)
	}
	if f := find(1, "InnoDB", write, read); f != nil {
		t.Errorf("no table is locked whole: %+v", f)
	}
	if f := find(1, "MyISAM", statement("UPDATE posts SET n = n + ?", time.Second, time.Millisecond), statement("SELECT * FROM posts", 9*time.Second, 0)); f != nil {
		t.Errorf("hardly anything waits: %+v", f)
	}
}
