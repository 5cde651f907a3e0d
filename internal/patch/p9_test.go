package patch

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// What is kept is what was read, nobody's changes of it included, with few statements; a
// failed read is not kept, and what another program writes is seen.
func TestKeptIsWhatIsRead(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	db, err := sql.Open("mysql", dsn+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	schema, err := os.ReadFile(filepath.Join("testdata", "corpus", "masters", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE OR REPLACE DATABASE masters; USE masters; " + string(schema)); err != nil {
		t.Fatal(err)
	}
	dsn = strings.TrimSuffix(dsn, "app") + "masters"
	_, places := loaded(t, "masters")
	var offered []*Place
	for _, at := range places {
		if at.Refused == nil && at.Shape == "P9" {
			offered = append(offered, at)
		}
	}
	files, err := Files(offered)
	if err != nil {
		t.Fatal(err)
	}
	before, after := builtOf(t, "masters", ".", nil), builtOf(t, "masters", ".", files)
	asked := questions(t, dsn)
	want := digests(t, before, dsn)
	single := questions(t, dsn) - asked
	got := digests(t, after, dsn)
	all := questions(t, dsn) - asked - single
	if len(want) < 200 || strings.Join(want, "\n") != strings.Join(got, "\n") {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(want[:9], "\n"), strings.Join(got[:9], "\n"))
	}
	if last := got[len(got)-1]; !strings.Contains(last, "context canceled") {
		t.Errorf("another pool gives %s", last)
	}
	if all > single/5 {
		t.Errorf("%d statements before, %d after", single, all)
	}
	t.Logf("%d statements before, %d after", single, all)
	cmd := exec.Command(after, dsn, "watch")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	buf := make([]byte, 100)
	if n, err := out.Read(buf); err != nil || string(buf[:n]) != "one <nil>\n" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	if _, err := db.Exec("UPDATE masters.versions SET version = 'new' WHERE status = 1"); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(buf); err != nil || string(buf[:n]) != "new <nil>\n" { // it gives up after a while
		t.Errorf("%q, %v", buf[:n], err)
	}
}

// A write of a table is told from one of another one, in statements and their fingerprints.
func TestWrites(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT version FROM versions": false, "update versions set version = ?": true, "INSERT INTO news (title) VALUES (?)": false,
		"REPLACE INTO versions VALUES (...)": true, "delete from `Versions` where id = ?": true, "TRUNCATE versions": true, "LOAD DATA INFILE ? INTO TABLE versions": true,
		"TRUNCATE news": false, "BEGIN": false, "UPDATE news n JOIN versions v ON v.id = n.id SET n.title = ?": true,
	} {
		if got := Writes(text, []string{"versions"}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
