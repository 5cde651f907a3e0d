package ini

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
	_ "kasoku/internal/rapidseed"
)

var dialects = rapid.SampledFrom([]Dialect{MySQL, PHP, FPM})

// genFile draws a file of a dialect with uneven layout.
func genFile(t *rapid.T, d Dialect) string {
	eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"})
	var b strings.Builder
	lines := rapid.SampledFrom([]string{
		"", "; c", "  ;k1 = 5", "[mysqld]", " [www] x", "[mariadb]", "[global]", "k1=1", "k-1 = 2 ", "\tk2\t=  'q' ; c", "k2 = \"a b\" ", "K3 =", "k3", "k[1]=2", "k[1] = 3",
	})
	if d == MySQL {
		b.WriteString("[mysqld]\n")
	}
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		b.WriteString(lines.Draw(t, "line") + eol.Draw(t, "eol"))
	}
	if d == PHP && rapid.Bool().Draw(t, "multi") {
		b.WriteString("m = \"1\n k1 = 9\n\"\n[PATH=/x]\nk1 = 8\n")
	}
	return b.String() + rapid.SampledFrom([]string{"", "k4 = 1", "; end"}).Draw(t, "end")
}

// TestRandomSets sets and unsets keys. After each the value reads back, a
// fresh reading of the text agrees, and every other line is as it was.
func TestRandomSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dialects.Draw(t, "dialect")
		m := memory.Files{"/etc/main": genFile(t, d)}
		c, err := Load("/etc/main", d, m.Read, m.Glob)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			section := rapid.SampledFrom([]string{"mysqld", "www", "global", "new"}).Draw(t, "section")
			key := rapid.SampledFrom([]string{"k1", "k_1", "k2", "k3", "k[1]", "k9"}).Draw(t, "key")
			value := genValue(d).Draw(t, "value")
			was := c.Files[0].text()
			unset := rapid.IntRange(0, 4).Draw(t, "unset") == 0
			if unset {
				err = c.Unset(section, key)
			} else {
				err = c.Set(section, key, value)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "cannot be written") || c.Files[0].text() != was {
					t.Fatalf("%q: %v", was, err)
				}
				continue
			}
			now := c.Files[0].text()
			m2 := memory.Files{"/etc/main": now}
			fresh, err := Load("/etc/main", d, m2.Read, m2.Glob)
			if err != nil {
				t.Fatalf("%q became %q: %v", was, now, err)
			}
			a, okA := c.Get(section, key)
			b, okB := fresh.Get(section, key)
			if a != b || okA != okB || okA == unset || !unset && a.Text != value {
				t.Fatalf("%q became %q: %s is %+v (%v), a fresh reading has %+v (%v), want %q", was, now, key, a, okA, b, okB, value)
			}
			checkOthers(t, d, was, now, unset)
		}
	})
}

// checkOthers requires that at most one entry's lines changed or were added
// (with a section and an empty line), or that entries only went away.
func checkOthers(t *rapid.T, d Dialect, was, now string, unset bool) {
	a, errA := d.lines(was)
	b, errB := d.lines(now)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	i, j := 0, 0
	for i < len(a) && i < len(b) && a[i].text == b[i].text {
		i++
	}
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j].text == b[len(b)-1-j].text {
		j++
	}
	if gone, fresh := len(a)-i-j, len(b)-i-j; !unset && (gone > 1 || fresh > 4) {
		t.Fatalf("one set changed %d lines into %d:\n%q\n%q", gone, fresh, was, now)
	}
	if unset {
		k := 0
		for _, l := range b {
			for k < len(a) && a[k].text != l.text {
				k++
			}
			if k++; k > len(a) {
				t.Fatalf("unset made a line %q:\n%q\n%q", l.text, was, now)
			}
		}
	}
}

// genValue draws values rich in what the readers treat specially.
func genValue(d Dialect) *rapid.Generator[string] {
	set := "ab1 ;#=\"'\\{}[]()&|^~!,./:%+@*-\tné"
	if d != FPM {
		set += "\n\r"
	}
	return rapid.StringOf(rapid.SampledFrom([]rune(set)))
}

func FuzzLoad(f *testing.F) {
	f.Add("[mysqld]\na = 'x' # c\n!include /y\n", 0, "mysqld", "a", "v")
	f.Add("a = \"x\ny\" ; c\r\n[PATH=/x]\nb=1", 1, "", "b", "E_ALL & ~E_NOTICE")
	f.Add("[www]\nphp_admin_value[a] = 1\ninclude=/z/*", 2, "www", "php_admin_value[a]", "\"")
	f.Fuzz(func(t *testing.T, src string, dialect int, section, key, value string) {
		d := Dialect(uint(dialect) % 3)
		m := memory.Files{"/etc/main": src}
		c, err := Load("/etc/main", d, m.Read, m.Glob)
		if err != nil {
			return
		}
		if text(c) != src {
			t.Fatalf("%q printed as %q", src, text(c))
		}
		if c.Set(section, key, value) != nil {
			if text(c) != src {
				t.Fatalf("a failed set made %q of %q", text(c), src)
			}
			return
		}
		m = memory.Files{"/etc/main": text(c)}
		fresh, err := Load("/etc/main", d, m.Read, m.Glob)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, text(c), err)
		}
		if v, ok := fresh.Get(section, key); !ok || v.Text != value {
			t.Fatalf("%q became %q: reads %q (%v), want %q", src, text(c), v.Text, ok, value)
		}
		if err := c.Unset(section, key); err != nil {
			return // it would change how other lines are read
		}
		if v, ok := c.Get(section, key); ok {
			t.Fatalf("after unset, %+v is still there: %q", v, text(c))
		}
	})
}
