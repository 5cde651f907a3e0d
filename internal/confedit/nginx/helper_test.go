package nginx

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

func load(t testing.TB, files memory.Files) *Config {
	t.Helper()
	c, err := Load("/etc/nginx/nginx.conf", "", files.Read, files.Glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func loadText(t testing.TB, text string) *Config {
	t.Helper()
	return load(t, memory.Files{"/etc/nginx/nginx.conf": text})
}

func mainText(c *Config) string { return string(c.Files[0].Bytes()) }

// dump writes the tree as nginx would see it.
func dump(d *Directive, depth int) string {
	var b strings.Builder
	for _, k := range d.Children {
		fmt.Fprintf(&b, "%s%s %q block=%v lua=%q\n", strings.Repeat(" ", depth), k.Name, k.Args, k.IsBlock, k.node.lua)
		b.WriteString(dump(k, depth+1))
	}
	return b.String()
}

// checkConsistent requires that the tree after edits is the tree that a fresh
// reading of the files gives, lines included, and that parents fit.
func checkConsistent(t testing.TB, c *Config, files memory.Files) {
	t.Helper()
	now := files.With(c.Changed())
	fresh, err := Load(c.Files[0].Path, "", now.Read, now.Glob)
	if err != nil {
		t.Fatalf("the edited files do not parse: %v\n%s", err, now)
	}
	same(t, c.Root, fresh.Root)
}

func same(t testing.TB, a, b *Directive) {
	t.Helper()
	if a.Name != b.Name || strings.Join(a.Args, "\x00") != strings.Join(b.Args, "\x00") || len(a.Args) != len(b.Args) ||
		a.IsBlock != b.IsBlock || a.Line != b.Line || a.File.Path != b.File.Path || len(a.Children) != len(b.Children) {
		t.Fatalf("edited tree has %s:%d %q %q (%d children), a fresh reading %s:%d %q %q (%d children)\n%s",
			a.File.Path, a.Line, a.Name, a.Args, len(a.Children), b.File.Path, b.Line, b.Name, b.Args, len(b.Children), a.File.Bytes())
	}
	for i := range a.Children {
		if a.Children[i].Parent != a {
			t.Fatalf("%s does not know its parent", a.Children[i].where())
		}
		same(t, a.Children[i], b.Children[i])
	}
}

// installed lists this machine's nginx configuration files.
func installed(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"/etc/nginx", "/usr/share/nginx", "/usr/share/doc/nginx"} {
		_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && (dir == "/etc/nginx" || strings.HasSuffix(name, ".conf")) {
				out = append(out, name)
			}
			return nil
		})
	}
	return out
}

// program returns the path of a server that tests need.
func program(t testing.TB, name string) string {
	t.Helper()
	full := "/usr/sbin/" + name
	if _, err := os.Stat(full); err != nil {
		t.Fatalf("%s is not installed; run make deps", full)
	}
	return full
}
