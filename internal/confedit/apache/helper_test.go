package apache

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// memory serves files from a map.
type memory map[string]string

func (m memory) read(name string) ([]byte, error) {
	s, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(s), nil
}

func (m memory) glob(pattern string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for name := range m {
		for at := name; at != "/" && at != "."; at = path.Dir(at) { // folders, too
			ok, err := path.Match(pattern, at)
			if err != nil {
				return nil, err
			}
			if ok && !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out))) // Load must sort
	return out, nil
}

const mainPath = "/etc/apache2/apache2.conf"

func load(t testing.TB, files memory) *Config {
	t.Helper()
	c, err := Load(mainPath, Options{Version: "2.4.66"}, files.read, files.glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func loadText(t testing.TB, text string) *Config {
	t.Helper()
	return load(t, memory{mainPath: text})
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
func checkFresh(t testing.TB, c *Config, files memory) {
	t.Helper()
	now := memory{}
	for name, text := range files {
		now[name] = text
	}
	for name, text := range c.Changed() {
		now[name] = string(text)
	}
	fresh, err := Load(c.main, c.opt, now.read, now.glob)
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

// corpus reads the real files that the manifest lists, and requires that it
// lists all.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(corpusDir, "MANIFEST"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for row := range strings.Lines(string(manifest)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != 4 || f[1] == "" || f[2] == "" || f[3] == "" {
			t.Fatalf("MANIFEST: %q does not say file, package, version and path", row)
		}
		text, err := os.ReadFile(filepath.Join(corpusDir, f[0]))
		if err != nil {
			t.Fatal(err)
		}
		out[f[0]] = string(text)
	}
	files := 0
	err = filepath.WalkDir(corpusDir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != len(out)+1 {
		t.Fatalf("the manifest lists %d files, the folder has %d (%v)", len(out), files-1, err)
	}
	return out
}
