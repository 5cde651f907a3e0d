package vcl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

const mainPath = "/etc/varnish/default.vcl"

func load(t testing.TB, files memory.Files) *Config {
	t.Helper()
	c, err := Load(mainPath, nil, files.Read, files.Glob)
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

// dump writes what was read.
func dump(c *Config) string {
	var b strings.Builder
	for _, x := range c.Blocks("") {
		fmt.Fprintf(&b, "%s:%d %s %q gone=%v\n", x.File.Path, x.Line, x.Kind, x.Name, x.gone)
		for _, p := range x.Properties() {
			fmt.Fprintf(&b, "  %d .%s = %q\n", p.Line, p.Name, p.Value)
		}
	}
	return b.String()
}

// checkFresh requires that what is known after edits is what a fresh reading
// of the files gives.
func checkFresh(t testing.TB, c *Config, files memory.Files) {
	t.Helper()
	now := files.With(c.Changed())
	fresh, err := Load(c.main, c.path, now.Read, now.Glob)
	if err != nil {
		t.Fatalf("the edited files cannot be read: %v\n%s", err, now)
	}
	if a, b := dump(c), dump(fresh); a != b {
		t.Fatalf("after the edits\n%sa fresh reading gives\n%s", a, b)
	}
}

// checkSpan requires that now is was with one part replaced: at most gone bytes
// by at most fresh.
func checkSpan(t testing.TB, was, now string, gone, fresh int) {
	t.Helper()
	i, j := 0, 0
	for i < len(was) && i < len(now) && was[i] == now[i] {
		i++
	}
	for j < len(was)-i && j < len(now)-i && was[len(was)-1-j] == now[len(now)-1-j] {
		j++
	}
	if len(was)-i-j > gone || len(now)-i-j > fresh {
		t.Fatalf("an edit replaced %q by %q", was[i:len(was)-j], now[i:len(now)-j])
	}
}

const corpusDir = "../testdata/corpus/vcl"

// corpus are the real files.
func corpus(t testing.TB) memory.Files {
	t.Helper()
	return memory.Corpus(t, corpusDir, 5, 2, 3)
}

// accepts runs varnishd -C on a text.
func accepts(t *testing.T, text string) error {
	t.Helper()
	bin := "/usr/sbin/varnishd"
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("%s is not installed; run make deps", bin)
	}
	dir, err := os.MkdirTemp("", "vcl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// varnishd gives its rights away, so that others must be able to read.
	file := filepath.Join(dir, "x.vcl")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "-C", "-p", "vcc_err_unref=off", "-n", filepath.Join(dir, "n"), "-f", file).CombinedOutput()
	if err != nil {
		if len(out) > 2000 {
			out = out[:2000]
		}
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
