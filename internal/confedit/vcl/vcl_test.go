package vcl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

func TestEdits(t *testing.T) {
	tests := []struct {
		why, was string
		edit     func(c *Config) error
		want     string
	}{
		{"statements at the beginning, behind the comment", "sub vcl_recv { # c }\n  return (pass);\n}\n", func(c *Config) error {
			return c.Begin("vcl_recv", "m", "unset req.http.a;")
		}, "sub vcl_recv { # c }\n  # kasoku:begin m\n  unset req.http.a;\n  # kasoku:end m\n  return (pass);\n}\n"},
		{"on one line, at the beginning", "sub vcl_recv { call a; }", func(c *Config) error {
			return c.Begin("vcl_recv", "m", "call b;")
		}, "sub vcl_recv {\n    # kasoku:begin m\n    call b;\n    # kasoku:end m\n call a; }"},
		{"a sub that is not there", "vcl 4.1;", func(c *Config) error {
			return c.Begin("vcl_hash", "m", "call b;")
		}, "vcl 4.1;\n\nsub vcl_hash {\n    # kasoku:begin m\n    call b;\n    # kasoku:end m\n}\n"},
		{"the same mark again", "sub a {\n  # kasoku:begin m\n  call b;\n  # kasoku:end m\n}\n", func(c *Config) error {
			return c.Begin("a", "m", "call c;\ncall d;")
		}, "sub a {\n  # kasoku:begin m\n  call c;\n  call d;\n  # kasoku:end m\n}\n"},
		{"CRLF stays CRLF", "vcl 4.1;\r\nsub a {\r\n}\r\n", func(c *Config) error {
			return c.Begin("a", "m", "call c;\ncall d;")
		}, "vcl 4.1;\r\nsub a {\r\n    # kasoku:begin m\r\n    call c;\r\n    call d;\r\n    # kasoku:end m\r\n}\r\n"},
	}
	for _, tt := range tests {
		c := loadText(t, tt.was)
		if err := tt.edit(c); err != nil || mainText(c) != tt.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", tt.why, err, mainText(c), tt.want)
		}
		once := mainText(c)
		if err := tt.edit(c); err != nil || mainText(c) != once {
			t.Errorf("%s: a second time gives %v\n%q", tt.why, err, mainText(c))
		}
		checkFresh(t, c, memory.Files{mainPath: tt.was})
	}
}

func TestRefusals(t *testing.T) {
	was := "backend n none;\nbackend a { .host = \"h\"; .probe = { .url = \"/\"; } }\nsub s { call x; }\n"
	tests := []struct {
		why  string
		edit func(c *Config) error
		want string
	}{
		{"code that closes the sub", func(c *Config) error { return c.Begin("s", "m", "} sub t {") }, "unexpected }"},
		{"code with an open brace", func(c *Config) error { return c.Begin("s", "m", "if (x) {") }, "} is missing"},
		{"code with an open comment", func(c *Config) error { return c.Begin("s", "m", "/* x") }, "never closed"},
		{"no code", func(c *Config) error { return c.Append("m", " \n") }, "empty"},
		{"a mark with spaces", func(c *Config) error { return c.Append("a b", "sub t { }") }, "the mark"},
		{"a declaration that is open", func(c *Config) error { return c.Append("m", "import std") }, "a ; or } is missing"},
	}
	for _, tt := range tests {
		c := loadText(t, was)
		if err := tt.edit(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		if mainText(c) != was || len(c.Changed()) > 0 {
			t.Errorf("%s: the text is %q", tt.why, mainText(c))
		}
	}
}

func TestIncludes(t *testing.T) {
	files := memory.Files{
		mainPath:                       "vcl 4.1;\ninclude \"a.vcl\";\ninclude \"./b.vcl\";\nsub vcl_recv { }\ninclude +glob \"d/*.vcl\";\n",
		"/usr/share/varnish/vcl/a.vcl": "backend a { .host = \"h\"; }\n",
		"/etc/varnish/b.vcl":           "sub vcl_recv { call b; }\n",
		"/etc/varnish/d/2.vcl":         "probe two { .url = \"/\"; }\n",
		"/etc/varnish/d/1.vcl":         "probe one { .url = \"/\"; }\n",
	}
	c := load(t, files)
	var got []string
	for _, b := range c.Blocks("") {
		got = append(got, b.Kind+" "+b.Name)
	}
	want := "[vcl 4.1 include a.vcl backend a include ./b.vcl sub vcl_recv sub vcl_recv include d/*.vcl probe one probe two]"
	if fmt.Sprint(got) != want {
		t.Errorf("read %v, want %s", got, want)
	}
	must(t, "begin", c.Begin("vcl_recv", "first", "call a;"))
	must(t, "append", c.Append("last", "sub z { }"))
	changed := c.Changed()
	if len(changed) != 2 || !strings.Contains(string(changed["/etc/varnish/b.vcl"]), "call a;") || !strings.Contains(string(changed[mainPath]), "sub z") {
		t.Errorf("changed %q", changed)
	}
	checkFresh(t, c, files)
	for why, m := range map[string]memory.Files{
		"is in none of": {mainPath: `include "no.vcl";`},
		"circle":        {mainPath: `include "default.vcl";`},
	} {
		if _, err := Load(mainPath, nil, m.Read, m.Glob); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", m, err, why)
		}
	}
}

func TestText(t *testing.T) {
	for q, want := range map[string]string{`""`: "", `"a"`: "a", `{"a"b"}`: `a"b`, "{\"a\nb\"}": "a\nb", `"""a"}b"""`: `a"}b`, `"\"`: `\`, `"}"`: "}"} {
		if tokens, err := lex(q); err != nil || len(tokens) != 1 {
			t.Errorf("%s: %v, %v", q, tokens, err)
		}
		if got, ok := Text(q); !ok || got != want {
			t.Errorf("%s is read as %q, want %q", q, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	line := `/usr/sbin/varnishd \
	  -j unix,user=vcache -F \
	  -a :6081 -pthread_pool_max=1000 \
	  -f /etc/varnish/default.vcl \
	  -S "/etc/varnish/secret" -p "feature=+http2" \
	  -s malloc,256m -s disk=file,/var/x y,1g `
	line = strings.Replace(line, "disk=file,/var/x y,1g", `'disk=file,/var/x y,1g'`, 1)
	a, err := ParseLine(line)
	must(t, "line", err)
	if a.Line() != line {
		t.Fatalf("printed as %q", a.Line())
	}
	must(t, "set", a.SetParam("thread_pool_max", "500"))
	must(t, "set", a.SetParam("feature", "+esi_disable_xml_check"))
	must(t, "set", a.SetParam("thread_pools", "4"))
	must(t, "size", a.SetStorageSize("s0", "512m"))
	must(t, "size", a.SetStorageSize("disk", "2g"))
	want := strings.NewReplacer("thread_pool_max=1000", "thread_pool_max=500", `"feature=+http2"`, `"feature=+esi_disable_xml_check" -p thread_pools=4`, "malloc,256m", "malloc,512m", "1g", "2g").Replace(line)
	if a.Line() != want {
		t.Errorf("got  %s\nwant %s", a.Line(), want)
	}
	again := ParseArgs(a.Argv())
	if v, _ := again.Param("thread_pool_max"); v != "500" {
		t.Errorf("read back %q", v)
	}
	if s := again.Storages(); len(s) != 2 || s[0].Size() != "512m" || s[1].Size() != "2g" || s[1].Name != "disk" || s[1].Kind != "file" {
		t.Errorf("storages %+v", s)
	}
	list := ParseArgs([]string{"varnishd", "-Fsmalloc", "-p", "a=1", "-p", "a=2", "--", "-p"})
	must(t, "set", list.SetParam("a", "3"))
	must(t, "set", list.SetParam("b", "x y"))
	must(t, "size", list.SetStorageSize("s0", "1g"))
	if got := list.Argv(); !slices.Equal(got, []string{"varnishd", "-Fsmalloc,1g", "-p", "a=1", "-p", "a=3", "-p", "b=x y", "--", "-p"}) {
		t.Errorf("got %q", got)
	}
	for _, err := range []error{list.SetStorageSize("s7", "1g"), list.SetStorageSize("s0", "1 g"), list.SetParam("a=b", "1"), list.SetParam("a", "1\n2")} {
		if err == nil {
			t.Error("a wrong edit was made")
		}
	}
	odd := ParseArgs([]string{"varnishd", "-n", "--", "-F"})
	must(t, "set", odd.SetParam("a", "1"))
	if got := odd.Argv(); !slices.Equal(got, []string{"varnishd", "-n", "--", "-F", "-p", "a=1"}) {
		t.Errorf("-- as a value: %q", got)
	}
	open, err := ParseLine(`varnishd \`)
	must(t, "line", err)
	if err := open.SetParam("a", "1"); err == nil || open.Line() != `varnishd \` {
		t.Errorf("a backslash at the end took up what follows: %q, %v", open.Line(), err)
	}
	if _, err := ParseLine(`a "b`); err == nil {
		t.Error("an open quote was taken")
	}
}
