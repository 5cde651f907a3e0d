package patch

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jmoiron/sqlx" // the corpus imports it
)

var update = flag.Bool("update", false, "write testdata/golden anew")

// corpus is a folder that was read, with the places that were found there.
type corpus struct {
	program *Program
	places  []*Place
}

var corpora = map[string]*corpus{}

// loaded reads a folder of the corpus, once for all tests.
func loaded(t *testing.T, dir string) (*Program, []*Place) {
	t.Helper()
	if c := corpora[dir]; c != nil {
		return c.program, c.places
	}
	p, err := Load(t.Context(), filepath.Join("testdata", "corpus", dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Skipped) > 0 {
		t.Fatalf("not type-checked: %v", p.Skipped)
	}
	corpora[dir] = &corpus{p, p.Find()}
	return p, corpora[dir].places
}

// plain are the places of the folder that most tests look at.
func plain(t *testing.T) []*Place {
	t.Helper()
	_, places := loaded(t, "plain")
	return places
}

// wanted are the places that comments of functions name ("want P1", "want P1 refused: key"),
// by file and function.
func wanted(p *Program) map[string][]string {
	out := map[string][]string{}
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, line := range strings.Split(fn.Doc.Text(), "\n") {
				if want, ok := strings.CutPrefix(line, "want "); ok {
					at := f.rel + " " + f.function(fn)
					out[at] = append(out[at], want)
				}
			}
		}
	}
	return out
}

// Every program of the corpus is offered, or refused with the precondition that it violates.
func TestCorpus(t *testing.T) {
	for _, dir := range []string{"plain", "floats", "bytes", "blobs", "pools/open", "pools/limited", "pools/set", "pooled", "packed", "masters", "foreign", "glued"} {
		p, places := loaded(t, dir)
		got := map[string][]string{}
		for _, at := range places {
			says := at.Shape
			if at.Refused != nil {
				says += " refused: " + at.Refused.Need
				t.Logf("%s %s: %v", at.File, at.Function, at.Refused)
			}
			if strings.HasPrefix(at.File, "run/") || strings.HasPrefix(dir, "pools/") && at.Shape != "P19" || (dir == "masters" || dir == "foreign" || dir == "glued") && at.Shape != "P9" {
				continue // which runs the others; which is not what these are about
			}
			where := at.File + " " + at.Function
			got[where] = append(got[where], says)
		}
		want := wanted(p)
		for at := range got {
			if want[at] == nil {
				want[at] = []string{}
			}
		}
		for at, w := range want {
			if !slices.Equal(w, got[at]) {
				t.Errorf("%s: %v, want %v", at, got[at], w)
			}
		}
	}
}

// What is written in the place of each is what testdata/golden holds.
func TestGolden(t *testing.T) {
	var places []*Place
	for _, dir := range []string{"plain", "pools/open", "pools/limited", "pooled", "packed", "masters", "foreign", "glued"} {
		_, found := loaded(t, dir)
		for _, at := range found {
			if !strings.HasPrefix(dir, "pools/") && dir != "masters" || strings.HasPrefix(dir, "pools/") && at.Shape == "P19" || dir == "masters" && at.Shape == "P9" {
				places = append(places, at)
			}
		}
	}
	seen := map[string]bool{}
	for _, at := range places {
		if at.Refused != nil || at.With != "" || strings.HasPrefix(at.File, "run/") {
			continue
		}
		diff, err := Diff([]*Place{at})
		if err != nil {
			t.Errorf("%s: %v", at.Function, err)
			continue
		}
		text := at.Message() + "\n" + diff
		name := fmt.Sprintf("%s.%s.diff", at.Shape, strings.ReplaceAll(at.Function, ".", "_"))
		if seen[name] {
			name = strings.Replace(name, ".diff", ".2.diff", 1)
		}
		seen[name] = true
		wantGolden(t, filepath.Join("testdata", "golden", name), text)
	}
	wantNoOthers(t, filepath.Join("testdata", "golden"), seen)
}

// wantGolden compares a text with a file, or writes it there (-update).
func wantGolden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != text {
		t.Errorf("%s: %v\n%s", file, err, text)
	}
}

// wantNoOthers: each file of the folder is of something that is offered.
func wantNoOthers(t *testing.T, dir string, seen map[string]bool) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("nothing is offered for %s/%s", dir, f.Name())
		}
	}
}
