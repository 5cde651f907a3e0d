package vcl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// FuzzLoad: whatever can be read prints as it was read; code that can be added
// is found again, in a fresh reading too; and what is refused changes nothing.
func FuzzLoad(f *testing.F) {
	f.Add("vcl 4.1;\nbackend a { .host = \"h\"; # c\n}\nsub s { call x; }", "call y;")
	f.Add("probe p {\r\n .url = {\"a\n\"};\r\n}\r\nsub s {\r\n}", "# x")
	f.Add("backend a{.x={.y=1;};.z=2}C{ } }C /* } */ sub s{//}\n}", "if(x){\"\"\"a\"\"\";}")
	f.Fuzz(func(t *testing.T, src, code string) {
		m := memory.Files{mainPath: src}
		c, err := Load(mainPath, nil, m.Read, m.Glob)
		if err != nil {
			return
		}
		if parts(c.Files[0]) != src {
			t.Fatalf("%q printed as %q", src, parts(c.Files[0]))
		}
		had, _ := c.Marked("m")
		if err := c.Begin("s", "m", code); err != nil {
			if mainText(c) != src {
				t.Fatalf("a failed insertion (%v) made %q of %q", err, mainText(c), src)
			}
			return
		}
		got, ok := c.Marked("m")
		if !ok {
			t.Fatalf("%q became %q: the mark is not found", src, mainText(c))
		}
		if had.Mark == "" { // the text around is the text before
			if outer := outside(mainText(c), got); !strings.Contains(squeezed(outer), squeezed(src)) {
				t.Fatalf("%q became %q", src, mainText(c))
			}
		}
		checkFresh(t, c, m)
	})
}

func outside(text string, m Marked) string { return text[:m.from] + text[m.to:] }

func squeezed(s string) string {
	s = strings.Join(strings.Fields(s), "")
	return strings.TrimSuffix(s, "subs{}") // Begin adds the sub that is not there
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
