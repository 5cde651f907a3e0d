package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files and returns their folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestRepository applies the rules to this repository.
func TestRepository(t *testing.T) {
	problems, err := check("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

func TestRules(t *testing.T) {
	doc := func(name string) string { return "// Package " + name + " is one.\npackage " + name + "\n" }
	tests := []struct {
		why, file, text string
		want            string // "" for no violation
	}{
		{"an import of an earlier layer", "internal/tune/a.go", doc("tune") + `import _ "kasoku/internal/load"`, ""},
		{"an import within a group", "internal/host/ssh/a.go", doc("ssh") + `import _ "kasoku/internal/host"`, ""},
		{"an import of a later layer", "internal/load/a.go", doc("load") + `import _ "kasoku/internal/stack"`, "a.go:3: load must not import stack"},
		{"an import in the same layer", "internal/change/a.go", doc("change") + `import _ "kasoku/internal/evidence"`, "change must not import evidence"},
		{"a test's import of a later layer", "internal/load/a_test.go", "package load\n" + `import _ "kasoku/internal/tune"`, "load must not import tune"},
		{"a command imports everything", "cmd/x/main.go", "// Command x is one.\npackage main\n" + `import _ "kasoku/internal/report"`, ""},
		{"an import of a command", "internal/tune/a.go", doc("tune") + `import _ "kasoku/cmd/x"`, "is not to be imported"},
		{"an import of a case", "internal/tune/a.go", doc("tune") + `import _ "kasoku/cases/login"`, "is not to be imported"},
		{"a package in no layer", "internal/other/a.go", doc("other"), "is in no layer"},
		{"the host's test suite outside tests", "internal/tune/a.go", doc("tune") + `import _ "kasoku/internal/host/hosttest"`, "is for tests only"},
		{"the host's test suite in another one", "internal/host/sshtest/a.go", doc("sshtest") + `import _ "kasoku/internal/host/hosttest"`, ""},
		{"the host's test suite in the bed", "cases/remedies/bed/a.go", doc("bed") + `import _ "kasoku/internal/host/hosttest"`, ""},
		{"the host's test suite in what cases share", "cases/lib/played/a.go", doc("played") + `import _ "kasoku/internal/host/hosttest"`, ""},
		{"the host's test suite in a case", "cases/login/a.go", doc("login") + `import _ "kasoku/internal/host/hosttest"`, "is for tests only"},
		{"the host's test suite in a test", "internal/tune/a_test.go", "package tune\n" + `import _ "kasoku/internal/host/hosttest"`, ""},

		{"a write to a host", "internal/tune/a.go", doc("tune") + "func f(h H) { h.ReplaceFile(1, 2) }", "a.go:3: ReplaceFile writes to a host"},
		{"a writing method kept for later", "internal/tune/a.go", doc("tune") + "func f(h H) { g := h.MakeDir; g() }", "MakeDir writes to a host"},
		{"host's Remove", "internal/tune/a.go", doc("tune") + "func f(h H) { h.Remove(ctx, path, hash) }", "Remove writes to a host"},
		{"another Remove", "internal/tune/a.go", doc("tune") + "func f(h H) { h.Remove(path) }", ""},
		{"a write by change", "internal/change/a.go", doc("change") + "func f(h H) { h.Remove(ctx, path, hash); h.RemoveDir(ctx, p) }", ""},
		{"a write by a test", "internal/tune/a_test.go", "package tune\nfunc f(h H) { h.ReplaceFile(1, 2) }", ""},

		{"an exit in a library", "internal/tune/a.go", doc("tune") + "import \"os\"\nfunc f() { os.Exit(1) }", "a.go:4: os.Exit ends the process"},
		{"a fatal log in a library", "internal/tune/a.go", doc("tune") + "import l \"log\"\nfunc f() { l.Fatalf(\"\") }", "l.Fatalf ends the process"},
		{"an exit of a command", "cmd/x/main.go", "// Command x is one.\npackage main\nimport \"os\"\nfunc main() { os.Exit(1) }", ""},
		{"another Exit", "internal/tune/a.go", doc("tune") + "func f(o O) { o.Exit(1) }", ""},

		{"a struct with as many fields as one may have", "internal/tune/a.go", doc("tune") + "type t struct {\n\ta, b, c, d, e, f, g, h, i, j, k, l, m, n int\n\tE\n}", ""},
		{"a struct with one more", "internal/tune/a.go", doc("tune") + "type t struct {\n\ta, b, c, d, e, f, g, h, i, j, k, l, m, n, o int\n\tE\n}", "a.go:3: t has 16 fields, more than 15"},
		{"such a struct of a test", "internal/tune/a_test.go", "package tune\ntype t struct {\n\ta, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p int\n}", ""},
		{"such a struct elsewhere", "internal/load/a.go", doc("load") + "type t struct {\n\ta, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p int\n}", ""},

		{"the clock in what chooses", "internal/tune/schedule.go", doc("tune") + "import \"time\"\nfunc f(d time.Time) time.Duration { return time.Until(d) }", "schedule.go:4: time.Until reads the clock"},
		{"a context in what chooses", "internal/tune/joined.go", doc("tune") + "import _ \"context\"", "joined.go:3: imports context"},
		{"a time that is told to what chooses", "internal/tune/order.go", doc("tune") + "import \"time\"\nfunc f(d time.Duration) bool { return d > time.Minute }", ""},

		{"no package comment", "internal/tune/a.go", "package tune\n", "a.go:1: package tune has no comment"},
		{"a comment that stands apart", "internal/tune/a.go", "// Package tune is one.\n\npackage tune\n", "has no comment"},
		{"a package of tests only", "internal/tune/a_test.go", "package tune\n", ""},

		{"a machine's path", "docs/a.md", "one\nsee /wo" + "rk/main/x\n", "a.md:2: \"/wo" + "rk/\" is a path of one machine"},
		{"a machine's path at the start of a line", "a.sh", "x\n/ro" + "ot/x\n", "a.sh:2:"},
		{"the same word inside a path", "docs/a.md", "see net/wo" + "rk/x and ./wo" + "rk/y\n", ""},
		{"something left over", "docs/a.md", "// TO" + "DO later", "something left to be done"},
		{"a tool's name", "docs/a.md", "made with Cla" + "ude", "no part in the project"},
		{"a registry", "docs/a.md", "https://py" + "pi.org/x", "a package registry's host"},
		{"a word of the project's own in a page", "docs/a.md", "It says what\nbi" + "nds.\n", "docs/a.md:1: users do not read \"what bi" + "nds\"; write bottleneck"},
		{"the same in a record of a decision", "docs/adr/a.md", "It says what bi" + "nds.\n", ""},
		{"the same in a text of the program", "internal/tune/a.go", doc("tune") + "var a = \"the next lo" + "ok at %d\"\n", "write interim analysis"},
		{"the same in a comment", "internal/tune/a.go", doc("tune") + "// what bi" + "nds\n", ""},
		{"a measure's code in a page", "docs/a.md", "As C" + "24 says.\n", "docs/a.md:1: C" + "24 is a code"},
		{"a measure's code in a text of the program", "internal/tune/a.go", doc("tune") + "var a = \"see C" + "24\"\n", "C" + "24 is a code"},
		{"a measure's code in a list of them", "internal/tune/a.go", doc("tune") + "var a = []string{\"C" + "24\"}\n", ""},
		{"a link within a page", "a.md", "# One `thing`, twice\n[see](#one-thing-twice)\n", ""},
		{"a link to a heading that is not there", "a.md", "# One\n[see](#two)\n", "a.md:2: the link to #two: a.md has no heading"},
		{"a link to the second heading of one text", "a.md", "# One\n# One\n[see](#one-1)\n", ""},
		{"a link to a folder", "docs/b/a.md", "[see](../b/)\n", ""},
		{"a link to a page that is not there", "docs/b/a.md", "[see](../c.md)\n", "docs/b/a.md:1: the link to ../c.md: docs/c.md is not there"},
		{"a picture that is not there", "docs/a.md", "![see](a.png)\n", "docs/a.png is not there"},
		{"a link in an example", "a.md", "```\n[see](b.md)\n# Two\n```\n`[see](b.md)`\n", ""},
		{"a heading in an example", "a.md", "```\n# Two\n```\n[see](#two)\n", "has no heading"},
		{"a link to another host", "a.md", "[see](https://example.org/b.md#c)\n", ""},
		{"a page that a script names", "a.sh", "# see docs/" + "b.md\n", "a.sh:1: docs/" + "b.md is not there"},
		{"a heading that a script names", "docs/b.md", "# See docs/" + "b.md#see\n", "has no heading with the anchor #see"},
		{"a file that is not text", "a.bin", "\x00 /wo" + "rk/", ""},
	}
	for _, tt := range tests {
		problems, err := check(tree(t, map[string]string{tt.file: tt.text}))
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		switch {
		case tt.want == "" && len(problems) > 0:
			t.Errorf("%s: found %v", tt.why, problems)
		case tt.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].String(), tt.want)):
			t.Errorf("%s: found %v, want %q", tt.why, problems, tt.want)
		}
	}
}

// TestTracked checks that ignored files are not looked at and new ones are.
func TestTracked(t *testing.T) {
	bad := "see /wo" + "rk/x"
	root := tree(t, map[string]string{".gitignore": "ignored.md\n", "ignored.md": bad, "new.md": bad})
	for _, args := range [][]string{{"init", "-q"}, {"add", ".gitignore"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	problems, err := check(root)
	if err != nil || len(problems) != 1 || problems[0].file != "new.md" {
		t.Errorf("found %v (%v), want one in new.md", problems, err)
	}
}

func TestRun(t *testing.T) {
	good := tree(t, map[string]string{"a.md": "fine\n"})
	bad := tree(t, map[string]string{"a.md": "/wo" + "rk/\n"})
	broken := tree(t, map[string]string{"internal/tune/a.go": "package"})
	for _, tt := range []struct {
		args []string
		want int
		out  string
	}{
		{[]string{good}, 0, ""}, {[]string{bad}, 1, "a.md:1: "}, {[]string{broken}, 2, ""}, {[]string{"a", "b"}, 2, ""}, {[]string{"--help"}, 2, ""},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(tt.args, &stdout, &stderr); got != tt.want || !strings.HasPrefix(stdout.String(), tt.out) || (got != 0) != (stderr.Len() > 0) {
			t.Errorf("lint %v: status %d, printed %q and %q", tt.args, got, stdout.String(), stderr.String())
		}
	}
}
