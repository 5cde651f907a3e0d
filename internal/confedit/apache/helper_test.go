package apache

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

const mainPath = "/etc/apache2/apache2.conf"

func load(t testing.TB, files memory.Files) *Config {
	t.Helper()
	c, err := Load(mainPath, Options{Version: "2.4.66"}, files.Read, files.Glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func loadText(t testing.TB, text string) *Config {
	t.Helper()
	return load(t, memory.Files{mainPath: text})
}

func mainText(c *Config) string { return string(c.Files[0].Bytes()) }

// dump writes the tree with lines and states.
func dump(d *Directive, depth int) string {
	var b strings.Builder
	for _, k := range d.Children {
		fmt.Fprintf(&b, "%s%s %q %s:%d section=%v macro=%v %v\n", strings.Repeat(" ", depth), k.Name, k.Args, k.File.Path, k.Line, k.IsSection, k.IsMacro(), k.State)
		b.WriteString(dump(k, depth+1))
	}
	return b.String()
}

// checkFresh requires that the tree after edits is the tree that a fresh
// reading of the files gives, and that parents fit.
func checkFresh(t testing.TB, c *Config, files memory.Files) {
	t.Helper()
	now := files.With(c.Changed())
	fresh, err := Load(c.main, c.opt, now.Read, now.Glob)
	if err != nil {
		t.Fatalf("the edited files cannot be read: %v\n%s", err, now)
	}
	if !same(c.Root, fresh.Root) {
		t.Fatalf("the edited tree is\n%sa fresh reading gives\n%s", dump(c.Root, 0), dump(fresh.Root, 0))
	}
	c.Root.Walk(func(d *Directive) bool {
		if d.gone {
			t.Fatalf("%s is in the tree and counts as removed", d.where())
		}
		for _, k := range d.Children {
			if k.Parent != d {
				t.Fatalf("%s does not know its parent", k.where())
			}
		}
		return true
	})
}

// same reports whether two trees say the same.
func same(a, b *Directive) bool {
	return a.Name == b.Name && slices.Equal(a.Args, b.Args) && a.IsSection == b.IsSection && a.File.Path == b.File.Path &&
		a.Line == b.Line && a.State == b.State && a.IsMacro() == b.IsMacro() && slices.EqualFunc(a.Children, b.Children, same)
}

// checkSpan requires that now is was with one run of whole lines replaced by
// at most most lines.
func checkSpan(t testing.TB, was, now string, most int) {
	t.Helper()
	a, b := strings.SplitAfter(was, "\n"), strings.SplitAfter(now, "\n")
	i, j := 0, 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	if gone, fresh := len(a)-i-j, len(b)-i-j; gone > most || fresh > most {
		t.Fatalf("an edit replaced %d lines by %d:\n%q\n%q", gone, fresh, was, now)
	}
}

const corpusDir = "../testdata/corpus/apache"

// corpus are the real files.
func corpus(t testing.TB) memory.Files {
	t.Helper()
	return memory.Corpus(t, corpusDir, 4, 1, 2, 3)
}
