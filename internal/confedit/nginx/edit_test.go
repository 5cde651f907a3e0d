package nginx

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
	_ "kasoku/internal/rapidseed"
)

// find returns the first directive of that name anywhere.
func findAny(t testing.TB, c *Config, name string) *Directive {
	t.Helper()
	var found *Directive
	c.Root.Walk(func(d *Directive) bool {
		if found == nil && d.Name == name {
			found = d
		}
		return found == nil
	})
	if found == nil {
		t.Fatalf("there is no %s", name)
	}
	return found
}

func TestEdits(t *testing.T) {
	type edit func(d *Directive) error
	args := func(a ...string) edit { return func(d *Directive) error { return d.SetArgs(a...) } }
	text := func(method func(*Directive, string) error, s string) edit {
		return func(d *Directive) error { return method(d, s) }
	}
	remove := (*Directive).Remove
	appendTo, before, after := (*Directive).Append, (*Directive).InsertBefore, (*Directive).InsertAfter
	tests := []struct {
		why, src, on string
		edit         edit
		want         string
	}{
		{"only the changed word is touched", "a  1\t2 ; # c\n", "a", args("1", "3"), "a  1\t3 ; # c\n"},
		{"quotes stay", "a 'x' \"y\";", "a", args("it's", "z"), `a 'it\'s' "z";`},
		{"an argument that stays keeps its spelling", `a "x" y;`, "a", args("x", "z"), `a "x" z;`},
		{"more arguments", "a;", "a", args("b", "c d"), `a b "c d";`},
		{"fewer arguments", "a b c;", "a", args("b"), "a b;"},
		{"a block's arguments", "location /x{ }", "location", args("~", `\.php$`), `location ~ \.php$ { }`},
		{"a word after a closing bracket", `if ($a = "x"){ }`, "if", args("($a", "=", "y", "z)"), `if ($a = "y" z){ }`},

		{"append follows the indentation", "s {\n  a;\n}\n", "s", text(appendTo, "b;"), "s {\n  a;\n  b;\n}\n"},
		{"append goes behind closing comments", "s {\n  a; # a\n  # end\n\n}\n", "s", text(appendTo, "b;"), "s {\n  a; # a\n  # end\n  b;\n\n}\n"},
		{"append to an empty block", "h {\n\ts {}\n}\n", "s", text(appendTo, "b;"), "h {\n\ts {\n\t\tb;\n\t}\n}\n"},
		{"append in a line", "s { a; }\n", "s", text(appendTo, "b 1;"), "s { a; b 1; }\n"},
		{"append of several lines opens the line", "s { a; }\n", "s", text(appendTo, "# why\nb 1;"), "s { a;\n    # why\n    b 1;\n}\n"},
		{"append of a block is laid out", "h {\n\ts {\n\t}\n}\n", "s", text(appendTo, "l / {\n  x 'a\n  b';\n\n  # c\n}"), "h {\n\ts {\n\t\tl / {\n\t\t\tx 'a\n  b';\n\n\t\t\t# c\n\t\t}\n\t}\n}\n"},
		{"CRLF", "s {\r\n  a;\r\n}\r\n", "s", text(appendTo, "b {\n    c;\n}"), "s {\r\n  a;\r\n  b {\r\n    c;\r\n  }\r\n}\r\n"},
		{"text behind the last line", "s {\n  a;\n}\n", "s", text(appendTo, "b; # why"), "s {\n  a;\n  b; # why\n}\n"},
		{"append a comment alone", "s {\n  a;\n}\n", "s", text(appendTo, "# why"), "s {\n  a;\n  # why\n}\n"},

		{"before", "s {\n  a;\n  b;\n}\n", "b", text(before, "x;"), "s {\n  a;\n  x;\n  b;\n}\n"},
		{"before goes above the comment", "s {\n  a;\n\n  # about b\n  # more\n  b;\n}\n", "b", text(before, "x;"), "s {\n  a;\n\n  x;\n  # about b\n  # more\n  b;\n}\n"},
		{"before leaves the comment of the line above", "s {\n  a; # a\n  b;\n}\n", "b", text(before, "x;"), "s {\n  a; # a\n  x;\n  b;\n}\n"},
		{"before the first line", "# top\na;\n", "a", text(before, "x;"), "x;\n# top\na;\n"},
		{"before in a line", "s { a; b; }", "b", text(before, "x;"), "s { a; x; b; }"},
		{"before in a line, with lines", "s { a; b; }", "b", text(before, "x {\n y;\n}"), "s { a;\nx {\n    y;\n}\nb; }"},

		{"after", "s {\n  a;\n  b;\n}\n", "a", text(after, "x;"), "s {\n  a;\n  x;\n  b;\n}\n"},
		{"after goes behind the line's comment", "s {\n  a; # a\n\n  b;\n}\n", "a", text(after, "x;"), "s {\n  a; # a\n  x;\n\n  b;\n}\n"},
		{"after the last", "s {\n  a; # a\n}\n", "a", text(after, "x;"), "s {\n  a; # a\n  x;\n}\n"},
		{"after at the end of file without a line end", "a; # a", "a", text(after, "x;"), "a; # a\nx;"},
		{"after in a line", "s { a; b; }", "a", text(after, "x;"), "s { a; x; b; }"},
		{"after in a dense line", "s {a;b;}", "a", text(after, "x;"), "s {a; x;b;}"},
		{"after a block", "s {\n  l {\n  }\n  m {\n  }\n}\n", "l", text(after, "x;\ny;"), "s {\n  l {\n  }\n  x;\n  y;\n  m {\n  }\n}\n"},
		{"after the last in a line, with lines", "  s { a; }\n", "a", text(after, "x; # y"), "  s { a;\n  x; # y\n  }\n"},

		{"remove the line", "s {\n  a; # a\n  b; # b\n  c;\n}\n", "b", remove, "s {\n  a; # a\n  c;\n}\n"},
		{"remove keeps the comment above", "# b\nb;\nc;\n", "b", remove, "# b\nc;\n"},
		{"remove in a line", "s { a; b; c; }", "b", remove, "s { a; c; }"},
		{"remove the first of a line", "s {\n  a; b;\n}\n", "a", remove, "s {\n  b;\n}\n"},
		{"remove the last of a line", "s {\n  a; b; # x\n}\n", "b", remove, "s {\n  a; # x\n}\n"},
		{"remove a block", "s {\n  l {\n    a;\n  }\n}\n", "l", remove, "s {\n}\n"},
		{"remove the last line, no line end", "a;\nb;", "b", remove, "a;"},
		{"remove the only one", "s { a; }", "a", remove, "s { }"},
	}
	for _, tt := range tests {
		files := memory.Files{"/etc/nginx/nginx.conf": tt.src}
		c := load(t, files)
		if err := tt.edit(findAny(t, c, tt.on)); err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if got := mainText(c); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.why, got, tt.want)
		}
		checkConsistent(t, c, files)
	}
}

func TestAppendToRoot(t *testing.T) {
	for src, want := range map[string]string{
		"":          "b;\n",
		"a;":        "a;\nb;",
		"a;\n":      "a;\nb;\n",
		"a;\n# c\n": "a;\n# c\nb;\n",
		"# c":       "# c\nb;",
		"\r\n":      "\r\nb;\r\n",
	} {
		c := loadText(t, src)
		if err := c.Root.Append("b;"); err != nil {
			t.Fatal(err)
		}
		if got := mainText(c); got != want {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
}

// TestEditGoesToTheRightFile edits through a file that is included twice: the
// text changes once, both places show it.
func TestEditGoesToTheRightFile(t *testing.T) {
	files := memory.Files{
		"/etc/nginx/nginx.conf": "http {\n  server { include php.inc; }\n  server { include php.inc; }\n}\n",
		"/etc/nginx/php.inc":    "\tfastcgi_pass x;\n",
		"/etc/nginx/more.inc":   "more;\n",
	}
	c := load(t, files)
	servers := c.Root.First("http").Find("server")
	pass := servers[0].First("fastcgi_pass")
	steps := []struct {
		do   error
		want string
	}{
		{pass.SetArgs("y"), "\tfastcgi_pass y;\n"},
		{pass.InsertAfter("fastcgi_keep_conn on;"), "\tfastcgi_pass y;\n\tfastcgi_keep_conn on;\n"},
		{servers[1].First("fastcgi_keep_conn").InsertBefore("include more.inc;"), "\tfastcgi_pass y;\n\tinclude more.inc;\n\tfastcgi_keep_conn on;\n"},
	}
	for i, s := range steps {
		if s.do != nil {
			t.Fatalf("step %d: %v", i, s.do)
		}
	}
	if got := string(c.Changed()["/etc/nginx/php.inc"]); got != steps[len(steps)-1].want || len(c.Changed()) != 1 {
		t.Fatalf("changed %q", c.Changed())
	}
	checkConsistent(t, c, files)
	if servers[0].First("fastcgi_pass").Args[0] != "y" || servers[1].First("fastcgi_pass").Args[0] != "y" || servers[1].First("more") == nil {
		t.Errorf("the second place does not show the edit")
	}
	if err := servers[0].Append("last;"); err != nil {
		t.Fatal(err)
	}
	if got := string(c.Changed()["/etc/nginx/nginx.conf"]); !strings.Contains(got, "server { include php.inc; last; }") {
		t.Errorf("append to the server went to %q", got)
	}
	if err := servers[1].First("fastcgi_pass").Remove(); err != nil {
		t.Fatal(err)
	}
	checkConsistent(t, c, files)
	if err := pass.SetArgs("z"); err == nil || !strings.Contains(err.Error(), "removed before") {
		t.Errorf("an edit of a removed directive gives %v", err)
	}
}

func TestEditErrors(t *testing.T) {
	c := loadText(t, "a;\nb { }\nc_by_lua_block { x() }\n")
	a, b, lua := c.Root.First("a"), c.Root.First("b"), c.Root.First("c_by_lua_block")
	for why, err := range map[string]error{
		"append to a plain directive": a.Append("x;"),
		"append to Lua":               lua.Append("x;"),
		"unfinished text":             b.Append("x"),
		"empty text":                  b.Append(" \n"),
		"a closing brace too many":    b.Append("x; }"),
		"arguments of the root":       c.Root.SetArgs("x"),
		"remove the root":             c.Root.Remove(),
		"insert beside the root":      c.Root.InsertAfter("x;"),
		"insert before the root":      c.Root.InsertBefore("x;"),
	} {
		if err == nil {
			t.Errorf("%s: no error", why)
		}
	}
	if err := b.Append("x { include none.conf; }"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("text with a missing include gives %v, want fs.ErrNotExist", err)
	}
	if len(c.Changed()) != 0 || len(b.Children) != 0 {
		t.Errorf("a failed edit changed %q", c.Changed())
	}
}

// genConfig draws configuration text with uneven layout.
func genConfig(t *rapid.T, depth int, lua bool) string {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\n    ", "\r\n\t", "\n\n# about\n  ", " # same line\n", "\n  #x\n\n "})
	gap := rapid.SampledFrom([]string{" ", "  ", "\n\t", " # c\n "})
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		b.WriteString(space.Draw(t, "lead") + rapid.SampledFrom([]string{"a", "b", "c", `"d"`}).Draw(t, "name"))
		for range rapid.IntRange(0, 2).Draw(t, "args") {
			b.WriteString(gap.Draw(t, "gap") + rapid.SampledFrom([]string{"1", `"x y"`, "'q'", "${v}", `\.$`, "z#"}).Draw(t, "arg"))
		}
		switch k := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case k == 0 && depth < 3:
			b.WriteString(" {" + genConfig(t, depth+1, lua) + "}")
		case k == 1 && lua:
			b.WriteString(";" + space.Draw(t, "lead") + "x_by_lua_block {\n local a = {'}'}\n}")
		default:
			b.WriteString(rapid.SampledFrom([]string{";", " ;"}).Draw(t, "end"))
		}
	}
	return b.String() + space.Draw(t, "tail")
}

// pieces lists what edits elsewhere must leave alone: each directive's own
// words as written, and each comment, in order.
func pieces(n *node, skip map[*node]bool, out *[]string) {
	comments := func(s string) {
		for _, l := range strings.Split(s, "\n") {
			if i := strings.IndexByte(l, '#'); i >= 0 {
				*out = append(*out, strings.TrimRight(l[i:], "\r"))
			}
		}
	}
	comments(n.lead)
	if !skip[n] {
		for _, w := range n.words {
			comments(w.gap)
			*out = append(*out, w.raw)
		}
		comments(n.gap)
		if n.lua != "" {
			*out = append(*out, n.lua)
		}
	}
	for _, k := range n.kids {
		pieces(k, skip, out)
	}
	comments(n.tail)
}

// TestRandomEdits makes random edits and requires after each that the text
// parses to the same tree, that all other directives and comments are as they
// were, and that untouched lines are still there in order.
func TestRandomEdits(t *testing.T) {
	inserts := []string{"new 1;", "new {\n  new 2;\n}", "# new\nnew;", "new; # new", "include /etc/nginx/inc;"}
	rapid.Check(t, func(t *rapid.T) {
		files := memory.Files{
			"/etc/nginx/nginx.conf": genConfig(t, 0, true) + rapid.SampledFrom([]string{"", "include inc;\nx { include inc; }"}).Draw(t, "include"),
			"/etc/nginx/inc":        genConfig(t, 2, true),
		}
		c, err := Load("/etc/nginx/nginx.conf", "", files.Read, files.Glob)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			all := []*Directive{c.Root}
			c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
			d := rapid.SampledFrom(all).Draw(t, "on")
			if d.File.Path == "/etc/nginx/inc" && rapid.Bool().Draw(t, "spare") {
				continue
			}
			text := rapid.SampledFrom(inserts).Draw(t, "text")
			if d.File.Path == "/etc/nginx/inc" && strings.HasPrefix(text, "include") {
				continue
			}
			was := d.File.top.text()
			var before, now []string
			pieces(d.File.top, map[*node]bool{d.node: true}, &before)
			op, err := "", error(nil)
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				op, err = "set", d.SetArgs(rapid.SliceOfN(argument(), 0, 3).Draw(t, "args")...)
			case 1:
				op, err = "append", d.Append(text)
			case 2:
				op, err = "before", d.InsertBefore(text)
			default:
				op, err = "after", d.InsertAfter(text)
			}
			if err != nil {
				if got := d.File.top.text(); got != was {
					t.Fatalf("%s failed (%v) but changed the text to %q", op, err, got)
				}
				continue
			}
			checkSame(t, c, files)
			pieces(d.File.top, map[*node]bool{d.node: true}, &now)
			if left, ok := without(now, before); !ok {
				t.Fatalf("%s at %s lost something:\n%q\nbecame\n%q\n%q is not in it", op, d.where(), was, d.File.top.text(), left)
			}
		}
	})
}

// without checks that want is a subsequence of got.
func without(got, want []string) (string, bool) {
	i := 0
	for _, w := range want {
		for i < len(got) && got[i] != w {
			i++
		}
		if i == len(got) {
			return w, false
		}
		i++
	}
	return "", true
}

// TestRemoveRestores inserts and removes: the text is as it was but for
// layout, and a whole line taken out restores it byte for byte.
func TestRemoveRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := genConfig(t, 0, true)
		files := memory.Files{"/etc/nginx/nginx.conf": src}
		c, err := Load("/etc/nginx/nginx.conf", "", files.Read, files.Glob)
		if err != nil {
			t.Fatal(err)
		}
		var all []*Directive
		c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
		if len(all) == 0 {
			return
		}
		d := rapid.SampledFrom(all).Draw(t, "on")
		_, own := d.node.indent()
		if rapid.Bool().Draw(t, "before") {
			err = d.InsertBefore("new 1;")
		} else {
			after := *d.node.after()
			own = strings.Contains(after, "\n") || d.node.atEnd()
			err = d.InsertAfter("new 1;")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, fresh := range d.Parent.Find("new") {
			if err := fresh.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		got := mainText(c)
		if own && got != src {
			t.Fatalf("insert and remove made %q of %q", got, src)
		}
		if !own && strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(src), "") {
			t.Fatalf("insert and remove made %q of %q", got, src)
		}
		checkSame(t, c, files)
	})
}

// checkSame is checkConsistent for rapid.
func checkSame(t *rapid.T, c *Config, files memory.Files) {
	now := files.With(c.Changed())
	fresh, err := Load(c.Files[0].Path, "", now.Read, now.Glob)
	if err != nil {
		t.Fatalf("the edited files do not parse: %v\n%q", err, now)
	}
	if a, b := lines(c.Root), lines(fresh.Root); a != b {
		t.Fatalf("edited tree:\n%s\nfresh reading:\n%s\n%q", a, b, now)
	}
}

// lines is a dump with places.
func lines(d *Directive) string {
	var b strings.Builder
	d.Walk(func(k *Directive) bool {
		b.WriteString(k.where())
		b.WriteString(" " + strings.Join(k.Args, "|") + " in " + k.Parent.where() + "\n")
		return true
	})
	return b.String()
}

func FuzzEdit(f *testing.F) {
	f.Add("a { b 1; }\n# c\nd;", "x;", "v w", 1, 0)
	f.Add("a {\r\n\tb;\r\n}", "x { y; } # z", "$", 2, 1)
	f.Fuzz(func(t *testing.T, src, text, arg string, at, op int) {
		files := memory.Files{"/etc/nginx/nginx.conf": src}
		c, err := Load("/etc/nginx/nginx.conf", "", files.Read, files.Glob)
		if err != nil {
			return
		}
		all := []*Directive{c.Root}
		c.Root.Walk(func(d *Directive) bool { all = append(all, d); return true })
		d := all[uint(at)%uint(len(all))]
		switch uint(op) % 5 {
		case 0:
			err = d.SetArgs(arg, "x")
		case 1:
			err = d.Append(text)
		case 2:
			err = d.InsertBefore(text)
		case 3:
			err = d.InsertAfter(text)
		default:
			err = d.Remove()
		}
		if err != nil {
			if got := mainText(c); got != src {
				t.Fatalf("a failed edit (%v) made %q of %q", err, got, src)
			}
			return
		}
		checkConsistent(t, c, files)
	})
}
