package nginx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
)

// TestIdentity parses every configuration file of the installed nginx and all
// fixtures and prints it back.
func TestIdentity(t *testing.T) {
	files := installed(t)
	if len(files) < 10 {
		t.Fatalf("found %d configuration files of nginx, want at least 10; run make deps", len(files))
	}
	fixtures, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(fixtures) < 5 {
		t.Fatalf("found %d fixtures (%v), want at least 5", len(fixtures), err)
	}
	for _, name := range append(files, fixtures...) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		top, err := parse(string(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if top.text() != string(src) {
			t.Errorf("%s: printed differently from what was read", name)
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ why, src, want string }{
		{"words and a block", "a b  c;\nd { e; }", `a ["b" "c"] block=false lua=""` + "\n" + `d [] block=true lua=""` + "\n" + ` e [] block=false lua=""` + "\n"},
		{"quotes and their escapes", `a "x \"y\" \\ \d \n" 'it\'s';`, "a [\"x \\\"y\\\" \\\\ \\\\d \\n\" \"it's\"] block=false lua=\"\"\n"},
		{"${} belongs to the word", `set $a ${b}c;`, `set ["$a" "${b}c"] block=false lua=""` + "\n"},
		{"a brace ends an unquoted regular expression", `location ~ ^/a\{2\} { }`, `location ["~" "^/a\\{2\\}"] block=true lua=""` + "\n"},
		{"# inside a word is no comment", `a b#c; # d`, `a ["b#c"] block=false lua=""` + "\n"},
		{"comments between words", "a # one\n b # two\n;", `a ["b"] block=false lua=""` + "\n"},
		{"an if condition's closing bracket behind a quote", `if ($a = "b") { }`, `if ["($a" "=" "b" ")"] block=true lua=""` + "\n"},
		{"} inside a word", `a b}c;`, `a ["b}c"] block=false lua=""` + "\n"},
		{"Lua with braces in strings and comments", "c_by_lua_block { local a = {'}'} -- }\n --[[ } ]] b = [==[ } ]] ]==] }", `c_by_lua_block [] block=true lua=" local a = {'}'} -- }\n --[[ } ]] b = [==[ } ]] ]==] "` + "\n"},
		{"a Lua block with an argument", "set_by_lua_block $x { return '{' }", `set_by_lua_block ["$x"] block=true lua=" return '{' "` + "\n"},
		{"an empty argument", `a "";`, `a [""] block=false lua=""` + "\n"},
	}
	for _, tt := range tests {
		c := loadText(t, tt.src)
		if got := dump(c.Root, 0); got != tt.want {
			t.Errorf("%s:\n%s\ngot\n%swant\n%s", tt.why, tt.src, got, tt.want)
		}
		if mainText(c) != tt.src {
			t.Errorf("%s: printed %q", tt.why, mainText(c))
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ src, want string }{
		{"a;\nb", "/etc/nginx/nginx.conf:2: the file ends inside a directive"},
		{"a {\nb;", `/etc/nginx/nginx.conf:1: block "a" is never closed`},
		{"a; }", `/etc/nginx/nginx.conf:1: unexpected "}"`},
		{"a { b }", `unexpected "}"; is a ; missing`},
		{"a 'b", "is never closed"},
		{`a "b"c;`, `unexpected 'c' after a closing quote`},
		{"a;\n\n;", `:3: unexpected ';'`},
		{"{ }", `unexpected '{'`},
		{"a_by_lua_block { {", "the Lua block opened here is never closed"},
		{strings.Repeat("a {", 300), "nested more than"},
		{"include none.conf;", "nginx.conf:1: include none.conf: read /etc/nginx/none.conf"},
		{"include nginx.conf;", "in a circle"},
	}
	for _, tt := range tests {
		m := memory.Files{"/etc/nginx/nginx.conf": tt.src}
		_, err := Load("nginx.conf", "/etc/nginx", m.Read, m.Glob)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got error %v, want one with %q", tt.src, err, tt.want)
		}
	}
	m := memory.Files{"/etc/nginx/nginx.conf": "include none.conf;"}
	if _, err := Load("/etc/nginx/nginx.conf", "", m.Read, m.Glob); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing include gives %v, want fs.ErrNotExist in it", err)
	}
}

func TestIncludes(t *testing.T) {
	files := memory.Files{
		"/etc/nginx/nginx.conf":     "http {\n  include conf.d/*.conf;\n  include none.d/*.conf;\n  last;\n}\n",
		"/etc/nginx/conf.d/b.conf":  "second;\ninclude deep.inc;\n",
		"/etc/nginx/conf.d/a.conf":  "first;\n",
		"/etc/nginx/conf.d/.c.conf": "hidden;\n",
		"/etc/nginx/deep.inc":       "deep;\n",
	}
	c := load(t, files)
	var names []string
	for _, d := range c.Root.First("http").Children {
		names = append(names, d.Name+"@"+filepath.Base(d.File.Path))
		if d.Parent != c.Root.First("http") {
			t.Errorf("%s: parent is %v", d.Name, d.Parent)
		}
	}
	want := "first@a.conf second@b.conf deep@deep.inc last@nginx.conf"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(c.Files) != 4 {
		t.Errorf("read %d files, want 4", len(c.Files))
	}
}

func TestEffective(t *testing.T) {
	c := loadText(t, "http { gzip off; a 1; server { gzip on; location / { b; } } }")
	location := c.Root.First("http").First("server").First("location")
	if d := location.Effective("gzip"); d == nil || d.Args[0] != "on" {
		t.Errorf("gzip at the location is %v, want the server's", d)
	}
	if d := location.First("b").Effective("a"); d == nil || d.Args[0] != "1" {
		t.Errorf("a inside the location is %v, want http's", d)
	}
	if d := location.Effective("none"); d != nil {
		t.Errorf("got %v for what is not written", d)
	}
	seen := 0
	c.Root.Walk(func(d *Directive) bool { seen++; return d.Name != "server" })
	if seen != 4 {
		t.Errorf("Walk saw %d directives without going into the server, want 4", seen)
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"on", "on"}, {"", `""`}, {"a b", `"a b"`}, {`\.php$`, `\.php$`}, {"a;b", `"a;b"`}, {`^/a{2}$`, `"^/a{2}$"`},
		{"${a}b", "${a}b"}, {"$a{", `"$a{"`}, {`a\\b`, `a\\\b`}, {"a\nb", `"a\nb"`}, {`say "x"`, `"say \"x\""`}, {"a#b", `"a#b"`}, {`a\`, `a\\`},
	}
	for _, tt := range tests {
		if got := Quote(tt.arg); got != tt.want {
			t.Errorf("Quote(%q) = %s, want %s", tt.arg, got, tt.want)
		}
	}
}

// argument draws text rich in what nginx's reader treats specially.
func argument() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab\\\\\"'${}; \t\r\n#)(é\x00tnr_0")))
}

func TestQuoteRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(argument(), 1, 3).Draw(t, "args")
		end := rapid.SampledFrom([]string{";", " { }", "\t;"}).Draw(t, "end")
		text := "x"
		for _, a := range args {
			text += " " + Quote(a)
		}
		top, err := parse(text + end)
		if err != nil {
			t.Fatalf("%q: %v", text+end, err)
		}
		words := top.kids[0].words[1:]
		if len(words) != len(args) || len(top.kids) != 1 {
			t.Fatalf("%q reads as %d words", text+end, len(words))
		}
		for i, w := range words {
			if w.value != args[i] {
				t.Fatalf("%q reads as %q, want %q", text+end, w.value, args[i])
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range installed(f) {
		if src, err := os.ReadFile(name); err == nil && len(src) < 8000 {
			f.Add(string(src))
		}
	}
	f.Add(`a "b\"" 'c' ${d} { e_by_lua_block { --[[ } ]] } } # f`)
	f.Fuzz(func(t *testing.T, src string) {
		top, err := parse(src)
		if err != nil {
			return
		}
		if got := top.text(); got != src {
			t.Fatalf("%q printed as %q", src, got)
		}
	})
}
