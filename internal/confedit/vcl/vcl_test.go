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
		{"a property keeps what is around it", "backend a {\n\t.port = \"80\" ; # p\n}", func(c *Config) error {
			return c.SetProperty(c.Block("backend", "a"), "port", `"81"`)
		}, "backend a {\n\t.port = \"81\" ; # p\n}"},
		{"a new property goes behind the last, in its indentation", "backend a {\n  .port = \"80\"; # p\n}", func(c *Config) error {
			return c.SetProperty(c.Block("backend", "a"), "max_connections", "5")
		}, "backend a {\n  .port = \"80\";\n  .max_connections = 5; # p\n}"},
		{"on one line", `backend a { .host = "h"; }`, func(c *Config) error {
			return c.SetProperty(c.Block("backend", "a"), "port", `"81"`)
		}, `backend a { .host = "h"; .port = "81"; }`},
		{"into an empty block", "backend a {\n}", func(c *Config) error {
			return c.SetProperty(c.Block("backend", "a"), "port", `"81"`)
		}, "backend a {\n    .port = \"81\";\n}"},
		{"an inner probe's property is not the backend's", "backend a { .probe = { .timeout = 1s; } .host = \"h\"; }", func(c *Config) error {
			return c.SetProperty(c.Block("backend", "a"), "timeout", "2s")
		}, "backend a { .probe = { .timeout = 1s; } .host = \"h\"; .timeout = 2s; }"},
		{"a property with its line goes", "backend a {\n  .host = \"h\";\n  .port = \"80\";\n}", func(c *Config) error {
			return c.UnsetProperty(c.Block("backend", "a"), "port")
		}, "backend a {\n  .host = \"h\";\n}"},
		{"statements at the beginning, behind the comment", "sub vcl_recv { # c }\n  return (pass);\n}\n", func(c *Config) error {
			return c.Begin("vcl_recv", "m", "unset req.http.a;")
		}, "sub vcl_recv { # c }\n  # kasoku:begin m\n  unset req.http.a;\n  # kasoku:end m\n  return (pass);\n}\n"},
		{"statements at the end", "sub vcl_recv {\n  call a;\n  /* } */\n}\n", func(c *Config) error {
			return c.End("vcl_recv", "m", "unset req.http.a;")
		}, "sub vcl_recv {\n  call a;\n  /* } */\n  # kasoku:begin m\n  unset req.http.a;\n  # kasoku:end m\n}\n"},
		{"on one line, at the beginning", "sub vcl_recv { call a; }", func(c *Config) error {
			return c.Begin("vcl_recv", "m", "call b;")
		}, "sub vcl_recv {\n    # kasoku:begin m\n    call b;\n    # kasoku:end m\n call a; }"},
		{"on one line, at the end", "sub vcl_recv { call a; }", func(c *Config) error {
			return c.End("vcl_recv", "m", "call b;")
		}, "sub vcl_recv { call a; \n    # kasoku:begin m\n    call b;\n    # kasoku:end m\n}"},
		{"a sub that is not there", "vcl 4.1;", func(c *Config) error {
			return c.Begin("vcl_hash", "m", "call b;")
		}, "vcl 4.1;\n\nsub vcl_hash {\n    # kasoku:begin m\n    call b;\n    # kasoku:end m\n}\n"},
		{"the same mark again", "sub a {\n  # kasoku:begin m\n  call b;\n  # kasoku:end m\n}\n", func(c *Config) error {
			return c.End("a", "m", "call c;\ncall d;")
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
		{"a value that ends the property", func(c *Config) error { return c.SetProperty(c.Block("backend", "a"), "port", `"1"; .x = 2`) }, "no plain value"},
		{"a value with an open string", func(c *Config) error { return c.SetProperty(c.Block("backend", "a"), "port", `"1`) }, "not closed"},
		{"an empty value", func(c *Config) error { return c.SetProperty(c.Block("backend", "a"), "port", " ") }, "no plain value"},
		{"a name that is none", func(c *Config) error { return c.SetProperty(c.Block("backend", "a"), "a b", "1") }, "no property's name"},
		{"a backend without a block", func(c *Config) error { return c.SetProperty(c.Block("backend", "n"), "port", "1") }, "no block"},
		{"an inner probe", func(c *Config) error { return c.SetProperty(c.Block("backend", "a"), "probe", "p") }, "is a block"},
		{"a sub has no properties", func(c *Config) error { return c.SetProperty(c.Block("sub", "s"), "port", "1") }, "no properties"},
		{"code that closes the sub", func(c *Config) error { return c.Begin("s", "m", "} sub t {") }, "unexpected }"},
		{"code with an open brace", func(c *Config) error { return c.End("s", "m", "if (x) {") }, "} is missing"},
		{"code with an open comment", func(c *Config) error { return c.End("s", "m", "/* x") }, "never closed"},
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
	must(t, "end", c.End("vcl_recv", "last", "call z;"))
	changed := c.Changed()
	if len(changed) != 2 || !strings.Contains(string(changed["/etc/varnish/b.vcl"]), "call a;") || !strings.Contains(string(changed[mainPath]), "call z;") {
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

func TestQuoteRoundTrip(t *testing.T) {
	for _, s := range []string{"", "a", `a"b`, "a\nb", `a"}b`, `a"`, `""`, `\`, `}`} {
		q, err := Quote(s)
		if err != nil {
			t.Fatal(err)
		}
		if tokens, err := lex(q); err != nil || len(tokens) != 1 {
			t.Errorf("%q as %q: %v, %v", s, q, tokens, err)
		}
		if got, ok := Text(q); !ok || got != s {
			t.Errorf("%q as %q is read as %q", s, q, got)
		}
	}
	if q, err := Quote("\"}\n\"\"\""); err == nil {
		t.Errorf("what no string can hold became %q", q)
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
	if v, _ := again.Param("thread_pool_max"); v != "500" || fmt.Sprint(again.Params()) != "[thread_pool_max feature thread_pools]" {
		t.Errorf("read back %q, %v", v, again.Params())
	}
	if s := again.Storages(); len(s) != 2 || s[0].Size() != "512m" || s[1].Size() != "2g" || s[1].Name != "disk" || s[1].Kind != "file" {
		t.Errorf("storages %+v", s)
	}
	a.UnsetParam("thread_pools")
	if strings.Contains(a.Line(), "thread_pools") {
		t.Errorf("still set in %s", a.Line())
	}
	list := ParseArgs([]string{"varnishd", "-Fsmalloc", "-p", "a=1", "-p", "a=2", "--", "-p"})
	must(t, "set", list.SetParam("a", "3"))
	must(t, "set", list.SetParam("b", "x y"))
	must(t, "size", list.SetStorageSize("s0", "1g"))
	if got := list.Argv(); !slices.Equal(got, []string{"varnishd", "-Fsmalloc,1g", "-p", "a=1", "-p", "a=3", "-p", "b=x y", "--", "-p"}) {
		t.Errorf("got %q", got)
	}
	list.UnsetParam("a")
	if got := list.Argv(); !slices.Equal(got, []string{"varnishd", "-Fsmalloc,1g", "-p", "b=x y", "--", "-p"}) {
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
