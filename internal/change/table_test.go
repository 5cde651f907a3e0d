package change

import (
	"strings"
	"testing"
)

func init() {
	plans["engine"] = func(lab) []Change { return []Change{engine("ids", "InnoDB", "Aria")} }
}

func engine(table, before, after string) Change {
	return Change{Kind: KindTable, Service: "db", Table: &Table{Schema: "shop", Name: table, Before: before, Engine: after}}
}

// withCounter makes the table that engine changes, as found.
func (l lab) withCounter(t *testing.T) func() string {
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.ids (id BIGINT UNSIGNED NOT NULL, name VARCHAR(20) NOT NULL DEFAULT 'it''s', PRIMARY KEY (name), KEY i (id)) ENGINE=InnoDB COMMENT='c''s'",
		"INSERT INTO shop.ids VALUES (41, 'a'), (7, 'b')")
	return func() string { return l.ask(t, "SHOW CREATE TABLE shop.ids") + l.ask(t, "CHECKSUM TABLE shop.ids") }
}

// TestTableKilledAtEveryStep kills Kasoku before every step of changing an
// engine, keeping that, and taking it back.
func TestTableKilledAtEveryStep(t *testing.T) {
	l := newLab(t)
	seen := l.withCounter(t)
	for _, job := range []string{"engine-apply", "engine-revert"} {
		if n := killedEverywhere(t, l, job, seen); n < 5 {
			t.Errorf("%s has only %d steps", job, n)
		}
	}
}

func TestTable(t *testing.T) {
	l := newLab(t)
	seen := l.withCounter(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.auto (id INT PRIMARY KEY AUTO_INCREMENT, n INT) ENGINE=InnoDB AUTO_INCREMENT=900", "INSERT INTO shop.auto (n) VALUES (5)",
		"CREATE OR REPLACE TABLE shop.was (id INT PRIMARY KEY) ENGINE=InnoDB PAGE_CHECKSUM=1",
		"CREATE OR REPLACE TABLE shop.big (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO shop.big SELECT seq FROM shop.seq_1_to_1001",
		"CREATE OR REPLACE TABLE shop.part (id INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 2",
		"CREATE OR REPLACE TABLE shop.dyn (id INT PRIMARY KEY) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
		"CREATE OR REPLACE TABLE shop.gen (id INT PRIMARY KEY, g INT AS (id + 1) STORED) ENGINE=InnoDB",
		"DROP TABLE IF EXISTS shop.child, shop.parent", "CREATE TABLE shop.parent (id INT PRIMARY KEY) ENGINE=InnoDB",
		"CREATE TABLE shop.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES shop.parent (id)) ENGINE=InnoDB",
		"CREATE OR REPLACE TABLE shop.trig (id INT PRIMARY KEY) ENGINE=InnoDB", "CREATE TRIGGER shop.tr BEFORE INSERT ON shop.trig FOR EACH ROW SET @a = 1")
	x := l.open(t)
	for _, c := range []Change{engine("ids", "InnoDB", "Aria"), engine("ids", "InnoDB", "MyISAM"), engine("auto", "InnoDB", "Aria"), engine("was", "innodb", "aria")} {
		query := "SHOW CREATE TABLE shop." + c.Table.Name
		before := l.ask(t, query)
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
		must(t, err)
		if now := l.ask(t, query); !strings.Contains(strings.ToLower(now), "engine="+strings.ToLower(c.Table.Engine)) {
			t.Fatalf("it is %s", now)
		}
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table", l.ask(t, query), before)
	}
	// Rows written meanwhile stay: they are the service's.
	before := seen()
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{engine("ids", "InnoDB", "Aria")}})
	must(t, err)
	l.exec(t, "UPDATE shop.ids SET id = LAST_INSERT_ID(id + 1) WHERE name = 'a'")
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "counter", l.ask(t, "SELECT id FROM shop.ids WHERE name = 'a'"), "42")
	l.exec(t, "UPDATE shop.ids SET id = 41 WHERE name = 'a'")
	wantEqual(t, "table", seen(), before)
	// An index of someone else's on the table is left alone.
	tx, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{engine("ids", "InnoDB", "Aria")}})
	must(t, err)
	l.exec(t, "CREATE INDEX theirs ON shop.ids (id, name)")
	if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
		t.Fatalf("drift %v, %v", drift, err)
	}
	must(t, x.Revert(t.Context(), tx.ID))
	l.exec(t, "DROP INDEX theirs ON shop.ids")
	wantEqual(t, "table", seen(), before)
	// An undo that was killed between its two statements goes on.
	tx, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{engine("ids", "InnoDB", "Aria")}})
	must(t, err)
	l.exec(t, "ALTER TABLE shop.ids ENGINE=InnoDB")
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "table", seen(), before)
	// Someone else's column is a conflict.
	tx, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{engine("ids", "InnoDB", "Aria")}})
	must(t, err)
	l.exec(t, "ALTER TABLE shop.ids ADD theirs INT")
	wantText(t, x.Revert(t.Context(), tx.ID), "another definition")
	l.exec(t, "ALTER TABLE shop.ids DROP theirs")
	_, err = x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "table", seen(), before)

	for _, c := range []struct {
		change Change
		says   string
	}{
		{engine("ids", "MyISAM", "Aria"), "its engine is InnoDB, the plan saw MyISAM"},
		{engine("nope", "InnoDB", "Aria"), "no such table"},
		{engine("ids", "InnoDB", "InnoDB"), "another one before"},
		{engine("ids", "InnoDB", "Aria; DROP"), "not the name of an engine"},
		{engine("big", "InnoDB", "Aria"), "more than 1000 rows"},
		{engine("part", "InnoDB", "Aria"), "options of its own"},
		{engine("dyn", "InnoDB", "Aria"), "ROW_FORMAT=DYNAMIC"},
		{engine("gen", "InnoDB", "Aria"), "generated columns"},
		{engine("child", "InnoDB", "Aria"), "constraint"},
		{engine("parent", "InnoDB", "Aria"), "a foreign key refers to it"},
		{engine("trig", "InnoDB", "Aria"), "it has triggers"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c.change}})
		wantText(t, err, c.says)
		if len(x.Pending()) > 0 {
			t.Fatalf("%s: pending", c.says)
		}
	}
}
