package redis

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
	"kasoku/internal/confedit/textedit"
)

func TestGet(t *testing.T) {
	m := memory.Files{
		"/r.conf":   "# c\nMaxMemory 100mb\ninclude /d/*.conf\nappendonly no\nslave-read-only yes\nclient-output-buffer-limit normal 0 0 0\nclient-output-buffer-limit pubsub 1 2 3\n",
		"/d/b.conf": "maxmemory 300mb\nrequirepass \"a\\x41 \\\"b\\\"\"\n",
		"/d/a.conf": "maxmemory 200mb\nappendonly yes\nlogfile ''\n",
	}
	c, err := Load("/r.conf", m.Read, m.Glob)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, subject, want string }{
		{"maxmemory", "", "300mb"}, {"appendonly", "", "no"}, {"requirepass", "", `aA "b"`}, {"logfile", "", ""}, {"replica-read-only", "", "yes"},
		{"client-output-buffer-limit", "normal", "normal 0 0 0"}, {"client-output-buffer-limit", "PUBSUB", "pubsub 1 2 3"},
	} {
		var v Value
		var ok bool
		if tt.subject == "" {
			v, ok = c.Get(tt.name)
		} else {
			v, ok = c.Get(tt.name, tt.subject)
		}
		if got := strings.Join(v.Args, " "); !ok || got != tt.want {
			t.Errorf("%s %s is %q (%v), want %q", tt.name, tt.subject, got, ok, tt.want)
		}
	}
	if _, err := c.Set("maxmemory", "1gb"); err != nil || string(c.Changed()["/d/b.conf"]) != "maxmemory 1gb\nrequirepass \"a\\x41 \\\"b\\\"\"\n" || len(c.Changed()) != 1 {
		t.Errorf("changed %q, %v", c.Changed(), err)
	}
	for src, want := range map[string]string{"include /none\n": "file does not exist", "include x.conf\n": "write it absolute", "include /r.conf\n": "in a circle", "\na \"b\"c\n": "/r.conf:2: unbalanced quotes"} {
		m := memory.Files{"/r.conf": src}
		if _, err := Load("/r.conf", m.Read, m.Glob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", src, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct{ why, src, set, want string }{
		{"only the argument changes", "  maxmemory\t1gb \r\n", "maxmemory 2gb", "  maxmemory\t2gb \r\n"},
		{"the last wins", "a 1\na 2\n", "a 7", "a 1\na 7\n"},
		{"quotes stay", "a 'x'\n", "a it's", "a 'it\\'s'\n"},
		{"an argument that stays keeps its spelling", `client-output-buffer-limit "normal" 0 0 0`, "client-output-buffer-limit normal 0 5 0", `client-output-buffer-limit "normal" 0 5 0`},
		{"another class is another line", "client-output-buffer-limit normal 0 0 0\n", "client-output-buffer-limit pubsub 1 2 3", "client-output-buffer-limit normal 0 0 0\nclient-output-buffer-limit pubsub 1 2 3\n"},
		{"fewer and more arguments", "bind 1 2 3\n", "bind 4", "bind 4\n"},
		{"more arguments", "bind 1\n", "bind 1 ::1", "bind 1 ::1\n"},
		{"behind its commented line", "# maxmemory is a limit\n# maxmemory <bytes>\n#\nb 1\n", "maxmemory 1gb", "# maxmemory is a limit\n# maxmemory <bytes>\nmaxmemory 1gb\n#\nb 1\n"},
		{"at the end", "b 1", "maxmemory 1gb", "b 1\nmaxmemory 1gb"},
		{"an old name", "slave-read-only no\n", "replica-read-only yes", "slave-read-only yes\n"},
	} {
		c := Parse("/r", []byte(tt.src))
		args := strings.Split(tt.set, " ")
		edits, err := c.Set(args[0], args[1:]...)
		got := string(c.Files[0].Bytes())
		if err != nil || got != tt.want || textedit.Apply(tt.src, edits...) != got {
			t.Errorf("%s: got %q by %+v, %v, want %q", tt.why, got, edits, err, tt.want)
		}
	}
	for _, bad := range [][]string{{"a b", "1"}, {"#a", "1"}, {"a"}, {"save", "1 1"}, {"include", "/x"}, {"", "1"}} {
		c := Parse("/r", []byte("b 1\n"))
		if _, err := c.Set(bad[0], bad[1:]...); err == nil || len(c.Changed()) != 0 {
			t.Errorf("set %q has no error: %q", bad, c.Changed())
		}
	}
}

func TestSave(t *testing.T) {
	for _, tt := range []struct {
		src    string
		was    []string
		points []string
		want   string
	}{
		{"save 900 1\n# c\nsave 300 10\nb 1\n", []string{"900 1", "300 10"}, []string{"60 5"}, "save 60 5\n# c\nb 1\n"},
		{"save 900 1 300 10\r\n", []string{"900 1", "300 10"}, nil, "save \"\"\r\n"},
		{"save 1 1\nsave \"\"\nsave 2 2\n", []string{"2 2"}, []string{"3 3", "4 4"}, "save 3 3\nsave 4 4\n"},
		{"b 1\n", nil, []string{"3 3"}, "b 1\nsave 3 3\n"},
	} {
		c := Parse("/r", []byte(tt.src))
		if was, _ := c.Save(); !slices.Equal(was, tt.was) {
			t.Errorf("%q: points %q, want %q", tt.src, was, tt.was)
		}
		edits, err := c.SetSave(tt.points...)
		got := string(c.Files[0].Bytes())
		if now, set := c.Save(); err != nil || !set || got != tt.want || textedit.Apply(tt.src, edits...) != got || !slices.Equal(now, tt.points) {
			t.Errorf("%q became %q by %+v, %v, want %q", tt.src, got, edits, err, tt.want)
		}
		if again, err := c.SetSave(tt.points...); err != nil || len(again) != 0 {
			t.Errorf("a second time: %+v, %v", again, err)
		}
	}
	behind := Parse("/r", []byte("save 1 1\ninclude /x\nsave 2 2\nsave 3 3\n"))
	if points, _ := behind.Save(); !slices.Equal(points, []string{"3 3"}) {
		t.Errorf("behind an include: %q", points)
	}
	behind = Parse("/r", []byte("include /x\nsave 2 2\n"))
	if _, err := behind.SetSave("1 1", "2 2"); err == nil || len(behind.Changed()) != 0 {
		t.Errorf("two points behind an include have no error: %q", behind.Changed())
	}
	behind = Parse("/r", []byte("a 1\ninclude /x\n"))
	if _, err := behind.SetSave("1 1", "2 2"); err != nil || string(behind.Files[0].Bytes()) != "a 1\nsave 1 1\nsave 2 2\ninclude /x\n" {
		t.Errorf("points went to %q, %v", behind.Files[0].Bytes(), err)
	}
	if _, err := Parse("/r", nil).SetSave("x 1"); err == nil {
		t.Error("a point without a number has no error")
	}
}

// FuzzRedis: every text prints as it is; an edit changes its spans alone,
// reads back, leaves every other directive as it was, and is not made twice.
func FuzzRedis(f *testing.F) {
	f.Add("maxmemory 1gb\r\nsave \"\"\n# b 1\nclient-output-buffer-limit normal 0 0 0", "maxmemory", "2gb", "")
	f.Add("a 'x\\'y' \"\\x41\"\n", "a", "\x00\n\"", "b c")
	f.Fuzz(func(t *testing.T, src, name, one, two string) {
		c := Parse("/r", []byte(src))
		file := c.Files[0]
		if string(file.Bytes()) != src {
			t.Fatalf("%q printed as %q", src, file.Bytes())
		}
		args := []string{one, two}
		before := file.others(canonical(name), args)
		edits, err := c.Set(name, args...)
		now := string(file.Bytes())
		if textedit.Apply(src, edits...) != now {
			t.Fatalf("%q became %q, the edits %+v (%v) say otherwise", src, now, edits, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/r", []byte(now))
		p, ok := fresh.winner(canonical(name), subject(canonical(name), args))
		if !ok || !slices.Equal(p.entry().values(), args) {
			t.Fatalf("%q became %q: %s is not %q", src, now, name, args)
		}
		if after := fresh.Files[0].others(canonical(name), args); !slices.Equal(before, after) {
			t.Fatalf("%q became %q: others were %q, are %q", src, now, before, after)
		}
		if again, err := c.Set(name, args...); err != nil || len(again) != 0 {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
		if _, err := c.SetSave("60 5"); err == nil {
			if points, _ := Parse("/r", file.Bytes()).Save(); !slices.Equal(points, []string{"60 5"}) {
				t.Fatalf("%q: points %q", file.Bytes(), points)
			}
		}
	})
}
