package remedy_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"kasoku/internal/remedy"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]int{}
	for _, e := range remedy.Catalogue() {
		seen[e.ID]++
		if e.Sign == "" || e.Done == "" || e.Kind == "" {
			t.Errorf("%s: sign, what was done and kind are needed", e.ID)
		}
		if h := e.How; h != (remedy.How{}) && (h.Mechanism == "" || h.Test == "" || h.Status != remedy.Advises && h.Status != remedy.InLoop) {
			t.Errorf("%s: %+v needs status, mechanism and test", e.ID, h)
		}
	}
	for _, e := range remedy.Catalogue() {
		if (e.Status == remedy.Beyond) != (e.OutOfReach != "") {
			t.Errorf("%s is %s; what is out of reach says why, and only that: %q", e.ID, e.Status, e.OutOfReach)
		}
	}
	for letter, n := range map[string]int{"C": 28, "W": 17, "I": 24, "G": 15, "L": 14} {
		for i := 1; i <= n; i++ {
			id := fmt.Sprintf("%s%02d", letter, i)
			if seen[id] != 1 {
				t.Errorf("%s is there %d times, want once", id, seen[id])
			}
			delete(seen, id)
		}
	}
	for id := range seen {
		t.Errorf("%s is no measure", id)
	}
	for _, r := range remedy.Table {
		for _, id := range r.Measures {
			if !known(id) {
				t.Errorf("remedy %s names the unknown measure %s", r.ID, id)
			}
		}
	}
}

// What was measured is of a remedy that there is, and names no folder of one run.
func TestEffectsAreOfRemedies(t *testing.T) {
	effects, err := remedy.Effects()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, r := range remedy.Table {
		ids[r.ID] = true
	}
	for _, e := range effects {
		if !ids[e.Remedy] || !strings.HasPrefix(e.Plan, e.Remedy) || strings.Contains(e.Plan, "/tmp/") {
			t.Errorf("%q is of no remedy, or only of one run (plan %q)", e.Remedy, e.Plan)
		}
		if e.Pairs < 2 || e.Baseline <= 0 || e.Candidate <= 0 || e.Low > e.High || e.Test == "" || e.Unit == "" {
			t.Errorf("%s: %+v", e.Plan, e)
		}
	}
}

// An effect whose interval holds zero may be noise alone: the catalogue tells none.
func TestCatalogueTellsNoNoise(t *testing.T) {
	pages, err := remedy.CataloguePages()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(bytes.Join(slices.Collect(maps.Values(pages)), nil))) {
		if strings.HasPrefix(line, "- measured here: ") {
			seen++
			if found := regexp.MustCompile(`\(−[^()]* to \+[^()]*\)`).FindString(line); found != "" {
				t.Errorf("%s in: %.200s", found, line)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d remedies tell what was measured", seen)
	}
}

func known(id string) bool {
	for _, m := range remedy.Measures {
		if m.ID == id {
			return true
		}
	}
	return false
}

func TestCatalogueIsUpToDate(t *testing.T) {
	want, err := remedy.CataloguePages()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "docs", "reference", "catalogue")
	have, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range have {
		if want[f.Name()] == nil {
			t.Errorf("%s is no page of the catalogue: run `go generate ./internal/remedy`", f.Name())
		}
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("docs/reference/catalogue/%s is out of date (%v): run `go generate ./internal/remedy`", name, err)
		}
	}
}

// TestCatalogueTestsExist: every test that the catalogue names is in the
// repository, and in the file that it names if it names one.
func TestCatalogueTestsExist(t *testing.T) {
	form := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	have := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, m := range form.FindAllSubmatch(text, -1) {
			have[string(m[1])] = true
			have[filepath.ToSlash(rel)+":"+string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range remedy.Table {
		if !have[r.Test] {
			t.Errorf("remedy %s: test %q is not in the repository", r.ID, r.Test)
		}
	}
	for _, m := range remedy.Measures {
		if test := m.How.Test; test != "" && !have[test] {
			t.Errorf("%s: test %q is not in the repository", m.ID, test)
		}
	}
}
