package remedy_test

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const nextID = "UPDATE ids SET id = LAST_INSERT_ID(id + ?)"

// hotWorld is a service whose transactions queue for a counter.
func hotWorld(sql ...string) remedy.Input {
	in := remedytest.World(nil)
	db := in.Snapshot.Databases["db"]
	db.Tables = []evidence.Table{{Schema: "app", Name: "ids", Engine: "InnoDB", Rows: 1}, {Schema: "app", Name: "orders", Engine: "InnoDB", Rows: 90000}}
	in.Evidence.Counters["db"].Delta["Innodb_row_lock_time"] = 50000
	in.Evidence.Counters["db"].Delta["Innodb_row_lock_waits"] = 900
	in.Evidence.LockWaits = []evidence.LockWait{{Service: "db", Schema: "app", Table: "ids", Waiting: 4.8, Samples: 80, Seen: 80, Rows: 1, Hottest: 1, Statement: nextID}}
	for _, s := range append([]string{nextID, "INSERT INTO orders (id) VALUES (?)", "SELECT id FROM orders WHERE note = ?"}, sql...) {
		in.Evidence.Statements = append(in.Evidence.Statements, evidence.Statement{Service: "db", Schema: "app", Fingerprint: s, Example: s, Count: 900, Total: time.Second})
	}
	return in
}

func TestHotRowPlan(t *testing.T) {
	p := remedytest.Want(t, hotWorld(), "mariadb.hot-row")
	if len(p.Changes) != 1 || p.Changes[0].SQL() != "ALTER TABLE `app`.`ids` ENGINE=Aria" {
		t.Errorf("changes %+v", p.Changes)
	}
	remedytest.Has(t, p.Why, "4.8 transactions wait", "stays when its transaction is rolled back", "numbers may be missing")
	for _, sql := range []string{"UPDATE ids SET id = id + ?", "UPDATE app.ids SET id = (? + id) WHERE id > ?", "UPDATE ids SET id = last_insert_id(id - 5)", "SELECT LAST_INSERT_ID()", "SELECT 'ids'"} {
		remedytest.Want(t, hotWorld(sql), "mariadb.hot-row")
	}
	// Without the trades it is refused, and told.
	in := hotWorld()
	in.Stack.Regulation = regulation.Regulation{Allow: []regulation.Trade{regulation.Durability}}
	_, res := remedytest.Plan(t, in)
	for _, r := range res.Refusals {
		if r.Plan.Remedy == "mariadb.hot-row" {
			remedytest.Has(t, r.Why, "isolation")
			return
		}
	}
	t.Error("it is not refused where isolation may not be traded")
}

func TestHotRowRefusals(t *testing.T) {
	for _, c := range []struct{ sql, says string }{
		{"SELECT id FROM ids", "does not only increment"},
		{"SELECT id FROM ids FOR UPDATE", "does not only increment"},
		{"SELECT o.id FROM orders o JOIN ids i ON i.id = o.id", "does not only increment"},
		{"UPDATE ids SET id = ?", "something else than itself"},
		{"UPDATE ids SET id = id * ?", "something else than itself"},
		{"UPDATE ids SET id = (SELECT MAX(id) + 1 FROM orders)", "joins or reads other tables"},
		{"UPDATE ids, orders SET ids.id = ids.id + 1", "joins or reads other tables"},
		{"INSERT INTO ids VALUES (?)", "does not only increment"},
		{"DELETE FROM ids", "does not only increment"},
		{"SELECT ids FROM ids WHERE (", "cannot be parsed"},
	} {
		remedytest.WantNone(t, hotWorld(c.sql), "mariadb.hot-row", c.says)
	}
	for _, c := range []struct {
		says string
		make func(in *remedy.Input)
	}{
		{"foreign key", func(in *remedy.Input) {
			in.Snapshot.Databases["db"].Tables[0].ForeignKeys = []evidence.ForeignKey{{Name: "f"}}
		}},
		{"orders refers to it", func(in *remedy.Input) {
			in.Snapshot.Databases["db"].Tables[1].ForeignKeys = []evidence.ForeignKey{{RefSchema: "app", RefTable: "ids"}}
		}},
		{"triggers", func(in *remedy.Input) { in.Snapshot.Databases["db"].Tables[0].Triggers = 1 }},
		{"5000 rows", func(in *remedy.Input) { in.Snapshot.Databases["db"].Tables[0].Rows = 5000 }},
		{"no InnoDB table", func(in *remedy.Input) { in.Snapshot.Databases["db"].Tables[0].Engine = "Aria" }},
		{"Galera", func(in *remedy.Input) { in.Snapshot.Databases["db"].Variables["wsrep_on"] = "ON" }},
		{"binary log holds statements", func(in *remedy.Input) {
			in.Snapshot.Databases["db"].Variables["log_bin"] = "ON"
			in.Snapshot.Databases["db"].Variables["binlog_format"] = "STATEMENT"
		}},
		{"MySQL has no engine", func(in *remedy.Input) {
			in.Stack.Service("db").Kind = stack.MySQL
			in.Snapshot.Databases["db"].MariaDB = false
		}},
		{"no statement of the run", func(in *remedy.Input) { in.Evidence.Statements = nil }},
		{"", func(in *remedy.Input) { in.Evidence.LockWaits[0].Hottest = 0.3 }},                        // many rows: no counter
		{"", func(in *remedy.Input) { in.Evidence.Counters["db"].Delta["Innodb_row_lock_time"] = 10 }}, // nobody waits
	} {
		in := hotWorld()
		c.make(&in)
		remedytest.WantNone(t, in, "mariadb.hot-row", c.says)
	}
}
