package patch

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// plainPrograms are those that plainProgram compiled.
var plainPrograms = map[bool]string{}

// plainProgram is the one that runs all of the plain corpus, as it is or with all that is
// offered for it; compiled once for all tests.
func plainProgram(t *testing.T, patched bool) string {
	t.Helper()
	if plainPrograms[patched] != "" {
		return plainPrograms[patched]
	}
	var files map[string][]byte
	if patched {
		var offered []*Place
		for _, at := range plain(t) {
			if at.Refused == nil && !strings.HasPrefix(at.File, "run/") && !strings.HasPrefix(at.File, "made/") && !strings.HasPrefix(at.File, "prepares/") {
				offered = append(offered, at)
			}
		}
		var err error
		if files, err = Files(offered); err != nil {
			t.Fatal(err)
		}
	}
	plainPrograms[patched] = builtOf(t, "plain", "run", files)
	return plainPrograms[patched]
}

// builtOf compiles the program in a folder of one of the corpus's; files take the place of
// those that are there.
func builtOf(t *testing.T, of, folder string, files map[string][]byte) string {
	t.Helper()
	dir, err := os.MkdirTemp(sharedDir, "built")
	if err != nil {
		t.Fatal(err)
	}
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
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./"+filepath.Join("testdata", "corpus", of, folder)).CombinedOutput()
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
	before, after := plainProgram(t, false), plainProgram(t, true)
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
