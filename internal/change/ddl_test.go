package change

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// TestLockingOnlySmallTables: what the server can do only while others wait is
// done to small tables, by every engine that copies and for an index of words in
// InnoDB; of large ones it is refused, and what was changed before is put back.
func TestLockingOnlySmallTables(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	index := func(table, name, column string, drop bool) Change {
		return Change{Kind: KindIndex, Service: "db", Drop: drop, Index: &Index{Schema: "shop", Table: table, Name: name, Columns: []string{column}}}
	}
	for _, c := range []struct {
		engine  string
		change  Change
		small   string // progress that is told where the table is small; "" none
		allowed bool   // of a large table too
	}{
		{"InnoDB", index("big", "new", "a", false), "", true},
		{"InnoDB", index("big", "old", "a", true), "", true},
		{"InnoDB", index("big", "words", "w", true), "", false}, // it could not be made again without a lock
		{"MyISAM", index("big", "new", "a", false), "trying with more locking", false},
		{"MyISAM", index("big", "old", "a", true), "", false},
		{"Aria", index("big", "new", "a", false), "trying with more locking", false},
		{"Aria", index("big", "old", "a", true), "", false},
	} {
		for _, rows := range []string{"100", "5000"} {
			t.Run(c.engine+" "+rows+" "+c.change.SQL(), func(t *testing.T) {
				// One long word a row, which no index of words has: 5000 of them are 19 MB.
				l.exec(t, "CREATE OR REPLACE TABLE shop.big (id INT PRIMARY KEY, a INT NOT NULL, w VARCHAR(4000) NOT NULL, KEY old (a), FULLTEXT KEY words (w)) ENGINE="+c.engine,
					"INSERT INTO shop.big SELECT seq, seq % 7, REPEAT('wordword', 487) FROM shop.seq_1_to_"+rows)
				if !strings.HasPrefix(c.engine, "InnoDB") || !c.change.Drop {
					l.exec(t, "ALTER TABLE shop.big DROP KEY words")
				}
				l.exec(t, "ANALYZE TABLE shop.big") // InnoDB tells the size as of its last statistics
				defer l.exec(t, "DROP TABLE shop.big")
				before := l.ask(t, "SHOW CREATE TABLE shop.big") + l.variable(t, "max_connections")
				o := l.options(l.project(t))
				said := ""
				o.Progress = func(s string) { said += s + "\n" }
				x, err := Open(t.Context(), o)
				must(t, err)
				defer x.Close()
				tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{setVariable("max_connections", "151", "200"), c.change}})
				if rows == "5000" && !c.allowed {
					wantText(t, err, "would keep writers from shop.big ("+c.engine+")", "MiB are more than the 16 MiB", "when the service is quiet")
				} else {
					must(t, err)
					if c.small != "" && rows == "100" && !strings.Contains(said, c.small) {
						t.Errorf("it was not said that others wait: %s", said)
					}
					if c.small == "" && strings.Contains(said, "more locking") {
						t.Errorf("others waited: %s", said)
					}
					must(t, x.Revert(t.Context(), tx.ID))
				}
				// An index that was dropped is the last one when it is made again.
				wantEqual(t, "table and variable", sortedKeys(l.ask(t, "SHOW CREATE TABLE shop.big")+l.variable(t, "max_connections")), sortedKeys(before))
			})
		}
	}
}

// sortedKeys is a definition without the order of its indexes.
func sortedKeys(def string) string {
	out := withoutKeys(def)
	for _, name := range []string{"KEY `old`", "KEY `new`", "KEY `words`"} {
		if strings.Contains(def, name) {
			out += "\n" + name
		}
	}
	return out
}

// TestLockingUndo: a table that has grown since is put back as it was, although
// others wait for it meanwhile.
func TestLockingUndo(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.big (id INT PRIMARY KEY, a INT NOT NULL, w CHAR(250) NOT NULL, KEY old (a)) ENGINE=MyISAM CHARACTER SET latin1")
	defer l.exec(t, "DROP TABLE shop.big")
	before := l.ask(t, "SHOW CREATE TABLE shop.big")
	x := l.open(t)
	for _, drop := range []bool{false, true} {
		name := map[bool]string{false: "new", true: "old"}[drop]
		l.exec(t, "TRUNCATE shop.big")
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{{Kind: KindIndex, Service: "db", Drop: drop, Index: &Index{Schema: "shop", Table: "big", Name: name, Columns: []string{"a"}}}}})
		must(t, err)
		l.exec(t, "INSERT INTO shop.big SELECT seq, seq % 7, 'w' FROM shop.seq_1_to_80000")
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.big"), before)
	}
}

// What docs/reference/changes.md promises of waiting for a metadata lock is what is done.
func TestLockWaitAsDocumented(t *testing.T) {
	want := fmt.Sprintf("metadata lock is waited for %d times %d s with a second between", metadataTries, metadataWait)
	if page := strings.Join(strings.Fields(content(t, "../../docs/reference/changes.md")), " "); !strings.Contains(page, want) || metadataPause != time.Second {
		t.Errorf("docs/reference/changes.md does not say %q", want)
	}
}
