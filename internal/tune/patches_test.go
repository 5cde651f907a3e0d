package tune

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/tables"
)

const listing = `package main

import (
	"database/sql"
	"net/http"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", "%s")
	if err != nil {
		panic(err)
	}
	_ = http.ListenAndServe("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { names(db, []int64{1}, w) }))
}

func names(db *sql.DB, ids []int64, w http.ResponseWriter) error {
	for _, id := range ids {
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name); err != nil {
			return err
		}
		if _, err := w.Write([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}
`

// listing makes the application of a trial a program of Go in its checkout.
func (x *trial) listing(dsn string) {
	x.t.Helper()
	x.write("app/go.mod", "module app\n\ngo 1.26\n\nrequire (\n\tfilippo.io/edwards25519 v1.2.0\n\tgithub.com/go-sql-driver/mysql v1.10.1\n)\n")
	x.write("app/main.go", strings.Replace(listing, "%s", dsn, 1))
	x.write("app/.gitignore", "built\n")
	sum, err := filepath.Abs("../../go.sum")
	if err != nil {
		x.t.Fatal(err)
	}
	x.sh("cp '" + sum + "' app/go.sum; cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm listing")
}

// What a run tells of a statement ranks the patch of its place; a patch is from the top of
// the checkout, and one that shows a secret is left out.
func TestSourcePatches(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.listing("app:hunter2@tcp(127.0.0.1:3306)/app")
	ev := &evidence.Evidence{Statements: []evidence.Statement{
		{Service: "db", Fingerprint: "SELECT name FROM users WHERE id = ?", Count: 30, Total: time.Second},
		{Service: "db", Fingerprint: "SELECT 1 FROM t", Count: 10, Total: 3 * time.Second},
	}}
	patches := SourcePatches(t.Context(), x.tuner.Stack, x.tuner.Bench.Hosts, ev, nil)
	found, health := patches.Offered, patches.Looked
	if len(found) != 2 || found[1].Shape != "P19" || len(health) != 1 || !health[0].OK { // the one that would show the password is left out
		t.Fatalf("%+v\n%+v", found, health)
	}
	p := found[0]
	if p.Shape != "P1" || p.Service != "app" || p.Place() != "main.go:21 (names)" || p.Dir != x.dir+"/app" || !strings.Contains(string(p.Diff), "+++ b/main.go") {
		t.Errorf("%+v\n%s", p, p.Diff)
	}
	if p.Database != "db" || p.Count != 30 || p.Counts != 40 || p.Total != time.Second || p.All != 4*time.Second {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(p.Products, []string{"built", "default.pgo"}) {
		t.Errorf("products %v", p.Products)
	}
	var snap evidence.Snapshot
	patches.Into(&snap)
	joined, err := snap.JoinPatches("app", []string{found[1].ID, p.ID})
	if err != nil || !slices.Equal(joined.IDs, []string{found[1].ID, p.ID}) || !strings.Contains(joined.Message, p.Title) || !strings.Contains(joined.Message, found[1].Title) {
		t.Fatalf("%+v, %v", joined, err)
	}
	x.write("joined.diff", string(joined.Diff))
	x.sh("cd app && git -c safe.directory='*' apply ../joined.diff && go build -o /dev/null . && git -c safe.directory='*' diff --stat | tail -1 && git -c safe.directory='*' checkout -q .")
	if _, err := snap.JoinPatches("app", []string{"P1-none"}); err == nil {
		t.Error("a patch that there is not")
	}
}

const phpListing = `<?php
function names(PDO $pdo, array $ids): array
{
    $names = [];
    foreach ($ids as $id) {
        $stmt = $pdo->prepare('SELECT name FROM users WHERE id = ?');
        $stmt->execute([$id]);
        $names[] = $stmt->fetchColumn();
    }
    return $names;
}
`

// PHP that a server runs has patches without a build; it takes new files when it is told.
func TestSourcePatchesPHP(t *testing.T) {
	x := newTrial(t)
	x.write("app/names.php", phpListing)
	x.sh("cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm listing")
	app := x.tuner.Stack.Service("app")
	app.Build, app.RunsIn = nil, "php"
	ev := &evidence.Evidence{Tables: []tables.Table{{Name: "users", Columns: map[string]string{"id": "int(11)", "name": "varchar(9)"}, Unique: []string{"id"}}}}
	look := func() Patches { return SourcePatches(t.Context(), x.tuner.Stack, x.tuner.Bench.Hosts, ev, nil) }
	if found := look(); len(found.Offered) > 0 || len(found.Looked) > 0 {
		t.Errorf("nothing runs it: %+v", found)
	}
	x.tuner.Stack.Services = append(x.tuner.Stack.Services, stack.Service{Name: "php", Kind: stack.PHPFPM})
	found := look()
	if len(found.Offered) != 1 {
		t.Fatalf("%+v", found)
	}
	if p := found.Offered[0]; p.Shape != "P1" || len(p.Build) > 0 || len(p.Products) > 0 || !strings.Contains(string(p.Diff), "+++ b/names.php") {
		t.Errorf("%+v\n%s", p, p.Diff)
	}
	shown := ev.Tables
	if ev.Tables = nil; len(look().Offered) > 0 {
		t.Error("nothing shows what the key is")
	}
	ev.Tables = shown
	x.write("app/mine.php", "<?php\n")
	if found := look(); len(found.Offered) > 0 || len(found.Looked) != 1 || !strings.Contains(found.Looked[0].Text, "mine.php") {
		t.Errorf("work that is not committed: %+v", found)
	}
}

// Where a patch could not be built or taken back there is none, and the run says why.
func TestNoSourcePatches(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		about, script, says string
		edit                func(app *stack.Service)
	}{
		{"no build", "true", "", func(app *stack.Service) { app.Build = nil }},
		{"no products", "true", "", func(app *stack.Service) { app.Build.Products = nil }},
		{"no module", "git rm -q go.mod go.sum && git -c user.name=a -c user.email=a@localhost commit -qm none", "", nil},
		{"on another host", "true", "lies on web1", func(app *stack.Service) {
			app.Host, app.Build.Command = "web1", []string{"/usr/local/go/bin/go", "build", "."}
		}},
		{"work that is not committed", "echo '// mine' >>main.go", "main.go", nil},
		{"no checkout", "rm -rf .git", "git", nil},
		{"what does not compile", "echo broken >>main.go; git -c user.name=a -c user.email=a@localhost commit -qam broken", "type-checked", nil},
	} {
		t.Run(c.about, func(t *testing.T) {
			x := newTrial(t)
			x.listing("app@tcp(127.0.0.1:3306)/app?interpolateParams=true")
			x.sh("cd app; " + c.script)
			if c.edit != nil {
				c.edit(x.tuner.Stack.Service("app"))
			}
			patches := SourcePatches(t.Context(), x.tuner.Stack, x.tuner.Bench.Hosts, nil, nil)
			found, health := patches.Offered, patches.Looked
			if len(found) > 0 || (len(health) > 0) != (c.says != "") || len(health) > 0 && (!strings.Contains(health[0].Text, c.says) || !strings.Contains(health[0].Text, "not judged")) {
				t.Errorf("%+v\n%+v", found, health)
			}
		})
	}
}
