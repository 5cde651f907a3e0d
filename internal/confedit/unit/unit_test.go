package unit

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/memory"
	"kasoku/internal/confedit/textedit"
)

const (
	dropIn = "/etc/systemd/system/web.service.d/kasoku.conf"
	daemon = "[Unit]\nDescription=Web\n\n[Service]\n# why\nExecStart=/usr/bin/web \\\n  -t 4 \\\n# a comment\n  --mem=\"1 2\"\nLimitNOFILE=1024\nEnvironment=A=1\n\n[Install]\nWantedBy=x\n"
)

func TestLoad(t *testing.T) {
	m := memory.Files{
		"/lib/systemd/system/web.service":                   daemon,
		"/usr/lib/systemd/system/web.service.d/10-a.conf":   "[Service]\nLimitNOFILE=1\nEnvironment=B=1\n",
		"/etc/systemd/system/web.service.d/10-a.conf":       "[Service]\nLimitNOFILE=2\n",
		"/run/systemd/system/web.service.d/05-b.conf":       "[Service]\nLimitNOFILE=3\nNice=\n",
		"/etc/systemd/system/service.d/zz.conf":             "[Service]\nEnvironment=\nEnvironment=C=1\nEnvironment = D=1 \n",
		"/etc/systemd/system/web.service.d/not.txt":         "[Service]\nLimitNOFILE=9\n",
		"/etc/systemd/system/other.service.d/20-other.conf": "[Service]\nLimitNOFILE=9\n",
	}
	c, err := Load("web.service", m.Read, m.Glob)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := c.Get("Service", "LimitNOFILE"); !ok || v != (Value{"2", "/etc/systemd/system/web.service.d/10-a.conf", 2}) {
		t.Errorf("LimitNOFILE is %+v", v)
	}
	if v, ok := c.Get("Service", "Nice"); !ok || v.Text != "" {
		t.Errorf("Nice is %+v (%v)", v, ok)
	}
	if got := texts(c.List("Service", "Environment")); !slices.Equal(got, []string{"C=1", "D=1"}) {
		t.Errorf("Environment is %q", got)
	}
	if v, _ := c.Get("Service", "ExecStart"); v.Text != `/usr/bin/web    -t 4    --mem="1 2"` || v.Line != 6 {
		t.Errorf("ExecStart is %+v", v)
	}
	if _, err := c.Set("Service", "LimitNOFILE", "65536", dropIn); err != nil || len(c.Changed()) != 1 || string(c.Changed()[dropIn]) != "[Service]\nLimitNOFILE=65536\n" {
		t.Errorf("changed %q, %v", c.Changed(), err)
	}
	if _, err := c.Set("Service", "Environment", "E=1", dropIn); err == nil || !strings.Contains(err.Error(), "service.d/zz.conf:4 is read later") {
		t.Errorf("a set without effect: %v", err)
	}
	if _, err := Load("none.service", m.Read, m.Glob); err == nil {
		t.Error("a unit that is nowhere has no error")
	}
	for _, bad := range []string{"/etc/x.conf", "/etc/systemd/system/web.service.d/x.txt", "/lib/systemd/system/web.service.d/05-b.conf"} {
		if _, err := c.Set("Service", "Nice", "1", bad); err == nil {
			t.Errorf("a drop-in at %s has no error", bad)
		}
	}
}

func TestSetPart(t *testing.T) {
	c := Parse("/u", []byte(daemon))
	grammar := args.Grammar{Options: []args.Option{{Names: []string{"-t"}, Arg: true}, {Names: []string{"--mem"}, Arg: true}}}
	for _, kv := range [][2]string{{"-t", "16"}, {"--mem", "8 9"}, {"-t", "5"}} {
		v, _ := c.Get("Service", "ExecStart")
		e, err := args.Parse(v.Text, args.Systemd).Set(grammar, kv[0], kv[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.SetPart("Service", "ExecStart", v, e.From, e.To, e.New); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := string(c.Files[0].Bytes()), strings.NewReplacer("-t 4", "-t 5", "1 2", "8 9").Replace(daemon); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v, _ := c.Get("Service", "ExecStart")
	for _, bad := range []string{"a\nb", `\`} {
		if _, err := c.SetPart("Service", "ExecStart", v, len(v.Text), len(v.Text), bad); err == nil {
			t.Errorf("a part %q has no error: %q", bad, c.Files[0].Bytes())
		}
	}
	if _, err := c.SetPart("Service", "ExecStart", Value{Text: "x", Path: "/u", Line: 1}, 0, 1, "y"); err == nil {
		t.Error("a value that is not there has no error")
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct{ why, src, key, value, want string }{
		{"only the value", "[Service]\r\n Nice =  1 \r\n", "Nice", "5", "[Service]\r\n Nice =  5 \r\n"},
		{"the last one", "[Service]\nNice=1\nNice=2\n", "Nice", "5", "[Service]\nNice=1\nNice=5\n"},
		{"an empty one", "[Service]\nNice=\n", "Nice", "5", "[Service]\nNice=5\n"},
		{"over lines", "[Service]\nNice=1 \\\n\\\n 2\nX=1\n", "Nice", "5", "[Service]\nNice=5\nX=1\n"},
		{"at the section's end", "[Service]\nA=1 \\\n 2\n\n[Install]\nB=1\n", "Nice", "5", "[Service]\nA=1 \\\n 2\nNice=5\n\n[Install]\nB=1\n"},
		{"an empty section", "[Service]\n[Install]\n", "Nice", "5", "[Service]\nNice=5\n[Install]\n"},
		{"a new section", "[Install]\nB=1", "Nice", "5", "[Install]\nB=1\n\n[Service]\nNice=5"},
		{"nothing", "", "Nice", "5", "[Service]\nNice=5\n"},
		{"a byte order mark", textedit.BOM + "[Service]\nNice=1", "Nice", "5", textedit.BOM + "[Service]\nNice=5"},
		{"back to the default", "[Service]\nNice=1\n", "Nice", "", "[Service]\nNice=\n"},
	} {
		c := Parse("/u", []byte(tt.src))
		e, err := c.Set("Service", tt.key, tt.value, "/u")
		got := string(c.Files[0].Bytes())
		if err != nil || got != tt.want || textedit.Apply(tt.src, e) != got {
			t.Errorf("%s: got %q by %+v, %v, want %q", tt.why, got, e, err, tt.want)
		}
	}
	c := Parse("/u", []byte("[Service]\nA=1\nE=x\nE=y\nB=1\n"))
	for _, want := range []string{"[Service]\nA=1\nE=\nE=1\nE=2 3\nB=1\n", "[Service]\nA=1\nE=\nE=4\nB=1\n"} {
		values := []string{"1", "2 3"}
		if strings.Contains(want, "4") {
			values = []string{"4"}
		}
		if _, err := c.SetList("Service", "E", values, "/u"); err != nil || string(c.Files[0].Bytes()) != want {
			t.Errorf("list %q made %q, %v, want %q", values, c.Files[0].Bytes(), err, want)
		}
		if e, err := c.SetList("Service", "E", values, "/u"); err != nil || e != (textedit.Edit{}) {
			t.Errorf("a second time: %+v, %v", e, err)
		}
	}
	for _, bad := range [][3]string{{"Service", "Nice", "a\nb"}, {"Service", "Nice", `a\`}, {"Service", "#a", "1"}, {"Service", "a=b", "1"}, {"Service", "Nice", " 1"}, {"a]\n", "Nice", "1"}, {"Service", "", "1"}} {
		if _, err := c.Set(bad[0], bad[1], bad[2], "/u"); err == nil {
			t.Errorf("set %q has no error", bad)
		}
	}
}

func TestEnv(t *testing.T) {
	src := "# DAEMON_OPTS=\"-a\"\r\nA=1\nB = 'x y' z \nC=\"a\\\"b\\$c \\\n  -t 4\"\nD=a\\ b\\\nc\n;E=1\nA=2"
	f := ParseEnv("/e", []byte(src))
	for k, want := range map[string]string{"A": "2", "B": "x yz", "C": `a"b$c   -t 4`, "D": "a bc"} {
		if v, ok := f.Get(k); !ok || v.Text != want {
			t.Errorf("%s is %q (%v), want %q", k, v.Text, ok, want)
		}
	}
	if _, err := f.Set("A", "it's"); err != nil {
		t.Error(err)
	}
	if _, err := f.Set("DAEMON_OPTS", "-b 5"); err != nil {
		t.Error(err)
	}
	want := "# DAEMON_OPTS=\"-a\"\r\nDAEMON_OPTS=\"-b 5\"\r\nA=1\nB = 'x y' z \nC=\"a\\\"b\\$c \\\n  -t 4\"\nD=a\\ b\\\nc\n;E=1\nA=\"it's\""
	if got := string(f.Bytes()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, bad := range [][2]string{{"a b", "1"}, {"A", "1\n2"}, {"1", "1"}, {"A", "\x00"}} {
		if _, err := f.Set(bad[0], bad[1]); err == nil {
			t.Errorf("set %q has no error", bad)
		}
	}
}

// FuzzUnit: every text prints as it is; an edit changes its span alone, reads
// back, leaves every other assignment as it was, and is not made twice.
func FuzzUnit(f *testing.F) {
	f.Add(daemon, "Service", "LimitNOFILE", "5", 3, 6)
	f.Add(textedit.BOM+"[Service]\r\nA=1 \\\r\n; c\r\n 2", "Service", "A", "", 1, 0)
	f.Fuzz(func(t *testing.T, src, section, key, value string, from, to int) {
		c := Parse("/u", []byte(src))
		file := c.Files[0]
		if string(file.Bytes()) != src {
			t.Fatalf("%q printed as %q", src, file.Bytes())
		}
		if v, ok := c.Get(section, key); ok {
			e, err := c.SetPart(section, key, v, from, to, value)
			now := string(file.Bytes())
			if textedit.Apply(src, e) != now {
				t.Fatalf("%q became %q, the part %+v (%v) says otherwise", src, now, e, err)
			}
			if got, _ := c.Get(section, key); err == nil && got.Text != v.Text[:from]+value+v.Text[to:] {
				t.Fatalf("%q became %q: reads %q", src, now, got.Text)
			}
			src = now
		}
		other := func(e entry) bool { return e.section == section && (e.key == key || e.header) }
		before := file.others(other)
		e, err := c.Set(section, key, value, "/u")
		now := string(file.Bytes())
		if textedit.Apply(src, e) != now {
			t.Fatalf("%q became %q, the edit %+v (%v) says otherwise", src, now, e, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/u", []byte(now))
		if v, ok := fresh.Get(section, key); !ok || v.Text != value {
			t.Fatalf("%q became %q: reads %q (%v), want %q", src, now, v.Text, ok, value)
		}
		if !slices.Equal(before, fresh.Files[0].others(other)) {
			t.Fatalf("%q became %q: others were %q", src, now, before)
		}
		if again, err := c.Set(section, key, value, "/u"); err != nil || again != (textedit.Edit{}) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
		if _, err := c.SetList(section, key, []string{"1", "2"}, "/u"); err == nil && !slices.Equal(texts(c.List(section, key)), []string{"1", "2"}) {
			t.Fatalf("%q: the list reads %q", file.Bytes(), texts(c.List(section, key)))
		}
	})
}

// FuzzEnv: the same for environment files.
func FuzzEnv(f *testing.F) {
	f.Add("A=1\r\n#B=2\nB=\"x \\\n y\" 'z'\\ w", "B", "it's")
	f.Add("a", "A", "$`\\\"")
	f.Fuzz(func(t *testing.T, src, key, value string) {
		file := ParseEnv("/e", []byte(src))
		if string(file.Bytes()) != src {
			t.Fatalf("%q printed as %q", src, file.Bytes())
		}
		before := file.others(key)
		e, err := file.Set(key, value)
		now := string(file.Bytes())
		if textedit.Apply(src, e) != now {
			t.Fatalf("%q became %q, the edit %+v (%v) says otherwise", src, now, e, err)
		}
		if err != nil {
			return
		}
		fresh := ParseEnv("/e", []byte(now))
		if v, ok := fresh.Get(key); !ok || v.Text != value {
			t.Fatalf("%q became %q: reads %q (%v), want %q", src, now, v.Text, ok, value)
		}
		if !slices.Equal(before, fresh.others(key)) {
			t.Fatalf("%q became %q: others were %q", src, now, before)
		}
		if again, err := file.Set(key, value); err != nil || again != (textedit.Edit{}) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
	})
}
