package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// forumWorld is a service whose tables are MyISAM, and whose statements wait for their locks.
func forumWorld(change func(in *remedy.Input)) remedy.Input {
	in := remedytest.World(nil)
	db := in.Snapshot.Databases["db"]
	my := func(name string, bytes int64) evidence.Table {
		return evidence.Table{Schema: "forum", Name: name, Engine: "MyISAM", Rows: 5000, DataBytes: bytes, Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Type: "BTREE"}}}
	}
	db.Tables = []evidence.Table{my("users", 4<<20), my("posts", 200<<20), my("smilies", 1<<10), {Schema: "forum", Name: "orders", Engine: "InnoDB", Rows: 90000}}
	in.Evidence.Counters["db"].Delta["Table_locks_waited"] = 3 // each for seconds
	for sql, waits := range map[string]time.Duration{"UPDATE users SET seen = ? WHERE id = ?": 3 * time.Second, "SELECT * FROM users WHERE id = ?": 4 * time.Second,
		"INSERT INTO posts(body) VALUES (?)": time.Second, "SELECT * FROM smilies": 0, "SELECT * FROM orders": 0} {
		in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "forum", Fingerprint: sql, Example: sql, Count: 900, Total: 4 * time.Second, LockTime: waits})
	}
	if change != nil {
		change(&in)
	}
	return in
}

func TestRowLocksPlan(t *testing.T) {
	p := remedytest.Want(t, forumWorld(nil), "mariadb.innodb")
	remedytest.Has(t, p.Why, "40 % of the statement time is waiting", "the buffer pool of 128 MiB becomes")
	var sql []string
	for _, c := range p.Changes {
		sql = append(sql, c.SQL())
	}
	text := strings.Join(sql, "\n")
	remedytest.Has(t, text, "ALTER TABLE `forum`.`users` ENGINE=InnoDB", "ALTER TABLE `forum`.`posts` ENGINE=InnoDB", "SET GLOBAL innodb_buffer_pool_size")
	remedytest.HasNot(t, text, "smilies", "orders")
	if p.Build < 10*time.Second || !remedy.Joinable(p) {
		t.Errorf("it takes %s, joinable %v", p.Build, remedy.Joinable(p))
	}
	back, err := remedy.Without(forumWorld(nil).Snapshot, p.Changes[len(p.Changes)-2:])
	if err != nil || len(back) != 2 || back[1].SQL() != "ALTER TABLE `forum`.`posts` ENGINE=MyISAM" {
		t.Errorf("without it: %+v, %v", back, err)
	}
}

func TestRowLocksRefusals(t *testing.T) {
	table := func(name string, f func(*evidence.Table)) func(*remedy.Input) {
		return func(in *remedy.Input) {
			for i := range in.Snapshot.Databases["db"].Tables {
				if x := &in.Snapshot.Databases["db"].Tables[i]; x.Name == name {
					f(x)
				}
			}
		}
	}
	indexed := func(x *evidence.Table) {
		x.Indexes = append(x.Indexes, evidence.TableIndex{Name: "body", Columns: []string{"body"}, Type: "FULLTEXT"})
	}
	unused := remedytest.Want(t, forumWorld(table("posts", indexed)), "mariadb.innodb")
	remedytest.Has(t, unused.Why, "forum.posts has an index of words (body), by which no statement of the run searched")
	remedytest.HasNot(t, unused.Why, "stays, because")
	for _, c := range []struct {
		name   string
		change func(*remedy.Input)
		stays  string
	}{
		{"large", table("posts", func(x *evidence.Table) { x.IndexBytes = 400 << 20 }), "forum.posts stays, because its 600 MiB"},
		{"people use it", func(in *remedy.Input) { in.Stack.Regulation.Production = true }, "forum.posts stays, because its 200 MiB"},
		{"words", func(in *remedy.Input) {
			table("posts", indexed)(in)
			in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "forum", Fingerprint: "SELECT id FROM posts WHERE MATCH (body) AGAINST (?)", Count: 9, Total: time.Second})
		}, "forum.posts stays, because it is searched by an index of words"},
		{"triggers", table("users", func(x *evidence.Table) { x.Triggers = 1 }), "forum.users stays, because it has triggers"},
	} {
		p := remedytest.Want(t, forumWorld(c.change), "mariadb.innodb")
		if remedytest.Has(t, p.Why, c.stays); strings.Count(p.Why, "stays, because") != 1 {
			t.Errorf("%s: %s", c.name, p.Why)
		}
	}
	statement := func(sql string) func(*remedy.Input) {
		return func(in *remedy.Input) {
			in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "forum", Fingerprint: sql, Example: sql, Count: 9, Total: time.Millisecond})
		}
	}
	for _, begin := range []string{"SET autocommit=0", "SET SESSION autocommit = OFF", "BEGIN", "START TRANSACTION"} {
		remedytest.WantNone(t, forumWorld(statement(begin)), "mariadb.innodb", "none committed")
		remedytest.Want(t, forumWorld(func(in *remedy.Input) { statement(begin)(in); statement("COMMIT")(in) }), "mariadb.innodb")
	}
	remedytest.Want(t, forumWorld(statement("SET autocommit=1")), "mariadb.innodb")
	remedytest.WantNone(t, forumWorld(func(in *remedy.Input) { in.Snapshot.Databases["db"].DataFree = 100 << 20 }), "mariadb.innodb", "no room")
}

// Tables get their engine before the indexes that a plan makes on them.
func TestRowLocksComeFirst(t *testing.T) {
	old := remedy.Table
	t.Cleanup(func() { remedy.Table = old })
	remedy.Table = append(slices.Clone(old), remedy.Remedy{ID: "index", Rules: []string{"slow.index"}, Reach: 1, Plan: func(remedy.Input, diagnose.Finding) ([]remedy.Plan, error) {
		return []remedy.Plan{{ID: "index:a", Title: "index", Changes: []change.Change{{Kind: change.KindIndex, Service: "db",
			Index: &change.Index{Schema: "forum", Table: "posts", Name: "kasoku_a", Columns: []string{"a"}}}}}}, nil
	}})
	in, _ := remedytest.Plan(t, forumWorld(nil))
	in.Diagnosis.Findings = append(in.Diagnosis.Findings, diagnose.Finding{Rule: "slow.index", Service: "db", Bound: 50})
	var both []remedy.Plan
	for _, p := range remedy.PlanAll(in).Plans {
		if p.Remedy == "index" || p.Remedy == "mariadb.innodb" {
			both = append(both, p)
		}
	}
	if len(both) != 2 || both[0].Remedy != "index" {
		t.Fatalf("the index is not the better of two: %s", remedytest.IDs(both))
	}
	joined, left := remedy.Group(in, both)
	if len(left) != 0 || joined.Changes[0].Kind == change.KindIndex || joined.Changes[len(joined.Changes)-1].Kind != change.KindIndex {
		t.Errorf("left %d; %+v", len(left), joined.Changes)
	}
}
