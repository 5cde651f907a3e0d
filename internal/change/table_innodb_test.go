package change

import (
	"strings"
	"testing"

	"kasoku/internal/stack"
)

// A table of MyISAM with many rows becomes InnoDB and comes back with the definition that it
// had: options that only MyISAM uses, the order of keys, and indexes that were made meanwhile
// in the same change.
func TestTableOfManyRows(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	for _, table := range []string{"plain", "optioned"} {
		options := map[string]string{"plain": "", "optioned": " MAX_ROWS=1000000 CHECKSUM=1 DELAY_KEY_WRITE=1 PACK_KEYS=1 ROW_FORMAT=DYNAMIC COMMENT='c''s'"}[table]
		l.exec(t, "CREATE OR REPLACE TABLE shop."+table+" (id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(40) NOT NULL DEFAULT '', body TEXT, n INT, UNIQUE KEY name (name), KEY n (n), PRIMARY KEY (id)) ENGINE=MyISAM"+options,
			"INSERT INTO shop."+table+" (name, body, n) SELECT CONCAT('n', seq), REPEAT('x', seq MOD 50), seq MOD 7 FROM shop.seq_1_to_3000")
	}
	l.exec(t, "CREATE OR REPLACE TABLE shop.words (id INT PRIMARY KEY, n INT, body TEXT, name VARCHAR(9), FULLTEXT KEY body (body), KEY n (n), FULLTEXT KEY both_of (name, body)) ENGINE=MyISAM",
		"INSERT INTO shop.words SELECT seq, seq MOD 7, REPEAT('word ', seq MOD 9), '' FROM shop.seq_1_to_3000", "CREATE OR REPLACE TABLE shop.places (id INT PRIMARY KEY, p POINT NOT NULL, SPATIAL KEY (p)) ENGINE=MyISAM")
	x := l.open(t)
	for _, table := range []string{"plain", "optioned", "words"} {
		seen := func() string {
			return l.ask(t, "SHOW CREATE TABLE shop."+table) + l.ask(t, "SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT_WS(',', id, name, body, n)))) FROM shop."+table)
		}
		before := seen()
		index := Change{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop", Table: table, Name: "kasoku_n_name", Columns: []string{"n", "name"}}}
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{engine(table, "MyISAM", "InnoDB"), index}})
		must(t, err)
		if now := l.ask(t, "SHOW CREATE TABLE shop."+table); !strings.Contains(now, "ENGINE=InnoDB") || !strings.Contains(now, "kasoku_n_name") {
			t.Fatalf("it is %s", now)
		}
		if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
			t.Fatalf("drift %v, %v", drift, err)
		}
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table "+table, seen(), before)
	}
	apply := func(c Change) error {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
		return err
	}
	wantText(t, apply(engine("places", "MyISAM", "InnoDB")), "spatial")
	wantText(t, apply(engine("words", "MyISAM", "Aria")), "fulltext")
	wantText(t, apply(engine("plain", "MyISAM", "Aria")), "more than 1000 rows")
	// Where people use the system, a table is small, or left alone.
	x.options.Stack.Regulation.Production = true
	l.exec(t, "INSERT INTO shop.plain (name, body) SELECT CONCAT('m', seq), REPEAT('y', 1000) FROM shop.seq_1_to_20000")
	wantText(t, apply(engine("plain", "MyISAM", "InnoDB")), "larger than 16 MiB")
	x.options.Stack = &stack.Stack{Services: x.options.Stack.Services}
	must(t, apply(engine("plain", "MyISAM", "InnoDB")))
	for _, p := range x.Pending() {
		must(t, x.Revert(t.Context(), p.ID))
	}
}
