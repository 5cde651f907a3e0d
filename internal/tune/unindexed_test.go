package tune

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// Indexes that were kept since the answers were recorded are away during the take, and at
// their place afterwards, also where the take fails; those from before, and what was kept
// beside them, stay.
func TestKeptIndexesAreTakenAway(t *testing.T) {
	l := useLab(t)
	db, err := stack.OpenDB(t.Context(), l.hosts["local"], l.stack.Service("db"))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	t.Cleanup(func() {
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
		exec("DROP DATABASE IF EXISTS goods")
		db.Close()
	})
	exec("CREATE DATABASE goods", "CREATE TABLE goods.things (id INT PRIMARY KEY, made INT, sort INT) ENGINE=InnoDB", "CREATE TABLE goods.others (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
	keep := func(table, name, column string) {
		t.Helper()
		tx, err := l.exec.Apply(t.Context(), change.Intent{Title: name, Changes: []change.Change{
			{Kind: change.KindIndex, Service: "db", Phase: 1, Index: &change.Index{Schema: "goods", Table: table, Name: name, Columns: []string{column}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.exec.Keep(t.Context(), tx.ID); err != nil {
			t.Fatal(err)
		}
	}
	schema := func() (all string) {
		t.Helper()
		for _, table := range []string{"things", "others"} {
			var name, text string
			if err := db.QueryRow("SHOW CREATE TABLE goods."+table).Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			all += text
		}
		return all
	}
	keep("things", "kasoku_before", "id")
	since := time.Now()
	p := NewProver(l.bench, quiet{})
	p.Exec = l.exec
	if names, err := p.unindexed(t.Context(), since, func(context.Context) error { t.Error("a take without a kept index"); return nil }); err != nil || names != nil {
		t.Fatalf("%v, %v", names, err)
	}
	before := schema()
	keep("things", "kasoku_made", "made")
	keep("others", "kasoku_n", "n")
	with := schema()
	for _, failure := range []error{nil, errors.New("the service does not answer")} {
		during := ""
		names, err := p.unindexed(t.Context(), since, func(context.Context) error { during = schema(); return failure })
		if fmt.Sprint(names) != "[things.kasoku_made others.kasoku_n]" || !errors.Is(err, failure) {
			t.Errorf("%v, %v", names, err)
		}
		if during != before {
			t.Errorf("during the take:\n%s\nwant\n%s", during, before)
		}
		if after := schema(); after != with {
			t.Errorf("after the take:\n%s\nwant\n%s", after, with)
		}
	}
	// One that a foreign key needs stays, and nothing else is tried.
	exec("CREATE TABLE goods.owners (id INT PRIMARY KEY) ENGINE=InnoDB", "CREATE TABLE goods.owned (id INT PRIMARY KEY, owner INT, n INT, FOREIGN KEY (owner) REFERENCES owners (id)) ENGINE=InnoDB",
		"ALTER TABLE goods.owned ADD INDEX wide (owner, n)")
	since = time.Now()
	keep("owned", "kasoku_owner", "owner")
	exec("ALTER TABLE goods.owned DROP INDEX wide")
	names, err := p.unindexed(t.Context(), since, func(context.Context) error { t.Error("a take though the index stays"); return nil })
	if err != nil || names != nil {
		t.Errorf("an index that a foreign key needs: %v, %v", names, err)
	}
	exec("ALTER TABLE goods.owned ADD INDEX wide (owner, n)") // so that it can be undone
	if pending := l.exec.Pending(); len(pending) > 0 {
		t.Errorf("left: %+v", pending)
	}
}
