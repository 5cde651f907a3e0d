package tune

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// A deploy step writes the file again in every run: the candidate is measured
// without its change. That is no verdict on it, and whoever undid it is named.
func TestUndoneCandidateIsNotJudged(t *testing.T) {
	v := newVirtual(t, good("a", 50))
	asFound := v.text()
	deploy := filepath.Join(v.dir, "deploy.sh")
	if err := os.WriteFile(deploy, []byte("#!/bin/sh\n# brings the release\ncp app.conf.release app.conf\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tu := v.tuner()
	tu.Stack.Load.Reset = []string{"sh", deploy}
	run := tu.Bench.instead
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		if o.Side == experiment.Candidate {
			v.write(asFound)
		}
		return run(ctx, o)
	}
	s, err := tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	steps, err := v.store.Steps(s.ID)
	if err != nil || len(steps) != 1 {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	got := steps[0].Verdict
	if got.Outcome != experiment.Failed || !strings.Contains(got.Reason, "not judged") || !strings.Contains(got.Reason, deploy+":3 (cp app.conf.release app.conf)") {
		t.Errorf("%s: %s", got.Outcome, got.Reason)
	}
	if v.text() != asFound || len(v.exec.Pending()) != 0 {
		t.Errorf("not as found: %q, pending %v", v.text(), v.exec.Pending())
	}
}

// What is in force after each run is judged as ever.
func TestCandidateInForceIsJudged(t *testing.T) {
	v := newVirtual(t, good("a", 50))
	s, err := v.tuner().Run(t.Context())
	if err != nil || v.on() != "a" {
		t.Errorf("%q is on: %s, %v", v.on(), s.Stopped, err)
	}
}

// A schema file gets the index after all that it does, named as it names the table
// itself; one that does not make the table anew each time is left alone.
func TestMadeAnew(t *testing.T) {
	x := &change.Index{Schema: "shop", Table: "items", Name: "kasoku_items_1", Columns: []string{"owner", "title(20)"}}
	for _, c := range []struct {
		what, text, name string
	}{
		{"dropped and made", "DROP TABLE IF EXISTS items;\nCREATE TABLE items (id INT);\n", "items"},
		{"quoted, as mysqldump writes it", "DROP TABLE IF EXISTS `items`;\n/*!40101 SET x = 1 */;\nCREATE TABLE `items` (\n  `id` int\n);\n", "`items`"},
		{"with its database", "drop table if exists `shop`.`items`;\ncreate table `shop`.`items` (id int);", "`shop`.`items`"},
		{"the database is made anew", "DROP DATABASE IF EXISTS shop;\nCREATE DATABASE shop;\nUSE shop;\nCREATE TABLE items (id INT);", "items"},
		{"several are dropped at once", "DROP TABLE IF EXISTS users, items;\nCREATE TABLE items\n(id INT);", "items"},
		{"made only where it is missing", "CREATE TABLE IF NOT EXISTS items (id INT);\n", ""},
		{"another table", "DROP TABLE IF EXISTS items_old;\nCREATE TABLE items_old (id INT);\n", ""},
		{"another database", "DROP DATABASE IF EXISTS shop2;\nCREATE TABLE items (id INT);\n", ""},
		{"dropped afterwards", "CREATE TABLE items (id INT);\nDROP TABLE items;\n", ""},
	} {
		name, ok := madeAnew(c.text, x)
		if ok != (c.name != "") || name != c.name {
			t.Errorf("%s: %q, %v; want %q", c.what, name, ok, c.name)
		}
	}
	if got := indexStatement("`items`", x); got != "\nALTER TABLE `items` ADD INDEX `kasoku_items_1` (`owner`, `title`(20));\n" {
		t.Errorf("%q", got)
	}
}

// Where the look saw tables being made, an index goes into the schema file before its
// first run, each file once; where none was made, nothing is edited.
func TestIndexesOfTablesThatAreMadeAnew(t *testing.T) {
	dir := t.TempDir()
	schema := filepath.Join(dir, "sql", "schema.sql")
	text := "DROP TABLE IF EXISTS items, users;\nCREATE TABLE items (id INT);\nCREATE TABLE users (id INT);\n"
	for _, d := range []string{"app", "sql"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(schema, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	index := func(table string) change.Change {
		return change.Change{Kind: change.KindIndex, Service: "db", Index: &change.Index{Schema: "shop", Table: table, Name: "k_" + table, Columns: []string{"a"}}}
	}
	told := &drawing{}
	for made, want := range map[float64]int{0: 3, 2: 4} {
		tu := &Tuner{Stack: &stack.Stack{Dir: dir, Services: []stack.Service{{Name: "app", Kind: stack.App, Root: filepath.Join(dir, "app")}, {Name: "db", Kind: stack.MariaDB}}},
			Bench: &Bench{Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}}, UI: told,
			seen: seen{evidence: &evidence.Evidence{Counters: map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Com_create_table": made, "Com_drop_table": made}}}}}}
		p := remedy.Plan{Changes: []change.Change{index("items"), index("users"), index("elsewhere")}}
		if tu.foresee(t.Context(), &p); len(p.Changes) != want {
			t.Fatalf("%g tables were made: %d changes, want %d", made, len(p.Changes), want)
		}
		if made == 0 {
			continue
		}
		got := p.Changes[3]
		// A file that does not help is not edited twice.
		undone := &NotInForceError{Drifts: []change.Drift{{Change: 0}}}
		if more, err := tu.lasting(t.Context(), p.Changes, undone); len(more) > 0 || err == nil {
			t.Errorf("placed once more: %v, %v", more, err)
		}
		if got.Path != schema || !strings.HasPrefix(string(got.After.Content), text) || !strings.Contains(string(got.After.Content), "`k_items`") || !strings.Contains(string(got.After.Content), "`k_users`") {
			t.Errorf("%s: %s", got.Path, got.After.Content)
		}
	}
	if text := strings.Join(told.lines, "\n"); !strings.Contains(text, schema+" makes the indexes, too") {
		t.Errorf("told: %s", text)
	}
}

// The file that makes a table is found wherever a project keeps it beside its
// application, and not beside other projects.
func TestSchemaFilesAreFoundAnywhereInAProject(t *testing.T) {
	dir := t.TempDir()
	schema := filepath.Join(dir, "shop", "webapp", "mysql", "init", "0_schema.sql")
	other := filepath.Join(dir, "shop", "webapp", "mysql", "init", "readme.txt")
	kept := filepath.Join(dir, "shop", "webapp", "Backups", "0_schema.sql")
	for _, file := range []string{schema, other, kept} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("DROP DATABASE IF EXISTS shop;\nCREATE DATABASE shop;\nCREATE TABLE shop.items (id INT);\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, "shop", "webapp", "go")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	tu := &Tuner{Stack: &stack.Stack{Dir: dir, Services: []stack.Service{{Name: "app", Kind: stack.App, Root: root}, {Name: "db", Kind: stack.MariaDB}}},
		Bench: &Bench{Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}}, UI: &drawing{}}
	c := change.Change{Kind: change.KindIndex, Service: "db", Index: &change.Index{Schema: "shop", Table: "items", Name: "k", Columns: []string{"a DESC", "b(9)"}}}
	writers := tu.writersOf(t.Context(), c)
	for _, w := range writers {
		if w.path != schema {
			t.Errorf("found %s", w)
		}
	}
	got, ok := tu.placed(t.Context(), c, writers)
	if !ok || got.Path != schema || !strings.HasSuffix(string(got.After.Content), "\nALTER TABLE shop.items ADD INDEX `k` (`a` DESC, `b`(9));\n") {
		t.Errorf("placed: %v, %+v", ok, got)
	}
	for folder, want := range map[string]bool{"/home/anna/shop": true, "/home/anna": false, "/home": false, "/": false, "/srv/shop": true, "/srv": false, "/var/www": false, "/var/www/shop": true} {
		if ofProject(folder) != want {
			t.Errorf("%s: %t", folder, !want)
		}
	}
}

func TestParseWriter(t *testing.T) {
	for line, want := range map[string]writer{
		"/srv/a.sql:12:DROP TABLE x;":    {path: "/srv/a.sql", line: 12, text: "DROP TABLE x;"},
		"/srv/a:b/c.sql:3:SET x = '1:2'": {path: "/srv/a:b/c.sql", line: 3, text: "SET x = '1:2'"},
	} {
		if got, ok := parseWriter(line); !ok || got != want {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
	if _, ok := parseWriter("grep: x: Permission denied"); ok {
		t.Error("a message is no line of a file")
	}
}
