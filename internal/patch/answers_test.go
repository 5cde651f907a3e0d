package patch

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// mariadb starts a server for the test and returns the DSN of a database with the tables
// of the corpus.
func mariadb(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := hosttest.MariaDBData(filepath.Join(dir, "data"), "", "8M"); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(dir, "s")
	argv := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + sock, "--skip-networking", "--pid-file=" + filepath.Join(dir, "pid"),
		"--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--tmpdir=" + dir}
	if os.Getuid() == 0 {
		argv = append(argv, "--user=root")
	}
	server := exec.Command("mariadbd", argv...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	base := "root@unix(" + sock + ")/"
	db, err := sql.Open("mysql", base+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	await.NoError(t, "the server answers", db.Ping)
	schema, err := os.ReadFile(filepath.Join("testdata", "corpus", "plain", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE DATABASE app; USE app; " + string(schema)); err != nil {
		t.Fatal(err)
	}
	return base + "app"
}

// built compiles the programs that the corpus's answers are compared with; files take the
// place of those that are there.
func built(t *testing.T, files map[string][]byte) string {
	t.Helper()
	return builtOf(t, "plain", "run", files)
}

// builtOf compiles the program in a folder of one of the corpus's.
func builtOf(t *testing.T, of, folder string, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for name, src := range files {
		with := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(with, src, 0o600); err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(filepath.Join("testdata", "corpus", of, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[abs] = with
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "run")
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./"+filepath.Join("testdata", "corpus", of, folder)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// With random rows every program answers the same before and after, errors included, and
// leaves the same rows; with fewer statements.
func TestAnswersStay(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	var offered []*Place
	for _, at := range plain(t) {
		if at.Refused == nil && !strings.HasPrefix(at.File, "run/") && !strings.HasPrefix(at.File, "made/") && !strings.HasPrefix(at.File, "prepares/") {
			offered = append(offered, at)
		}
	}
	files, err := Files(offered)
	if err != nil {
		t.Fatal(err)
	}
	before, after := built(t, nil), built(t, files)
	for _, seed := range []string{"1", "2"} {
		asked := questions(t, dsn)
		want := answers(t, before, dsn, seed)
		single := questions(t, dsn) - asked
		got := answers(t, after, dsn, seed)
		all := questions(t, dsn) - asked - single
		wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
		if len(wants) < 100 || len(wants) != len(gots) {
			t.Fatalf("%d answers before, %d after", len(wants), len(gots))
		}
		for i := range wants {
			if wants[i] != gots[i] {
				t.Errorf("seed %s:\nbefore %.2000s\nafter  %.2000s", seed, wants[i], gots[i])
			}
		}
		if all > single/2 {
			t.Errorf("seed %s: %d statements before, %d after", seed, single, all)
		}
		t.Logf("seed %s: %d answers, %d statements before, %d after", seed, len(wants), single, all)
	}
}

func answers(t *testing.T, program, dsn, seed string) string {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, counter := range []string{"UPDATE ids SET id = 0", "UPDATE row_ids SET id = 0", "UPDATE named_ids SET n = 70"} {
		if _, err := db.Exec(counter); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, dsn, seed)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// questions is how many statements the server has been sent.
func questions(t *testing.T, dsn string) (n int) { return status(t, dsn, "QUESTIONS") }

// status is a count of the server.
func status(t *testing.T, dsn, name string) (n int) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?", name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
