package haproxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
	"kasoku/internal/confedit/textedit"
)

func TestWords(t *testing.T) {
	for src, want := range map[string]string{
		"  bind :80 # x":           `["bind" ":80"]`,
		"global#this":              `["global"]`,
		"\t \r\n":                  `[]`,
		`log-format "a b"' c'\ d`:  `["log-format" "a b c d"]`,
		`a\#b \\ \" \' \x41\t \q`:  `["a#b" "\\" "\"" "'" "A\t" "\\q"]`,
		`a '\x41"' "it's" ""`:      `["a" "\\x41\"" "it's" ""]`,
		"mode http\rmode tcp":      `["mode" "http"]`,
		"\r mode\vhttp\r":          `["mode" "http"]`,
		`use "$A" "${B}x" '$C' $D`: `["use" "$A"* "${B}x"* "$C" "$D"]`,
		`x "\$A"`:                  `["x" "$A"]`,
		`tail\`:                    `["tail\\"]`,
	} {
		all, err := words(src, 0, len(strings.TrimSuffix(src, "\n")))
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		got := []string{}
		for _, w := range all {
			s := fmt.Sprintf("%q", w.Text)
			if w.Variable {
				s += "*"
			}
			got = append(got, s)
		}
		if s := "[" + strings.Join(got, " ") + "]"; s != want {
			t.Errorf("%q: %s, want %s", src, s, want)
		}
	}
	for _, src := range []string{`a "b`, `a 'b`, `a \x4`, `a \xzz`, "a \x00", "a \"b\r\""} {
		if all, err := words(src, 0, len(src)); err == nil {
			t.Errorf("%q: %v", src, all)
		}
	}
}

const odd = "# the load balancer\r\nglobal\r\n\tlog /dev/log local0 # syslog\r\n\r\ndefaults  base\r\n\tmode\thttp\r\n" +
	"defaults tcp from base\r\nmode tcp\r\nfrontend \"web\" from base\r\n  bind :80\r\n  .if defined(X)\r\n  option  tcplog # why\r\n  .else\r\n  mode tcp\r\n  .endif\r\nlisten x\r\n\tbind :81"

func TestSections(t *testing.T) {
	c := Parse("/x", []byte(odd))
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	var got []string
	for _, s := range c.Sections() {
		from := "-"
		if d := c.Defaults(s); d != nil {
			from = d.Name
		}
		got = append(got, fmt.Sprintf("%s %q %d %s", s.Kind, s.Name, len(s.Statements), from))
	}
	want := []string{`global "" 1 -`, `defaults "base" 1 -`, `defaults "tcp" 1 base`, `frontend "web" 3 base`, `listen "x" 1 tcp`}
	if !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
	web := c.Sections("frontend")[0]
	if a, b := web.Find("option", "tcplog")[0].Block, web.Find("mode")[0].Block; a == 0 || b == 0 || a == b || web.Find("bind")[0].Block != 0 {
		t.Errorf("branches %d and %d", a, b)
	}
	for src, why := range map[string]string{
		"mode http\n":                  "before any section",
		"global\n.endif\n":             ".endif without .if",
		"global\n.if 1\n":              "no .endif",
		"global\n log \"x\n":           "/x:2: a quote",
		"global\n[scope]\nfrontend a":  "scope",
		textedit.BOM + "global\n":      "before any section",
		"global\n.if 1\n.else\n.elif ": "no .endif",
	} {
		c := Parse("/x", []byte(src))
		if c.Err() == nil || !strings.Contains(c.Err().Error(), why) || string(c.Files[0].Bytes()) != src {
			t.Errorf("%q: %v", src, c.Err())
		}
	}
}

func TestFilesInTheirOrder(t *testing.T) {
	files := memory.Files{"/a": "defaults\n mode http\n.if 1\n.endif\n", "/b": "frontend a\n.if 1\n mode tcp\n.endif\n"}
	c, err := Load([]string{"/a", "/b"}, files.Read)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Sections("frontend")[0]
	if d := c.Defaults(a); d == nil || d.Head.File.Path != "/a" || a.Statements[0].Block != 2 {
		t.Errorf("defaults %+v, statements %+v", d, a.Statements[0])
	}
	if _, err := c.Apply(a.Head.Follow("option", "httplog")); err != nil {
		t.Fatal(err)
	}
	if got := c.Changed(); len(got) != 1 || string(got["/b"]) != "frontend a\n    option httplog\n.if 1\n mode tcp\n.endif\n" {
		t.Errorf("changed %q", got)
	}
	if _, err := Load([]string{"/none"}, files.Read); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Error(err)
	}
	// A section ends with its file.
	files["/b"] = "mode http\n"
	if _, err := Load([]string{"/a", "/b"}, files.Read); err == nil {
		t.Error("a statement belongs to a section of the file before")
	}
}

func TestApply(t *testing.T) {
	c := Parse("/x", []byte(odd))
	web, x := c.Sections("frontend")[0], c.Sections("listen")[0]
	edits, err := c.Apply(web.Find("option", "tcplog")[0].Replace("option", "httplog"), x.Find("bind")[0].Follow("log-format", "%ci 'a b'"), x.Head.Follow("mode", "http"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(odd, "option  tcplog # why", "option httplog # why", 1)
	want = strings.Replace(want, "listen x\r\n\tbind :81", "listen x\r\n\tmode http\r\n\tbind :81\r\n\tlog-format \"%ci 'a b'\"", 1)
	if got := string(c.Changed()["/x"]); got != want || textedit.Apply(odd, edits...) != want {
		t.Errorf("became\n%s\nwant\n%s", got, want)
	}
	if _, err := c.Apply(x.Head.Follow("a")); err == nil {
		t.Error("a statement of the text before was taken")
	}
	x = c.Sections("listen")[0]
	for _, bad := range [][]string{nil, {"frontend", "y"}, {".if", "1"}, {".endif"}, {"[x]"}, {"a\x00b"}} {
		if e, err := c.Apply(x.Find("bind")[0].Follow(bad...)); err == nil {
			t.Errorf("%q: %+v", bad, e)
		}
		if got := string(c.Changed()["/x"]); got != want {
			t.Fatalf("%q is there: %s", bad, got)
		}
	}
}

// FuzzHAProxy: every text prints as it is; edits read back, and every other
// statement is as it was.
func FuzzHAProxy(f *testing.F) {
	f.Add(odd, 2, "option httplog", true)
	f.Add("global\n.if 1\n log \"$X\" # c\n.endif", 1, "a 'b c", false)
	f.Fuzz(func(t *testing.T, src string, at int, line string, follow bool) {
		c := Parse("/x", []byte(src))
		if string(c.Files[0].Bytes()) != src {
			t.Fatalf("%q printed as %q", src, c.Files[0].Bytes())
		}
		var all []*Statement
		for _, s := range c.Sections() {
			all = append(append(all, s.Head), s.Statements...)
		}
		if len(all) == 0 || c.Err() != nil {
			return
		}
		i := int(uint(at) % uint(len(all)))
		words := strings.Split(line, " ")
		change := all[i].Replace(words...)
		if follow {
			change = all[i].Follow(words...)
		}
		was := c.Files[0].read()
		edits, err := c.Apply(change)
		now := string(c.Files[0].Bytes())
		if textedit.Apply(src, edits...) != now {
			t.Fatalf("%q became %q, the edits %+v (%v) say otherwise", src, now, edits, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/x", []byte(now))
		got := fresh.Files[0].read()
		n := len(was)
		if follow {
			n++
		}
		if fresh.Err() != nil || len(got) != n {
			t.Fatalf("%q became %q: %v, %d statements, want %d", src, now, fresh.Err(), len(got), n)
		}
		found := false
		for _, s := range fresh.Files[0].statements {
			var texts []string
			for _, w := range s.Words {
				texts = append(texts, w.Text)
			}
			found = found || slices.Equal(texts, words)
		}
		if !found {
			t.Fatalf("%q became %q, where %q is not", src, now, words)
		}
	})
}
