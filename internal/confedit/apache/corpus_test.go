package apache

import (
	"io/fs"
	"regexp"
	"sort"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/confedit/memory"
)

var plainInclude = regexp.MustCompile(`(?mi)^(\s*)Include `)

// loose loads a text without its includes.
func loose(text string) (*Config, error) {
	read := func(name string) ([]byte, error) {
		if name == mainPath {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	text = plainInclude.ReplaceAllString(text, "${1}IncludeOptional ")
	return Load(mainPath, Options{Version: "2.4.66"}, read, func(string) ([]string, error) { return nil, nil })
}

// TestCorpusIdentity: every real file prints as it was read.
func TestCorpusIdentity(t *testing.T) {
	files := corpus(t)
	if len(files) < 60 {
		t.Fatalf("only %d files", len(files))
	}
	for name, text := range files {
		f := &File{Path: name, lines: cutLines(text), eol: lineEnd(text)}
		if got := f.text(); got != text {
			t.Errorf("%s is printed otherwise", name)
		}
		if err := f.nest(); err != nil {
			t.Error(err)
		}
	}
}

// TestCorpusEdits edits every directive of every real file, one at a time: only
// its lines change, the result is what a fresh reading gives, taking the edit
// back gives the file again, and doing it twice changes nothing more.
func TestCorpusEdits(t *testing.T) {
	await.SkipShort(t)
	files := corpus(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	edits := 0
	for i, name := range names {
		if testing.Short() && i%5 != 0 || len(files[name]) > 30000 {
			continue
		}
		c, err := loose(files[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := mainText(c)
		var all []*Directive
		c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
		for n, d := range all {
			if d.IsMacro() || strings.HasPrefix(d.Name, "Include") || d.Is("Define") || d.Is("LoadModule") || d.Is("Use") || d.Is("Macro") || len(all) > 60 && n%7 != 0 {
				continue
			}
			editAndBack(t, name, c, d, text)
			edits += 3
		}
		checkFresh(t, c, memory.Files{mainPath: text})
	}
	t.Logf("%d edits", edits)
	if edits < 500 {
		t.Errorf("only %d edits were made", edits)
	}
}

func editAndBack(t *testing.T, name string, c *Config, d *Directive, text string) {
	t.Helper()
	was := append([]string(nil), d.Args...)
	lines := strings.Count(d.line.text, "\n") + 1
	args := append(append([]string(nil), was...), `new "value" \ 7`)
	for range 2 { // the second time nothing changes
		before := mainText(c)
		if err := d.SetArgs(args...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Join(d.Args, "|") != strings.Join(args, "|") {
			t.Fatalf("%s: %s has %q after a set to %q", name, d.where(), d.Args, args)
		}
		checkSpan(t, before, mainText(c), lines)
	}
	if err := d.SetArgs(was...); err != nil || mainText(c) != text {
		t.Fatalf("%s: %s is not put back: %v\n%q", name, d.where(), err, d.line.text)
	}
	for _, insert := range []func(string) error{d.InsertBefore, d.InsertAfter} {
		if err := insert("KasokuTest on"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSpan(t, text, mainText(c), 2)
		removeTest(t, c)
		if mainText(c) != text {
			t.Fatalf("%s: insert and remove at %s give another file", name, d.where())
		}
	}
}

func removeTest(t *testing.T, c *Config) {
	t.Helper()
	var found *Directive
	c.Root.Walk(func(d *Directive) bool {
		if d.Is("KasokuTest") {
			found = d
		}
		return true
	})
	if found == nil {
		t.Fatalf("the new directive is not in the tree:\n%s", mainText(c))
	}
	if err := found.Remove(); err != nil {
		t.Fatal(err)
	}
}
