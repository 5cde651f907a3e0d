package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// scanWorld is a service that scans a table of a million rows.
func scanWorld() remedy.Input {
	in := remedytest.World(nil)
	in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "app", Name: "users", Engine: "InnoDB", Rows: 1000000, DataBytes: 160 << 20,
		Columns: []evidence.Column{{Name: "id", Type: "int(11)", Distinct: 1000000}, {Name: "login", Type: "varchar(40)", Distinct: 1000000}},
		Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Type: "BTREE", Reads: -1}}}}
	in.Evidence.Statements = []evidence.Statement{{Service: "db", Schema: "app", Fingerprint: "SELECT id FROM users WHERE login = ?", Example: "SELECT id FROM users WHERE login = 'x'",
		Count: 100, Total: 40 * time.Second, RowsExamined: 100000000, RowsSent: 100, FullScans: 100}}
	return in
}

func TestIndexSizes(t *testing.T) {
	in := scanWorld()
	in.Snapshot.Databases["db"].DataFree = 10 << 30
	p := remedytest.Want(t, in, "mariadb.index")
	remedytest.Has(t, p.Why, "take about 37.", " MiB and at most about 5.", " s to build", "10.0 GiB are free")
	remedytest.Has(t, p.Changes[0].Why, "37.", "while others read and write")
	in.Snapshot.Databases["db"].DataFree = 100 << 20
	remedytest.WantNone(t, in, "mariadb.index", "no room for an index")
	in.Snapshot.Databases["db"].DataFree = 0 // nobody could tell
	remedytest.HasNot(t, remedytest.Want(t, in, "mariadb.index").Why, "are free")
}

// Indexes for the sides of an OR are made together, or not at all.
func TestIndexesThatHelpTogether(t *testing.T) {
	in := scanWorld()
	db := in.Snapshot.Databases["db"]
	db.Tables[0].Columns = append(db.Tables[0].Columns, evidence.Column{Name: "mail", Type: "varchar(60)", Distinct: 1000000})
	in.Evidence.Statements[0].Fingerprint, in.Evidence.Statements[0].Example = "SELECT id FROM users WHERE login = ? OR mail = ?", "SELECT id FROM users WHERE login = 'x' OR mail = 'y'"
	p := remedytest.Want(t, in, "mariadb.index")
	if len(p.Changes) != 2 {
		t.Fatalf("changes %+v", p.Changes)
	}
	remedytest.Has(t, p.Changes[0].Why, "only together with", "index merge")
	db.DataFree = 64<<20 + 100<<20 // room for one of them
	remedytest.WantNone(t, in, "mariadb.index", "no room for an index")

	// One of the two serves another statement, too, and is made once.
	db.DataFree = 0
	in.Evidence.Statements = append(in.Evidence.Statements, in.Evidence.Statements[0])
	alone := &in.Evidence.Statements[1]
	alone.Fingerprint, alone.Example, alone.Total = "SELECT id FROM users WHERE login = ?", "SELECT id FROM users WHERE login = 'x'", 400*time.Second
	p = remedytest.Want(t, in, "mariadb.index")
	if len(p.Changes) != 2 || p.Changes[0].Title() == p.Changes[1].Title() {
		t.Errorf("changes %+v", p.Changes)
	}
}

// Other engines copy the table, so that nobody writes to it meanwhile: a small one
// is told so, a large one is left alone.
func TestIndexLocks(t *testing.T) {
	in := scanWorld()
	remedytest.Has(t, remedytest.Want(t, in, "mariadb.index").Changes[0].Why, "if the server refuses that, they wait where the table has at most 16.0 MiB, else nothing is changed")
	users := &in.Snapshot.Databases["db"].Tables[0]
	users.Engine = "MyISAM"
	remedytest.WantNone(t, in, "mariadb.index", "no index is made: app.users(login): app.users is MyISAM, which copies all of its 160 MiB while nobody writes")
	users.DataBytes = 12 << 20
	why := remedytest.Want(t, in, "mariadb.index").Changes[0].Why
	remedytest.Has(t, why, "to build, while nobody writes to the table (MyISAM copies it)")
	remedytest.HasNot(t, why, "others read and write")
}

func TestSpareIndexPlan(t *testing.T) {
	world := func(sql ...string) remedy.Input {
		in := scanWorld()
		users := &in.Snapshot.Databases["db"].Tables[0]
		for _, name := range []string{"a", "b"} {
			users.Columns = append(users.Columns, evidence.Column{Name: name, Type: "int(11)", Distinct: 2000})
		}
		users.Indexes = append(users.Indexes, evidence.TableIndex{Name: "short", Columns: []string{"a"}, Type: "BTREE", Reads: 5}, evidence.TableIndex{Name: "long", Columns: []string{"a", "b"}, Type: "BTREE", Reads: 5})
		in.Evidence.Counters["db"].Delta["Innodb_rows_inserted"] = 9000
		for _, s := range append([]string{"SELECT id FROM users WHERE a = 5", "INSERT INTO users VALUES (1, 'x', 2, 3)"}, sql...) {
			in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "app", Fingerprint: s, Example: s, Count: 900, Total: time.Second, RowsExamined: 450000, RowsSent: 450000})
		}
		return in
	}
	p := remedytest.Want(t, world(), "mariadb.drop-index")
	if len(p.Changes) != 1 || p.Changes[0].SQL() != "DROP INDEX `short` ON `app`.`users`" {
		t.Errorf("changes %+v", p.Changes)
	}
	remedytest.Has(t, p.Why, "short (a) is the beginning of long (a, b)", "they take about 21.4 MiB")
	remedytest.WantNone(t, world("SELECT * FROM users WHERE a = 5 ORDER BY id DESC LIMIT 1"), "mariadb.drop-index", "times as much without it")
	remedytest.WantNone(t, world("SELECT * FROM users FORCE INDEX (short) WHERE a = 5"), "mariadb.drop-index", "may name it")
	remedytest.WantNone(t, world("SELECT * FROM users WHERE ("), "mariadb.drop-index", "cannot be judged")

	// One that descends is named so: it is another index than one that ascends.
	down := world()
	for i, x := range down.Snapshot.Databases["db"].Tables[0].Indexes {
		if x.Name == "short" || x.Name == "long" {
			down.Snapshot.Databases["db"].Tables[0].Indexes[i].Descending = []bool{true, true}[:len(x.Columns)]
		}
	}
	if p := remedytest.Want(t, down, "mariadb.drop-index"); len(p.Changes) != 1 || !slices.Equal(p.Changes[0].Index.Columns, []string{"a DESC"}) {
		t.Errorf("changes %+v", p.Changes)
	}

	// Undo could not put it back before other keys of such a table.
	for _, of := range []int{0, 1} {
		keyed := world()
		db := keyed.Snapshot.Databases["db"]
		db.Tables = append(db.Tables, evidence.Table{Schema: "app", Name: "orders", Engine: "InnoDB"})
		db.Tables[of*(len(db.Tables)-1)].ForeignKeys = []evidence.ForeignKey{{Name: "f", RefSchema: "app", RefTable: "users"}}
		remedytest.WantNone(t, keyed, "mariadb.drop-index", "the table has foreign keys")
	}

	large := world()
	large.Snapshot.Databases["db"].Tables[0].Engine = "Aria"
	remedytest.WantNone(t, large, "mariadb.drop-index", "app.users is Aria, which copies all of its 160 MiB")
	small := world()
	small.Snapshot.Databases["db"].Tables[0].Engine, small.Snapshot.Databases["db"].Tables[0].DataBytes = "Aria", 1<<20
	remedytest.Has(t, remedytest.Want(t, small, "mariadb.drop-index").Changes[0].Why, "it goes while nobody writes to the table (Aria copies it)")

	// Unread for a month: the longer one goes and the shorter one stays.
	in := world()
	in.Evidence.Counters["db"] = evidence.CounterDelta{Delta: in.Evidence.Counters["db"].Delta, Value: map[string]string{"Uptime": "2592000"}}
	users := &in.Snapshot.Databases["db"].Tables[0]
	users.Indexes[2].Reads = 0
	if p := remedytest.Want(t, in, "mariadb.drop-index"); len(p.Changes) != 1 {
		t.Errorf("both of two go: %s", p.ID)
	}
}

// An index by which a DELETE that finds nothing locks a gap may make transactions
// fail, so it is a plan of its own, which its group can be tried without.
func TestIndexesWithGapsCanBeLeftOut(t *testing.T) {
	world := func() remedy.Input {
		in := scanWorld()
		db := in.Snapshot.Databases["db"]
		db.Tables = append(db.Tables, evidence.Table{Schema: "app", Name: "avatars", Engine: "InnoDB", Rows: 5000, DataBytes: 4 << 20,
			Columns: []evidence.Column{{Name: "id", Type: "int(11)", Distinct: 5000}, {Name: "owner", Type: "int(11)", Distinct: 5000}},
			Indexes: []evidence.TableIndex{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Type: "BTREE", Reads: -1}}})
		for _, s := range []evidence.Statement{
			{Fingerprint: "SELECT * FROM avatars WHERE owner = ?", Example: "SELECT * FROM avatars WHERE owner = 7", Count: 9000, Total: 30 * time.Second, RowsExamined: 45000000, RowsSent: 9000, FullScans: 9000},
			{Fingerprint: "DELETE FROM avatars WHERE owner = ?", Example: "DELETE FROM avatars WHERE owner = 7", Count: 100, Total: time.Second, RowsExamined: 500000, RowsAffected: 3},
			{Fingerprint: "INSERT INTO avatars (owner) VALUES (?)", Example: "INSERT INTO avatars (owner) VALUES (7)", Count: 100, Total: time.Second, RowsAffected: 100},
			{Fingerprint: "COMMIT", Example: "COMMIT", Count: 100, Total: time.Second},
		} {
			s.Service, s.Schema = "db", "app"
			in.Evidence.Statements = append(in.Evidence.Statements, s)
		}
		return in
	}
	plans := func(in remedy.Input) []remedy.Plan {
		var out []remedy.Plan
		_, res := remedytest.Plan(t, in)
		for _, p := range res.Plans {
			if p.Remedy == "mariadb.index" {
				out = append(out, p)
			}
		}
		return out
	}
	got := plans(world())
	if len(got) != 2 || got[0].Deadlocks == got[1].Deadlocks {
		t.Fatalf("plans %+v", got)
	}
	for _, p := range got {
		want := "mariadb.index:app.users(login)"
		if p.Deadlocks {
			want = "mariadb.index:app.avatars(owner)"
			remedytest.Has(t, p.Why, "may end in deadlocks with it: \"DELETE FROM avatars WHERE owner", "changes no row in most of its 100 executions", "READ COMMITTED")
		}
		if p.ID != want || !remedy.Joinable(p) {
			t.Errorf("%s, deadlocks %v, joinable %v", p.ID, p.Deadlocks, remedy.Joinable(p))
		}
	}
	in := world()
	in.Stack.Regulation.Allow = []regulation.Trade{regulation.Isolation}
	in.Snapshot.Databases["db"].Variables["tx_isolation"] = "REPEATABLE-READ"
	if got = plans(in); len(got) != 2 || got[0].Deadlocks || got[1].Deadlocks {
		t.Fatalf("with isolation allowed: %+v", got)
	}
	for _, p := range got {
		if joined := strings.Contains(p.ID, "avatars"); joined != slices.Contains(p.Trades, regulation.Isolation) ||
			joined != slices.ContainsFunc(p.Changes, func(c change.Change) bool { return c.Variable == "tx_isolation" }) {
			t.Errorf("with isolation allowed: %+v", p)
		}
	}
	for name, change := range map[string]func(in *remedy.Input){
		"READ COMMITTED": func(in *remedy.Input) {
			in.Snapshot.Databases["db"].Variables["transaction_isolation"] = "READ-COMMITTED"
		},
		"no transactions": func(in *remedy.Input) {
			in.Evidence.Statements = in.Evidence.Statements[:len(in.Evidence.Statements)-1]
		},
	} {
		in := world()
		change(&in)
		if got := plans(in); len(got) != 1 || got[0].Deadlocks || len(got[0].Changes) != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What indexes may bring is of the statements that they serve, not of all that scan.
func TestIndexesAreBoundByWhatTheyServe(t *testing.T) {
	in := scanWorld()
	users := &in.Snapshot.Databases["db"].Tables[0]
	users.Columns = append(users.Columns, evidence.Column{Name: "about", Type: "varchar(200)", Distinct: 900000})
	all := remedytest.Want(t, in, "mariadb.index")
	in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "app", Fingerprint: "SELECT * FROM users WHERE about LIKE ?",
		Example: "SELECT * FROM users WHERE about LIKE '%x'", Count: 100, Total: 120 * time.Second, RowsExamined: 100000000, RowsSent: 100, FullScans: 100})
	some := remedytest.Want(t, in, "mariadb.index")
	if all.ID != some.ID || some.Bound >= all.Bound || some.Bound <= 1 || some.Reach < 0.99 || some.Reach != all.Reach {
		t.Errorf("%s ×%.2f (%.2f), with a scan that no index serves %s ×%.2f (%.2f)", all.ID, all.Bound, all.Reach, some.ID, some.Bound, some.Reach)
	}
}
