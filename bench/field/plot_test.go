package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The picture in docs/ is the one of field/steps.csv.
func TestPlotIsUpToDate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "steps.svg")
	if err := plot("../../field/steps.csv", file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/measured/field-steps.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/measured/field-steps.svg is not of field/steps.csv: run make field-plot")
	}
}

// A line that is no step is told with its place; a prediction counts as near within the
// factor, either way.
func TestPoints(t *testing.T) {
	head := strings.Join(pointColumns, ",") + "\n"
	for text, why := range map[string]string{
		"":                                 "the first line",
		head:                               "a step has to follow",
		head + "A,c,s,1.2,9,1,1,yes\n":     `line 2, measured: "9"`,
		head + "A,c,s,1.2,1.1,1,many,no\n": `line 2, high: "many"`,
	} {
		if _, err := readPoints(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	points, err := readPoints(strings.NewReader(head + "A,c,s,1.5,1,1,1,yes\nA,c,s,1,1.6,1,2,yes\nA,c,s,1,1,1,1,no\n"))
	if err != nil {
		t.Fatal(err)
	}
	if within, kept := near(points); within != 1 || kept != 2 {
		t.Errorf("%d of %d", within, kept)
	}
}
