package apache

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

// FuzzLoad: whatever can be read prints as it was read; an edit that is made
// changes its own lines only and is what a fresh reading gives; doing it twice
// changes nothing more; what is refused changes nothing.
func FuzzLoad(f *testing.F) {
	f.Add("ServerName a\n<IfModule mod_x.c>\n  KeepAlive On # c\n</IfModule>\n# x", 1, "b c", "Timeout 5")
	f.Add("Define A \"b\\\"c\" \\\r\n d\r\nUse M\r\n<Directory />\r\n</Directory>", 2, `a\`, "<If x>\nFoo\n</If>")
	f.Add("<Macro M $x>\nListen $x\n</Macro>\nUse M 80\nInclude b\nTimeOut ${A}", 4, "$x", "# c")
	f.Fuzz(func(t *testing.T, src string, n int, arg, text string) {
		m := memory.Files{mainPath: src, "/etc/apache2/b": "Foo 1\nServerName b"}
		c, err := Load(mainPath, Options{}, m.Read, m.Glob)
		if err != nil {
			return
		}
		if mainText(c) != src {
			t.Fatalf("%q printed as %q", src, mainText(c))
		}
		var all []*Directive
		c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
		if len(all) == 0 || len(all) > 100 {
			return
		}
		d := all[int(uint(n)%uint(len(all)))]
		fuzzArgs(t, c, d, append(slices.Clone(d.Args), arg), m)
		if len(d.Args) > 0 && !d.gone {
			fuzzArgs(t, c, d, append([]string{arg}, d.Args[1:]...), m)
		}
		edits := []func(string) error{d.InsertBefore, d.InsertAfter, d.Append, c.Root.Append}
		fuzzInsert(t, c, edits[uint(n)%4], text, m)
		before := everything(c)
		if err := d.Remove(); err != nil {
			if everything(c) != before {
				t.Fatalf("a failed removal (%v) made %q of %q", err, everything(c), before)
			}
			return
		}
		checkFresh(t, c, m)
	})
}

func everything(c *Config) string {
	var b strings.Builder
	for _, name := range []string{mainPath, "/etc/apache2/b"} {
		if f := c.byID[name]; f != nil {
			b.WriteString(f.text() + "\x00")
		}
	}
	return b.String()
}

func fuzzArgs(t *testing.T, c *Config, d *Directive, args []string, m memory.Files) {
	t.Helper()
	before := everything(c)
	lines := 0
	if d.line != nil { // a file has none
		lines = 1 + strings.Count(strings.TrimSuffix(d.line.text, "\n"), "\n")
	}
	if err := d.SetArgs(args...); err != nil {
		if everything(c) != before {
			t.Fatalf("a failed set (%v) made %q of %q", err, everything(c), before)
		}
		return
	}
	after := everything(c)
	if !slices.Equal(d.Args, args) && !d.means(args) {
		t.Fatalf("%q became %q: arguments %q, want %q", before, after, d.Args, args)
	}
	checkSpan(t, before, after, lines)
	checkFresh(t, c, m)
	if err := d.SetArgs(args...); err != nil || everything(c) != after {
		t.Fatalf("setting %q twice (%v) made %q of %q", args, err, everything(c), after)
	}
}

func fuzzInsert(t *testing.T, c *Config, edit func(string) error, text string, m memory.Files) {
	t.Helper()
	before := everything(c)
	if err := edit(text); err != nil {
		if everything(c) != before {
			t.Fatalf("a failed insertion (%v) made %q of %q", err, everything(c), before)
		}
		return
	}
	after := everything(c)
	i := 0
	for i < len(before) && before[i] == after[i] {
		i++
	}
	if !strings.HasSuffix(after, before[i:]) {
		t.Fatalf("an insertion made %q of %q", after, before)
	}
	checkFresh(t, c, m)
}
