package remedy_test

import (
	"math"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// worthWorld has one table of so many rows, and a service whose database takes a share of
// the CPU.
func worthWorld(rows int64, distinct int64, dbShare float64, s ...evidence.Statement) remedy.Input {
	in := remedytest.World(nil)
	in.Evidence.System = evidence.System{CPUs: 2, User: 16, Sys: 4, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30}
	in.Evidence.Services = map[string]evidence.ServiceUse{"db": {CPU: 20 * dbShare}, "php": {CPU: 20 * (0.98 - dbShare), Processes: 6}, "web": {CPU: 0.2, FileLimit: 1024}}
	in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "app", Name: "log", Engine: "InnoDB", Rows: rows, DataBytes: rows * 60,
		Columns: []evidence.Column{{Name: "id", Type: "int(11)", Distinct: rows}, {Name: "user_id", Type: "int(11)", Distinct: distinct}, {Name: "at", Type: "datetime", Distinct: rows}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Type: "BTREE", Reads: -1}}}}
	for i := range s {
		s[i].Service, s[i].Schema = "db", "app"
	}
	in.Evidence.Statements = s
	return in
}

func selects(example string, count int64, each time.Duration, examined, sent int64) evidence.Statement {
	return evidence.Statement{Fingerprint: example, Example: example, Count: count, Total: time.Duration(count) * each, RowsExamined: count * examined, RowsSent: count * sent, FullScans: count, NoIndex: count}
}

// What an index brings follows from the rows that were read and those that it leaves, and
// from the part of the CPU that is the database's: nearly all of a scan of hundreds of
// thousands of rows for one, little of what must be read and sent anyway.
func TestIndexWorthFollowsTheRows(t *testing.T) {
	const one, some = "SELECT at FROM log WHERE user_id = 7 ORDER BY id DESC LIMIT 1", "SELECT * FROM log WHERE user_id = 7"
	key := evidence.Statement{Fingerprint: "SELECT * FROM log WHERE id = ?", Example: "SELECT * FROM log WHERE id = 7", Count: 3000, Total: 600 * time.Millisecond, RowsExamined: 3000, RowsSent: 3000}
	for _, c := range []struct {
		name       string
		in         remedy.Input
		low, high  float64 // of reach
		gain, most float64 // of throughput
	}{
		// make demo: 124 answers/s as found, ×66.8 with everything; three scans of 300,000 rows are 97 % of the CPU.
		{"whole tables for a row", worthWorld(300000, 100000, 0.97, selects(one, 200, 96*time.Millisecond, 300000, 1)), 0.99, 1, 25, 40},
		{"short scans", worthWorld(1500, 1000, 0.40, selects(some, 1000, 500*time.Microsecond, 1500, 2), key), 0.6, 0.93, 1.12, 1.5},
		{"a part of the table is asked for", worthWorld(20000, 25, 0.40, selects(some, 300, 6*time.Millisecond, 20000, 800)), 0.6, 0.92, 1.2, 1.6},
	} {
		p := remedytest.Want(t, c.in, "mariadb.index")
		if got := p.Worth().Expected(); p.Reach < c.low || p.Reach > c.high || got < c.gain || got > c.most {
			t.Errorf("%s: reach %.3f, want %.2f to %.2f; expected ×%.2f, want ×%.2f to ×%.2f", c.name, p.Reach, c.low, c.high, got, c.gain, c.most)
		}
	}
}

// What the database does outside of statements stays, however few rows they read.
func TestIndexesLeaveTheCommands(t *testing.T) {
	expected := func(counters map[string]float64) remedy.Plan {
		in := worthWorld(5000, 5000, 0.5, selects("SELECT at FROM log WHERE user_id = 7", 500, time.Millisecond, 5000, 1))
		for name, n := range counters {
			in.Evidence.Counters["db"].Delta[name] = n
		}
		return remedytest.Want(t, in, "mariadb.index")
	}
	few, many := expected(nil), expected(map[string]float64{"Questions": 200000, "Com_stmt_prepare": 200000, "Com_stmt_close": 200000, "Connections": 2000})
	left := 1 - (600000*6e-6+2000*90e-6)/10
	if math.Abs(many.Reach-few.Reach*left) > 1e-9 || few.Reach < 0.9 {
		t.Errorf("reach %.3f without and %.3f with 600,000 commands, want %.3f of it", few.Reach, many.Reach, left)
	}
	flooded := expected(map[string]float64{"Questions": 1e9})
	if flooded.Reach > 0.01 {
		t.Errorf("reach %.3f where all CPU is taking commands", flooded.Reach)
	}
}
