package patch

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/lazyregexp"
)

var phpCorpus = filepath.Join("testdata", "php")

var (
	phpOnce    sync.Once
	phpProgram *Program
	phpPlaces  []*Place
)

// phpFound are the places of the corpus.
func phpFound(t *testing.T) (*Program, []*Place) {
	t.Helper()
	phpOnce.Do(func() {
		p, err := Load(t.Context(), phpCorpus)
		if err != nil {
			t.Fatal(err)
		}
		phpProgram, phpPlaces = p, slices.DeleteFunc(p.Find(), func(at *Place) bool { return at.File == "run.php" })
	})
	return phpProgram, phpPlaces
}

var (
	phpWants = lazyregexp.New(`want (P\d+(?: refused: \w+)?)`)
	phpHeads = lazyregexp.New(`^\s*(?:(?:public )?function (\w+)|// want)`)
)

// phpWanted are the places that comments name, by file and function.
func phpWanted(p *Program) map[string][]string {
	out := map[string][]string{}
	for _, f := range p.php.files {
		var waiting []string
		for line := range strings.Lines(string(f.src)) {
			if m := phpWants.FindStringSubmatch(line); m != nil {
				waiting = append(waiting, m[1])
			}
			name, at := "", phpHeads.FindStringSubmatch(line)
			if at == nil || len(waiting) == 0 {
				continue
			}
			if name = at[1]; strings.HasPrefix(line, " ") {
				name = "Catalogue." + name
			}
			out[f.rel+" "+name], waiting = waiting, nil
		}
	}
	return out
}

// Every program of the corpus is offered, or refused with the precondition that it violates.
func TestPHPCorpus(t *testing.T) {
	p, places := phpFound(t)
	got := map[string][]string{}
	for _, at := range places {
		says := at.Shape
		if at.Refused != nil {
			says += " refused: " + at.Refused.Need
			t.Logf("%s %s: %v", at.File, at.Function, at.Refused)
		}
		got[at.File+" "+at.Function] = append(got[at.File+" "+at.Function], says)
	}
	want := phpWanted(p)
	for at := range got {
		if want[at] == nil {
			want[at] = []string{}
		}
	}
	refused := 0
	for at, w := range want {
		if !slices.Equal(w, got[at]) {
			t.Errorf("%s: %v, want %v", at, got[at], w)
		}
		for _, says := range got[at] {
			if strings.Contains(says, "refused") {
				refused++
			}
		}
	}
	t.Logf("%d places, %d refused", len(places), refused)
}

// What is written in the place of each is what testdata/phpgolden holds.
func TestPHPGolden(t *testing.T) {
	_, places := phpFound(t)
	seen := map[string]bool{}
	for _, at := range places {
		if at.Refused != nil || at.With != "" {
			continue
		}
		diff, err := Diff([]*Place{at})
		if err != nil {
			t.Errorf("%s: %v", at.Function, err)
			continue
		}
		text := at.Message() + "\n" + diff
		name := at.Shape + "." + strings.NewReplacer("/", "_", ".php", "").Replace(at.File) + "." + strings.ReplaceAll(at.Function, ".", "_") + ".diff"
		if seen[name] {
			t.Errorf("two are named %s", name)
		}
		seen[name] = true
		wantGolden(t, filepath.Join("testdata", "phpgolden", name), text)
	}
	wantNoOthers(t, filepath.Join("testdata", "phpgolden"), seen)
}

// With random rows and keys every program answers the same before and after, and leaves the
// same rows; with fewer statements.
func TestPHPAnswersStay(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	socket := strings.TrimSuffix(strings.TrimPrefix(dsn, "root@unix("), ")/app")
	_, places := phpFound(t)
	after := phpPatched(t, places)
	schema, err := os.ReadFile(filepath.Join(phpCorpus, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	load := exec.Command("mariadb", "-uroot", "-S", socket)
	load.Stdin = strings.NewReader("DROP DATABASE app; CREATE DATABASE app; USE app; " + string(schema))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, seed := range []string{"1", "2", "3", "4", "5", "6"} {
		for _, emulate := range []string{"0", "1"} {
			asked := questions(t, dsn)
			countersBack(t, dsn)
			wants := phpAnswers(t, phpCorpus, socket, seed, emulate)
			single := questions(t, dsn) - asked
			countersBack(t, dsn)
			gots := phpAnswers(t, after, socket, seed, emulate)
			all := questions(t, dsn) - asked - single
			sameAnswers(t, wants, gots)
			t.Logf("seed %s: %d answers, %d statements before, %d after", seed, len(wants), single, all)
			if all >= single {
				t.Errorf("seed %s: %d statements before, %d after", seed, single, all)
			}
		}
	}
}

// countersBack has both programs draw the same numbers.
func countersBack(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"ids", "small_ids", "text_ids", "shared_ids", "seen_ids", "lent_ids"} {
		if _, err := db.Exec("UPDATE " + table + " SET id = 0"); err != nil {
			t.Fatal(err)
		}
	}
}

func sameAnswers(t *testing.T, wants, gots []string) {
	t.Helper()
	if len(wants) < 100 || len(wants) != len(gots) {
		t.Fatalf("%d answers before, %d after", len(wants), len(gots))
	}
	for i := range wants {
		if wants[i] != gots[i] {
			t.Errorf("before %.2000s\nafter  %.2000s", wants[i], gots[i])
		}
	}
}

// phpPatched is a folder with the corpus and all that is offered for it.
func phpPatched(t *testing.T, places []*Place) string {
	t.Helper()
	var offered []*Place
	for _, at := range places {
		if at.Refused == nil {
			offered = append(offered, at)
		}
	}
	files, err := Files(offered)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(phpCorpus)); err != nil {
		t.Fatal(err)
	}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), src, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func phpAnswers(t *testing.T, dir, socket, seed, emulate string) []string {
	t.Helper()
	cmd := exec.Command("php", filepath.Join(dir, "run.php"), socket, seed, emulate)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}
