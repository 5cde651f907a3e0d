package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kasoku/lab"
	"kasoku/lab/labtest"
)

const (
	tutorialPage = "docs/tutorial/README.md"
	// printedFile holds what a run of the tutorial printed: each command after "$ ", its output below it.
	printedFile = "testdata/docs/tutorial.txt"
)

// TestTutorial does what the tutorial says, on a disposable host with its packages, and compares what is
// printed with what it shows. It takes a quarter of an hour: make tutorial. With WRITE=1 it stores
// what was printed, which TestTutorialShowsWhatWasPrinted goes by.
func TestTutorial(t *testing.T) {
	if os.Getenv("KASOKU_TUTORIAL") == "" {
		t.Skip("takes a quarter of an hour: make tutorial")
	}
	page := docPages(t)[tutorialPage]
	program, err := exec.LookPath("kasoku")
	if err != nil {
		t.Fatal(err)
	}
	cmds := commands(t, tutorialPage, page)
	packages, found := strings.CutPrefix(cmds[0].text, "apt-get install ")
	if !found {
		t.Fatalf("the tutorial begins with %q", cmds[0].text)
	}
	l := labtest.Up(t, lab.Options{Count: 1, Packages: strings.Fields(packages), Program: program})
	root := filepath.Join(l.Dir, "hosts/h1/root")
	if out, err := exec.Command("cp", program, filepath.Join(root, "usr/local/bin/kasoku")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var all strings.Builder
	dir := "."
	for _, c := range cmds[1:] {
		if strings.HasPrefix(c.text, "mkdir ") {
			dir = "demo"
		}
		if strings.HasPrefix(c.text, "kasoku scenario check") {
			prepareTutorial(t, page, filepath.Join(root, "root", dir))
		}
		out, err := exec.Command("ssh", "-F", l.SSHConfig, "h1", "mkdir -p "+dir+"; cd "+dir+" && { "+strings.ReplaceAll(c.text, "mkdir ~", "mkdir -p ~")+"; } 2>&1").CombinedOutput()
		t.Logf("$ %s\n%s", c.text, out)
		if want := strings.HasPrefix(c.text, "kasoku try "); (err != nil) != want {
			t.Errorf("%s: %v", c.text, err) // a try ends with its verdict, here not 0
		}
		fmt.Fprintf(&all, "$ %s\n", c.text)
		for _, line := range strings.SplitAfter(string(out), "\n") {
			if !underWay.MatchString(line) {
				all.WriteString(strings.ReplaceAll(line, "/"+"root/", "~/"))
			}
		}
		if c.output != nil {
			if d := differs(c.output, strings.Split(string(out), "\n")); d != "" {
				t.Errorf("%s:%d: %s: %s", c.page, c.line, c.text, d)
			}
		}
	}
	if os.Getenv("WRITE") != "" {
		if err := os.WriteFile(printedFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// prepareTutorial edits kasoku.yaml and writes scenario.yaml, as sections 3 and 4 of the tutorial say.
// On a machine that others use it asks for as little quiet as there is.
func prepareTutorial(t *testing.T, page, dir string) {
	t.Helper()
	file := filepath.Join(dir, "kasoku.yaml")
	yaml := readText(t, file)
	for _, key := range []string{"load", "regulation"} {
		section := regexp.MustCompile(`(?m)^    ` + key + `:\n(?:      .*\n)+`).FindString(page)
		section = strings.ReplaceAll(strings.TrimPrefix(section, "    "), "\n    ", "\n")
		stands := regexp.MustCompile(`(?m)^` + key + `:.*\n(?:[ #].*\n|\n)*`)
		if section == "" || !stands.MatchString(yaml) {
			t.Fatalf("%s: is not on the page or not in\n%s", key, yaml)
		}
		yaml = stands.ReplaceAllLiteralString(yaml, section)
	}
	yaml += "tune: {max_foreign_cpu: 1}\n"
	if err := os.WriteFile(file, []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), []byte(tutorialScenario(t, page)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tutorialScenario is the scenario.yaml of the page.
func tutorialScenario(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "```yaml\n")
	text, _, ends := strings.Cut(rest, "```")
	if !found || !ends {
		t.Fatal("the tutorial shows no scenario")
	}
	return text
}

// TestTutorialShowsWhatWasPrinted: outputs on the page, and those of the first page of all, are
// those of the run that make tutorial stored, letter for letter.
func TestTutorialShowsWhatWasPrinted(t *testing.T) {
	printed := map[string][]string{}
	last := ""
	for _, line := range strings.Split(readText(t, printedFile), "\n") {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			last = c
			continue
		}
		printed[last] = append(printed[last], line)
	}
	all := docPages(t)
	for _, page := range []string{tutorialPage, "README.md"} {
		for _, c := range commands(t, page, all[page]) {
			if c.output == nil {
				continue
			}
			if d := compared(filled(c.output), filled(printed[c.text])); d != "" {
				t.Errorf("%s:%d: %s: %s", c.page, c.line, c.text, d)
			}
		}
	}
}

// filled are the lines that are not empty.
func filled(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.TrimSpace(l) == "" })
}
