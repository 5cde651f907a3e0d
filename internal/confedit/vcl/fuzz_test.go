package vcl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// FuzzLoad: whatever can be read prints as it was read; a property that can be
// set reads back, in a fresh reading too; marked code comes out again; and what
// is refused changes nothing.
func FuzzLoad(f *testing.F) {
	f.Add("vcl 4.1;\nbackend a { .host = \"h\"; # c\n}\nsub s { call x; }", "port", `"80"`, "call y;")
	f.Add("probe p {\r\n .url = {\"a\n\"};\r\n}\r\nsub s {\r\n}", "url", "1s", "# x")
	f.Add("backend a{.x={.y=1;};.z=2}C{ } }C /* } */ sub s{//}\n}", "z", "3", "if(x){\"\"\"a\"\"\";}")
	f.Fuzz(func(t *testing.T, src, property, value, code string) {
		m := memory.Files{mainPath: src}
		c, err := Load(mainPath, nil, m.Read, m.Glob)
		if err != nil {
			return
		}
		if parts(c.Files[0]) != src {
			t.Fatalf("%q printed as %q", src, parts(c.Files[0]))
		}
		for _, kind := range []string{"backend", "probe"} {
			if blocks := c.Blocks(kind); len(blocks) > 0 {
				fuzzProperty(t, c, blocks[0], property, value)
			}
		}
		now := mainText(c)
		for _, add := range []func(string, string, string) error{c.Begin, c.End} {
			had, _ := c.Marked("m")
			if err := add("s", "m", code); err != nil {
				if mainText(c) != now {
					t.Fatalf("a failed insertion (%v) made %q of %q", err, mainText(c), now)
				}
				continue
			}
			got, ok := c.Marked("m")
			if !ok {
				t.Fatalf("%q became %q: the mark is not found", now, mainText(c))
			}
			if had.Mark == "" { // the text around is the text before
				if outer := outside(mainText(c), got); !strings.Contains(squeezed(outer), squeezed(now)) {
					t.Fatalf("%q became %q", now, mainText(c))
				}
			}
			checkFresh(t, c, m)
			if err := c.RemoveMarked("m"); err != nil {
				t.Fatal(err)
			}
			now = mainText(c)
		}
	})
}

func outside(text string, m Marked) string { return text[:m.from] + text[m.to:] }

func squeezed(s string) string {
	s = strings.Join(strings.Fields(s), "")
	return strings.TrimSuffix(s, "subs{}") // End and Begin add the sub that is not there
}

func fuzzProperty(t *testing.T, c *Config, b *Block, property, value string) {
	t.Helper()
	was := mainText(c)
	if err := c.SetProperty(b, property, value); err != nil {
		if mainText(c) != was {
			t.Fatalf("a failed set (%v) made %q of %q", err, mainText(c), was)
		}
		return
	}
	name := strings.TrimPrefix(property, ".")
	m := memory.Files{mainPath: mainText(c)}
	fresh, err := Load(mainPath, nil, m.Read, m.Glob)
	if err != nil {
		t.Fatalf("%q became %q: %v", was, mainText(c), err)
	}
	blocks := fresh.Blocks(b.Kind)
	if p, ok := blocks[0].Property(name); !ok || p.Value != value {
		t.Fatalf("%q became %q: .%s is %q (%v), want %q", was, mainText(c), name, p.Value, ok, value)
	}
	checkFresh(t, c, m)
	once := mainText(c)
	if err := c.SetProperty(b, property, value); err != nil || mainText(c) != once {
		t.Fatalf("setting twice (%v) made %q of %q", err, mainText(c), once)
	}
	if err := c.UnsetProperty(b, name); err != nil && mainText(c) != once {
		t.Fatalf("a failed unset (%v) made %q of %q", err, mainText(c), once)
	}
}

// FuzzArgs: a line prints as it was read, and a parameter or size that is set
// reads back while all other words stay.
func FuzzArgs(f *testing.F) {
	f.Add(`varnishd -a :80 -p a=1 -s malloc,1g`, "a", "2", "2g")
	f.Add("-F \\\n  -p 'b=x y' \"-sx=file,/a,1\" -- -p", "b", "$x", "1")
	f.Fuzz(func(t *testing.T, line, param, value, size string) {
		a, err := ParseLine(line)
		if err != nil {
			return
		}
		if a.Line() != line {
			t.Fatalf("%q printed as %q", line, a.Line())
		}
		before := a.Argv()
		if err := a.SetParam(param, value); err != nil {
			if a.Line() != line {
				t.Fatalf("a failed set made %q of %q", a.Line(), line)
			}
			return
		}
		b, err := ParseLine(a.Line())
		if err != nil {
			t.Fatalf("%q became %q: %v", line, a.Line(), err)
		}
		if !slices.Equal(a.Argv(), b.Argv()) {
			t.Fatalf("%q became %q: %q is read as %q", line, a.Line(), a.Argv(), b.Argv())
		}
		if got, ok := b.Param(param); !ok || got != value {
			if !openOption(before) {
				t.Fatalf("%q became %q: %s is %q (%v), want %q", line, a.Line(), param, got, ok, value)
			}
			return
		}
		checkWords(t, before, b.Argv())
		for _, s := range a.Storages() {
			if err := a.SetStorageSize(s.Name, size); err != nil {
				continue
			}
			back, err := ParseLine(a.Line())
			if err != nil || !slices.Equal(a.Argv(), back.Argv()) {
				t.Fatalf("%q: %v", a.Line(), errors.Join(err))
			}
		}
	})
}

// openOption reports whether the line ends in an option that lacks its value,
// which the program itself refuses; what is added becomes that value.
func openOption(argv []string) bool {
	list := ParseArgs(argv).options()
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	return strings.IndexByte(withValue, last.letter) >= 0 && last.value == ""
}

// checkWords requires that at most one word changed, or two were added.
func checkWords(t *testing.T, a, b []string) {
	t.Helper()
	i, j := 0, 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	if len(a)-i-j > 1 || len(b)-i-j > 2 {
		t.Fatalf("one set made %q of %q", b, a)
	}
}
