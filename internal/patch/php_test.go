package patch

import (
	"fmt"
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
	phpHeads = lazyregexp.New(`^\s*(?:(?:public |private )?function (\w+)|// want)`)
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
				name = map[string]string{"prepares.php": "Notes."}[f.rel] + name
				if f.rel == "shop/Catalogue.php" {
					name = "Catalogue." + name
				}
			}
			out[f.rel+" "+name], waiting = waiting, nil
		}
	}
	return out
}

// Every program of the corpus is offered, or refused with the precondition that it violates.
func TestPHPCorpus(t *testing.T) {
	p, places := phpFound(t)
	wantPHPPlaces(t, p, places)
}

// wantPHPPlaces compares places with those that comments of their program name.
func wantPHPPlaces(t *testing.T, p *Program, places []*Place) {
	t.Helper()
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
	wantPHPGolden(t, places, "phpgolden")
}

func wantPHPGolden(t *testing.T, places []*Place, folder string) {
	t.Helper()
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
		base := at.Shape + "." + strings.NewReplacer("/", "_", ".php", "").Replace(at.File) + "." + strings.ReplaceAll(at.Function, ".", "_")
		name := base + ".diff"
		for i := 2; seen[name]; i++ {
			name = fmt.Sprintf("%s.%d.diff", base, i)
		}
		seen[name] = true
		wantGolden(t, filepath.Join("testdata", folder, name), text)
	}
	wantNoOthers(t, filepath.Join("testdata", folder), seen)
}

// phpAlone is where what is read for all of a loop is read alone instead, since it failed.
var phpAlone = lazyregexp.New(`(catch \(\S+ (\$\w+)\) \{\n\s*)[^\n]*read alone then`)

// No statement that reads for all of a loop fails: with an exception in the place of reading
// alone, the answers are the same.
func TestPHPReadersRead(t *testing.T) {
	await.SkipShort(t)
	dsn := mariadb(t)
	socket := phpSchema(t, dsn, phpCorpus)
	_, places := phpFound(t)
	after, readers := phpPatched(t, places), 0
	for _, name := range phpFiles(t, after) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		readers += len(phpAlone.FindAllString(string(src), -1))
		if err := os.WriteFile(name, []byte(phpAlone.ReplaceAllString(string(src), "${1}throw $2;")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if readers < 60 {
		t.Errorf("%d readers", readers)
	}
	wants, _ := phpBefore(t, dsn, socket, "2", "0")
	countersBack(t, dsn)
	sameAnswers(t, wants, phpAnswers(t, after, socket, "2", "0"))
}

// phpFiles are the PHP files below a folder.
func phpFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.php", "*/*.php"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	return out
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
func phpPatched(t *testing.T, places []*Place) string { return phpPatchedOf(t, phpCorpus, places) }

func phpPatchedOf(t *testing.T, corpus string, places []*Place) string {
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
	if err := os.CopyFS(dir, os.DirFS(corpus)); err != nil {
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

// Statements throw by themselves from PHP 8 on, if nothing tells them otherwise.
func TestPHPThrows(t *testing.T) {
	for _, c := range []struct {
		about, composer, more string
		offered               bool
	}{
		{"nothing", "", "", false},
		{"PHP 8", `{"require": {"php": "^8.1"}}`, "", true},
		{"PHP 8 and later", `{"require": {"php": ">=8.0"}}`, "", true},
		{"PHP 7, too", `{"require": {"php": "^7.4 || ^8.0"}}`, "", false},
		{"told otherwise", `{"require": {"php": "^8.1"}}`, "$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);", false},
	} {
		t.Run(c.about, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"composer.json": c.composer, "log.php": "<?php\nfunction logs(PDO $pdo, array $all) {\n    " + c.more + `
    $pdo->beginTransaction();
    try {
        foreach ($all as $one) {
            $pdo->prepare('INSERT INTO log (text) VALUES (?)')->execute([$one]);
        }
        $pdo->commit();
    } catch (PDOException $e) {
        $pdo->rollBack();
        throw $e;
    }
}
logs(new PDO('mysql:'), ['a']);
`} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Load(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			places := p.Find()
			if len(places) != 1 || (places[0].Refused == nil) != c.offered {
				t.Fatalf("%+v", places)
			}
			if why := places[0].Refused; why != nil && why.Need != "error" {
				t.Error(why)
			}
		})
	}
}

// What a failing statement gives is no list and no sum; the rows of a result that is read row
// by row from the server are not all there.
func TestPHPLists(t *testing.T) {
	count := "$stmt = $pdo->prepare('SELECT COUNT(*) FROM t WHERE k = ?');\n        $stmt->execute([$one]);\n        $n += $stmt->fetchColumn();"
	rows := "$stmt = $pdo->prepare('SELECT a FROM t WHERE k = ?');\n        $stmt->execute([$one]);\n        while ($row = $stmt->fetch()) {\n            $n += $row[0];\n        }"
	for _, c := range []struct{ about, composer, more, body, refused string }{
		{"a sum", `{"require": {"php": ">=8.0"}}`, "", count, ""},
		{"a list", `{"require": {"php": ">=8.0"}}`, "", rows, ""},
		{"a sum of silent statements", "", "", count, "error"},
		{"a list of silent statements", "", "", rows, "error"},
		{"row by row", `{"require": {"php": ">=8.0"}}`, "$pdo->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);", rows, "end"},
		{"a table that is not known", `{"require": {"php": ">=8.0"}}`, "", strings.Replace(rows, "FROM t", "FROM v", 1), "statement"},
	} {
		t.Run(c.about, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"composer.json": c.composer, "t.sql": "CREATE TABLE t (k INT NOT NULL, a INT NOT NULL);", "sum.php": "<?php\nfunction sum(PDO $pdo, array $all) {\n    " + c.more + `
    $n = 0;
    foreach ($all as $one) {
        ` + c.body + `
    }
    return $n;
}
sum(new PDO('mysql:'), [1]);
`} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Load(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			places, got := p.Find(), ""
			if len(places) != 1 || places[0].Shape != "P2" {
				t.Fatalf("%+v", places)
			}
			if why := places[0].Refused; why != nil {
				got = why.Need
			}
			if got != c.refused {
				t.Errorf("%v, want %q", places[0].Refused, c.refused)
			}
		})
	}
}
