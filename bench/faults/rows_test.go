package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ranKind is the results of a run of one kind and one fault.
func ranKind(kind, command string, c cell, lost ...string) *results {
	m := newResults(&bytes.Buffer{}, &bytes.Buffer{}, false)
	m.kinds, m.steps[kind], m.commands[kind], m.lost = []string{kind}, 17, command, lost
	m.cells[[2]string{kind, "disk full"}] = &c
	return m
}

// Rows of two runs make one page: in the table's order, with both commands,
// and what one run lost is lost in both.
func TestRowsOfSeveralRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	first := ranKind("git", "first", cell{Cases: 300, Kept: 299, Lost: 1}, "git, disk full before step 3 (x): gone", "github, none: no")
	if err := first.save(dir, "git"); err != nil {
		t.Fatal(err)
	}
	m := ranKind("process", "second", cell{Cases: 200, Back: 200})
	if err := m.gather(dir); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.kinds, " "); got != "process git" {
		t.Errorf("kinds %q", got)
	}
	if all := m.sum(); all != (cell{Cases: 500, Kept: 299, Back: 200, Lost: 1}) {
		t.Errorf("sum %+v", all)
	}
	if m.met(500) {
		t.Error("met, though a case was lost in the run before")
	}
	if len(m.lost) != 1 || !strings.HasPrefix(m.lost[0], "git, ") {
		t.Errorf("lost %q", m.lost)
	}
	page := filepath.Join(dir, "page.md")
	if err := m.markdown(page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    second\n    first\n", "| process | 17 |", "| 300, 1 LOST |", "500 cases, 1 lost; 299 ended as kept, 200 as before."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// A run of other faults of the same kind adds to its row.
func TestRowOfOtherFaults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	if err := ranKind("git", "first", cell{Cases: 300, Kept: 299, Lost: 1}, "git, disk full before step 3 (x): gone").save(dir, "git"); err != nil {
		t.Fatal(err)
	}
	m := newResults(&bytes.Buffer{}, &bytes.Buffer{}, false)
	m.kinds, m.steps["git"], m.commands["git"] = []string{"git"}, 17, "second"
	m.cells[[2]string{"git", "SSH cut"}] = &cell{Cases: 17, Back: 17}
	if err := m.save(dir, "git"); err != nil {
		t.Fatal(err)
	}
	r, err := readRow(dir, "git")
	if err != nil {
		t.Fatal(err)
	}
	if r.Command != "first\nsecond" || len(r.Faults) != 2 || len(r.Lost) != 1 || r.Faults["disk full"].Lost != 1 || r.Faults["SSH cut"].Cases != 17 {
		t.Errorf("%+v", r)
	}
}

// A kind that was run again counts once, as it was run now; a file that is not
// its kind's row is refused.
func TestRowsAreOfTheirKind(t *testing.T) {
	dir := t.TempDir()
	if err := ranKind("git", "old", cell{Cases: 1, Lost: 1}, "git, none: gone").save(dir, "git"); err != nil {
		t.Fatal(err)
	}
	m := ranKind("git", "new", cell{Cases: 600, Kept: 600})
	if err := m.gather(dir); err != nil {
		t.Fatal(err)
	}
	if !m.met(500) || m.commands["git"] != "new" {
		t.Errorf("%+v, lost %q, by %q", m.sum(), m.lost, m.commands["git"])
	}
	if err := os.Rename(filepath.Join(dir, "git.json"), filepath.Join(dir, "file.json")); err != nil {
		t.Fatal(err)
	}
	err := m.gather(dir)
	if err == nil || !strings.Contains(err.Error(), `of the kind "git"`) || !strings.Contains(err.Error(), "-kinds file") {
		t.Errorf("error %v", err)
	}
}

// Without kinds only a page of rows can be made.
func TestNoKinds(t *testing.T) {
	var out bytes.Buffer
	if _, err := parse([]string{"-kinds", ""}, &out); err == nil {
		t.Error("taken without -rows")
	}
	s, err := parse([]string{"-kinds", "", "-rows", "x"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	m := newResults(&out, &out, false)
	if err := m.all(t.Context(), s); err != nil || len(m.kinds) > 0 {
		t.Errorf("%v, ran %q", err, m.kinds)
	}
}
