package vcl

import (
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/confedit/memory"
)

const site = `vcl 4.1;

import std;

probe health {
    .url = "/up";
}

# the application
backend app {
    .host = "127.0.0.1";  # here
    .port = "8080";
    .connect_timeout = 3.5s;
    .probe = { .url = "/x"; .interval = 5s; }
}
backend other { .host = "127.0.0.2"; }
backend nothing none;

acl purgers { "localhost"; "10.0.0.0"/8; }

sub vcl_recv { // first
    if (req.method == "PURGE") {
        if (client.ip !~ purgers) { return (synth(405)); }
        return (purge);
    }
}

sub vcl_deliver { set resp.http.x = {"a } " b"} + """c"""; }

sub vcl_recv {
    set req.backend_hint = app;
}
`

// TestRealVarnishAcceptsEdits makes every kind of edit and lets varnishd -C
// judge the result.
func TestRealVarnishAcceptsEdits(t *testing.T) {
	await.SkipShort(t)
	must(t, "before", accepts(t, site))
	for _, eol := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(site, "\n", eol)
		c := loadText(t, text)
		for i, err := range []error{
			c.Begin("vcl_recv", "strip-cookies", "if (req.url ~ \"\\.(css|js)$\") {\n    unset req.http.Cookie;\n}"),
			c.Begin("vcl_recv", "last", "set req.http.x-last = {\"}\n\"}; /* two\n lines */"),
			c.Begin("vcl_deliver", "mark-hits", "set resp.http.X-Hits = obj.hits;"),
			c.Begin("vcl_deliver", "note", "# only a comment"),
			c.Begin("vcl_backend_response", "grace", "set beresp.grace = 1h;"),
			c.Append("static", "backend static {\n    .host = \"127.0.0.3\";\n}"),
			c.Begin("vcl_recv", "strip-cookies", "unset req.http.Cookie;"),
		} {
			if err != nil {
				t.Fatalf("edit %d: %v\n%s", i, err, mainText(c))
			}
		}
		if err := accepts(t, mainText(c)); err != nil {
			t.Errorf("varnishd refuses the edited file: %v\n%s", err, mainText(c))
		}
		checkFresh(t, c, memory.Files{mainPath: text})
	}
}

// TestRealVarnishAgrees asks varnishd about texts that are near the edge: what
// it takes must be read here, and what this refuses it must refuse.
func TestRealVarnishAgrees(t *testing.T) {
	await.SkipShort(t)
	head := "vcl 4.1;\nbackend default none;\n"
	for _, tt := range []struct {
		text   string
		varn   bool // varnishd takes it
		parses bool
	}{
		{head + `sub vcl_recv { set req.http.a = """a"b""c"""; }`, true, true},
		{head + "sub vcl_recv { set req.http.a = {\"a\nb} \" }\"}; }", true, true},
		{head + `sub vcl_recv { set req.http.a = "a\"; }`, true, true},
		{head + "sub vcl_recv { set req.http.a = \"a\nb\"; }", false, false},
		{head + `sub vcl_recv { set req.http.a = {"a"}b"}; }`, false, false},
		{head + "/* a /* b */ sub vcl_recv { }", false, false},
		{head + "/* a ", false, false},
		{head + "sub vcl_recv { # } \\\n }", true, true},
		{head + "sub vcl_recv { // \"\n }", true, true},
		{head + "sub vcl_recv { ", false, false},
		{head + "sub vcl_recv { } }", false, false},
		{head + "sub vcl_recv { return (pass) ; };", false, false},
		{head + "import std", false, false},
		{strings.ReplaceAll(head, "\n", "\r\n") + "sub vcl_recv { # x\r\n }\r\n", true, true},
		{head + `backend b { .host = "127.0.0.1"; .host = "127.0.0.2"; }`, false, true},
		{head + `C{ int x; /* } */ }C sub vcl_recv { }`, false, true}, // inline C is off
	} {
		err := accepts(t, tt.text)
		if (err == nil) != tt.varn {
			t.Errorf("varnishd about %q: %v", tt.text, err)
		}
		m := memory.Files{mainPath: tt.text}
		if _, err := Load(mainPath, nil, m.Read, m.Glob); (err == nil) != tt.parses {
			t.Errorf("%q: %v, want read: %v", tt.text, err, tt.parses)
		}
	}
}

// TestRealVarnishCorpus edits the packages' whole files and lets varnishd judge.
func TestRealVarnishCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; the other tests ask varnishd, too")
	}
	files := corpus(t)
	judged := 0
	for name, text := range files {
		if !strings.HasPrefix(text, "vcl 4") && !strings.Contains(text, "\nvcl 4") || strings.Contains(text, "include ") {
			continue
		}
		before := accepts(t, text)
		if before != nil {
			continue // an example that lacks a backend or a module
		}
		judged++
		c := loadText(t, text)
		must(t, name, c.Begin("vcl_recv", "a", "set req.http.a = \"1\";"))
		must(t, name, c.Begin("vcl_deliver", "b", "set resp.http.b = \"1\";"))
		if err := accepts(t, mainText(c)); err != nil {
			t.Errorf("%s: varnishd refuses the edited file: %v\n%s", name, err, mainText(c))
		}
	}
	t.Logf("%d files judged", judged)
	if judged < 2 {
		t.Errorf("varnishd judged only %d files", judged)
	}
}
