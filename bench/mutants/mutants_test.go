package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// toy is a module whose test sees some of the mutants of its only function.
var toy = map[string]string{
	"go.mod": "module toy\n\ngo 1.26\n",
	"internal/toy/sum.go": `// Package toy sums up.
package toy

import "errors"

var errNone = errors.New("none")

// Sum adds what is over least.
func Sum(xs []int, least int) (int, error) {
	if len(xs) == 0 && least < 9 {
		return 0, errNone
	}
	sum := 0
	for _, x := range xs {
		if x > least {
			sum += x
		}
	}
	buf := make([]int, 0, 7)
	buf = append(buf, sum)
	return buf[0], nil
}
`,
	"internal/toy/sum_test.go": `package toy

import "testing"

func TestSum(t *testing.T) {
	if got, err := Sum([]int{1, 5, 6}, 2); got != 11 || err != nil {
		t.Fatal(got, err)
	}
}

func TestOther(t *testing.T) {
	if _, err := Sum(nil, 1); err == nil {
		t.Fatal("no error")
	}
}
`,
}

func makeToy(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range toy {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// drawToy draws n of the toy's mutants; they are of one package.
func drawToy(t *testing.T, root string, seed int64, n int) []mutant {
	t.Helper()
	packs, err := load(t.Context(), root, "internal/toy")
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := drawGroup("internal/toy", packs, seed, n)
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// TestSites lists every mutant that the toy has. A capacity is no site, nor is
// an assignment whose absence leaves a variable without use: the draw does not
// take what does not compile.
func TestSites(t *testing.T) {
	root := makeToy(t)
	packs, err := load(t.Context(), root, "internal/toy")
	if err != nil {
		t.Fatal(err)
	}
	sites, err := packs[0].sites()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sites {
		if packs[0].compiles(s) {
			got = append(got, string(s.kind)+" "+s.function+": "+s.what())
		}
	}
	want := []string{
		"condition Sum: len(xs) == 0 && least < 9 negated",
		"operand Sum: && least < 9 left out",
		"operand Sum: len(xs) == 0 && left out",
		"comparison Sum: len(xs) == 0 -> len(xs) != 0",
		"constant Sum: 0 -> (0 + 1)",
		"comparison Sum: least < 9 -> least <= 9",
		"constant Sum: 9 -> (9 + 1)",
		"error Sum: errNone -> nil",
		"constant Sum: 0 -> (0 + 1)",
		"constant Sum: 0 -> (0 + 1)",
		"condition Sum: x > least negated",
		"comparison Sum: x > least -> x >= least",
		"statement Sum: sum += x left out",
		"arithmetic Sum: sum += x -> sum -= x",
		"constant Sum: 0 -> (0 + 1)", // of make's length
		"statement Sum: buf = append(buf, sum) left out",
		"constant Sum: 0 -> (0 + 1)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sites:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDrawStays: the seed tells the draw, and a line more elsewhere in the file
// does not change it.
func TestDrawStays(t *testing.T) {
	root := makeToy(t)
	ids := func(seed int64) (out []string) {
		for _, m := range drawToy(t, root, seed, 8) {
			out = append(out, m.id())
		}
		return out
	}
	before := ids(1)
	if reflect.DeepEqual(before, ids(2)) {
		t.Error("two seeds draw the same")
	}
	file := filepath.Join(root, "internal/toy/sum.go")
	text := strings.Replace(toy["internal/toy/sum.go"], "var errNone", "// A comment.\n\nvar errNone", 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := ids(1); !reflect.DeepEqual(after, before) {
		t.Errorf("after an edit elsewhere %v are drawn, before %v", after, before)
	}
}

// TestTry tells killed from survived, and writes nothing into the tree.
func TestTry(t *testing.T) {
	await.SkipShort(t)
	root := makeToy(t)
	before := read(t, root)
	b, err := newBox(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	tr := &trier{root: root, box: b, limit: time.Minute, clean: map[string]bool{}}
	want := map[string]string{
		"arithmetic sum += x -> sum -= x":             "killed TestSum",
		"comparison x > least -> x >= least":          "survived ",
		"error errNone -> nil":                        "killed TestOther",
		"constant 9 -> (9 + 1)":                       "survived ",
		"condition len(xs) == 0 && least < 9 negated": "killed TestSum",
	}
	for _, m := range drawToy(t, root, 1, 15) {
		w, ok := want[string(m.kind)+" "+m.what()]
		if !ok {
			continue
		}
		delete(want, string(m.kind)+" "+m.what())
		r, err := tr.try(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.Status) + " " + r.By; got != w {
			t.Errorf("%s: %s, want %s", m.id(), got, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("not drawn: %v", want)
	}
	if after := read(t, root); !reflect.DeepEqual(after, before) {
		t.Error("files of the tree changed")
	}
}

func read(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFailsAnyway: a test that fails without a mutant, too, is no killer.
func TestFailsAnyway(t *testing.T) {
	await.SkipShort(t)
	root := makeToy(t)
	text := strings.Replace(toy["internal/toy/sum_test.go"], "got != 11", "got != 12", 1)
	if err := os.WriteFile(filepath.Join(root, "internal/toy/sum_test.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := newBox(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	tr := &trier{root: root, box: b, limit: time.Minute, clean: map[string]bool{}}
	if _, err := tr.try(t.Context(), drawToy(t, root, 1, 1)[0]); err == nil || !strings.Contains(err.Error(), "TestSum of internal/toy fails without a mutant") {
		t.Errorf("error %v", err)
	}
}

// TestBox: what a test removes is still there, and no process of it stays.
func TestBox(t *testing.T) {
	await.SkipShort(t)
	root := t.TempDir()
	b, err := newBox(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if !b.apart {
		t.Log("no namespaces here: nothing to be seen")
		return
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := b.run(t.Context(), b.own, time.Minute, "sh", "-c", "sleep 1000 & ls "+file+" && rm "+file+"; ls "+file+"; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || bytes.Count(out, []byte("No such file")) != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	await.Ends(t, "a program with a limit", func() {
		if _, err := b.run(t.Context(), b.own, time.Second, "sleep", "1000"); err != errLate {
			t.Errorf("a program that is late: %v", err)
		}
	})
}

func TestKnown(t *testing.T) {
	root := makeToy(t)
	m := drawToy(t, root, 1, 1)[0]
	file, tests, err := hashes(root, m)
	if err != nil {
		t.Fatal(err)
	}
	was := newResult(m)
	was.Status, was.First, was.By, was.FileHash, was.TestHash = killed, survived, "TestSum", file, tests
	known := map[string]result{m.id(): was}
	// A trier without a box would fail: nothing is tried.
	r, err := settings{}.one(t.Context(), &trier{root: root}, m, known, nil)
	if err != nil || r.Status != killed || r.First != survived || r.By != "TestSum" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = settings{}.one(t.Context(), &trier{root: root}, m, known, map[string]string{m.id(): "because"})
	if err != nil || r.Status != equal || r.Reason != "because" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTable(t *testing.T) {
	list := []result{
		{Number: 1, Group: "internal/stat", Mutant: "a", Status: killed, First: survived},
		{Number: 2, Group: "internal/stat", Mutant: "b", Status: equal, First: survived, Reason: "why"},
		{Number: 3, Group: "internal/digest", Mutant: "c", Status: survived, First: survived},
		{Number: 4, Group: "internal/digest", Mutant: "d", Status: timedOut, First: timedOut},
	}
	var out bytes.Buffer
	table(&out, list)
	for _, want := range []string{
		"| internal/stat | 2 | 0 | 1 | 1 | 100 % |", "| internal/digest | 2 | 1 | 1 | 0 | 50 % |", "| all | 4 | 1 | 2 | 1 | 67 % |",
		"Survivors:\n\n- 3, `c`\n", "- 2, `b`: why\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
}

func TestEqualNeedsReason(t *testing.T) {
	name := filepath.Join(t.TempDir(), "equal.txt")
	if err := os.WriteFile(name, []byte("# why\na.go F: x || y -> x | never both\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := readEqual(name)
	if err != nil || got["a.go F: x || y -> x"] != "never both" {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(name, []byte("a.go F: x -> y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readEqual(name); err == nil {
		t.Error("no error")
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-only", "0"}, {"-only", "61"}, {"-only", "a"}, {"x"}} {
		if code := run(context.Background(), args, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
			t.Errorf("%v: exit status %d, want 2", args, code)
		}
	}
}
