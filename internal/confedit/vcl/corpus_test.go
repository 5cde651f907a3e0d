package vcl

import (
	"sort"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// parts returns what a reading has cut a text into.
func parts(f *File) string {
	var b strings.Builder
	at := 0
	for _, t := range f.tokens {
		b.WriteString(f.src[at:t.from] + t.raw)
		at = t.to
	}
	return b.String() + f.src[at:]
}

// loose loads a text whose includes and syntax of former versions may fail.
func loose(text string) (*Config, error) {
	m := memory.Files{mainPath: strings.ReplaceAll(text, "include ", "import ")}
	return Load(mainPath, nil, m.Read, m.Glob)
}

// TestCorpusIdentity: every real file prints as it was read.
func TestCorpusIdentity(t *testing.T) {
	files := corpus(t)
	if len(files) < 25 {
		t.Fatalf("only %d files", len(files))
	}
	for name, text := range files {
		c, err := loose(text)
		must(t, name, err)
		f := c.Files[0]
		if parts(f) != f.src || f.src != strings.ReplaceAll(text, "include ", "import ") {
			t.Errorf("%s is printed otherwise", name)
		}
	}
}

// TestCorpusEdits adds code to every subroutine of every real file: only that
// part changes, and doing it twice changes nothing more.
func TestCorpusEdits(t *testing.T) {
	files := corpus(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	edits := 0
	for _, name := range names {
		c, err := loose(files[name])
		must(t, name, err)
		was := mainText(c)
		edits += marksInto(t, name, c, was)
		checkFresh(t, c, memory.Files{mainPath: was})
	}
	t.Logf("%d edits", edits)
	if edits < 250 {
		t.Errorf("only %d edits were made", edits)
	}
}

func marksInto(t *testing.T, name string, c *Config, was string) int {
	t.Helper()
	edits := 0
	for _, b := range c.Blocks("sub") {
		must(t, name, c.Begin(b.Name, "test-1", "if (req.url) {\n  # note\n  set req.http.x = {\"a\n}b\"};\n}"))
		once := mainText(c)
		checkSpan(t, was, once, 0, 400)
		must(t, name, c.Begin(b.Name, "test-1", "if (req.url) {\n  # note\n  set req.http.x = {\"a\n}b\"};\n}"))
		if mainText(c) != once {
			t.Fatalf("%s: adding twice changes something", name)
		}
		if m, ok := c.Marked("test-1"); !ok || !strings.Contains(m.Code, "# note") {
			t.Fatalf("%s: the mark is not found in\n%s", name, once)
		}
		c.restore(t, was)
		edits += 2
	}
	return edits
}

// restore starts again from a text.
func (c *Config) restore(t *testing.T, text string) {
	t.Helper()
	f := c.Files[0]
	if f.src != text {
		must(t, f.Path, c.splice(f, 0, len(f.src), text, nil))
	}
}

func must(t *testing.T, name string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
