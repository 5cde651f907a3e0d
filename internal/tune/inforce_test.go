package tune

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
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
