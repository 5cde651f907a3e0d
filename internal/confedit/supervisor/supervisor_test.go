package supervisor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/memory"
	"kasoku/internal/confedit/textedit"
	_ "kasoku/internal/rapidseed"
)

func TestLoad(t *testing.T) {
	m := memory.Files{
		"/s/supervisord.conf": "[supervisord]\nuser=a ; c\n[include]\nfiles = %(here)s/conf.d/*.conf\n  more/%(ENV_X)s.ini none*\n[program:a]\ncommand=/bin/a\n",
		"/s/conf.d/2.conf":    "[program:a]\nNumProcs: 2\n[include]\nfiles=/other\n",
		"/s/conf.d/1.conf":    "[program:a]\nnumprocs=1\nenvironment=\n  A=\"1\", ; one\n\n  B=\"%(ENV_HOME)s\"\n",
		"/s/more/x.ini":       "[DEFAULT]\nautostart=no\n",
		"/other":              "[program:a]\ncommand=/bin/other\n",
	}
	c, err := Load("/s/supervisord.conf", map[string]string{"X": "x"}, m.Read, m.Glob)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		section, key string
		want         Value
	}{
		{"supervisord", "user", Value{"a", "/s/supervisord.conf", 2}},
		{"program:a", "command", Value{"/bin/a", "/s/supervisord.conf", 7}},
		{"program:a", "numprocs", Value{"2", "/s/conf.d/2.conf", 2}},
		{"program:a", "environment", Value{"\nA=\"1\",\n\nB=\"%(ENV_HOME)s\"", "/s/conf.d/1.conf", 3}},
		{"program:a", "autostart", Value{"no", "/s/more/x.ini", 2}},
	} {
		if v, ok := c.Get(tt.section, tt.key); !ok || v != tt.want {
			t.Errorf("%s of %s is %+v (%v), want %+v", tt.key, tt.section, v, ok, tt.want)
		}
	}
	e, err := c.Set("program:a", "environment", "\nA=\"1\",\n\nB=\"2\"")
	if want := strings.Replace(m["/s/conf.d/1.conf"], "%(ENV_HOME)s", "2", 1); err != nil || string(c.Changed()["/s/conf.d/1.conf"]) != want || e.New != "2" {
		t.Errorf("changed %q by %+v, %v", c.Changed(), e, err)
	}
	for src, want := range map[string]string{"a=1\n": "/m:1: an option stands before any [section]", "[a]\nb\n": "/m:2: this is no option", "[include]\nfiles=%(ENV_Q)s\n": "there is no value for ENV_Q"} {
		m := memory.Files{"/m": src}
		if _, err := Load("/m", nil, m.Read, m.Glob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", src, err, want)
		}
	}
	if s, err := Expand("100%% %(here)s", map[string]string{"here": "/x"}); err != nil || s != "100% /x" {
		t.Errorf("expanded to %q, %v", s, err)
	}
	if _, err := Expand("100%", nil); err == nil {
		t.Error("a lone percent sign has no error")
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct{ why, src, section, key, value, want string }{
		{"only the value", "[p]\n A\t= 1  ; c\r\nb=2", "p", "a", "7", "[p]\n A\t= 7  ; c\r\nb=2"},
		{"the last wins", "[p]\na=1\n[q]\n[p]\na=2\n", "p", "a", "7", "[p]\na=1\n[q]\n[p]\na=7\n"},
		{"an empty value", "[p]\na=\nb=2\n", "p", "a", "7", "[p]\na=7\nb=2\n"},
		{"spaced like next to it", "[p]\n  a  =  1\n; end\n[q]\n", "p", "b", "7", "[p]\n  a  =  1\n  b  =  7\n; end\n[q]\n"},
		{"behind a value over lines", "[p]\na=1\n  2\n\n[q]\n", "p", "b", "7", "[p]\na=1\n  2\nb=7\n\n[q]\n"},
		{"a new section", "[p]\na=1", "q", "b", "7", "[p]\na=1\n\n[q]\nb=7"},
		{"one line of several", "[p]\ncommand=x ; why\n  -t 5 ; threads\n  -v\n", "p", "command", "x\n-t 8\n-v", "[p]\ncommand=x ; why\n  -t 8 ; threads\n  -v\n"},
		{"more lines", "[p]\ncommand=x\n  -v\n", "p", "command", "x\n-t\n-v", "[p]\ncommand=x\n  -t\n    -v\n"},
		{"not [DEFAULT]'s", "[DEFAULT]\na=1\n[p]\nb=1\n", "p", "a", "7", "[DEFAULT]\na=1\n[p]\nb=1\na=7\n"},
	} {
		c := Parse("/s", []byte(tt.src))
		e, err := c.Set(tt.section, tt.key, tt.value)
		got := string(c.Files[0].Bytes())
		if err != nil || got != tt.want || textedit.Apply(tt.src, e) != got {
			t.Errorf("%s: got %q by %+v, %v, want %q", tt.why, got, e, err, tt.want)
		}
	}
	for _, bad := range [][3]string{{"p", "a", "x ; y"}, {"p", "a=b", "1"}, {"p", " a", "1"}, {"", "a", "1"}, {"p", "a", " x"}, {"p", "", "x"}} {
		c := Parse("/s", []byte("[p]\na=1\n"))
		if _, err := c.Set(bad[0], bad[1], bad[2]); err == nil || len(c.Changed()) != 0 {
			t.Errorf("set %q has no error: %q", bad, c.Changed())
		}
	}
}

// python reads files with supervisor's own parser: for each, section → option
// → value, null where it refuses.
const python = `
import sys, json, glob
from supervisor.options import UnhosedConfigParser
out = {}
for name in glob.glob(sys.argv[1] + "/*"):
    p = UnhosedConfigParser()
    try:
        p.read(name)
        out[name] = {s: dict(p.items(s)) for s in p.sections()}
    except Exception as e:
        out[name] = None
print(json.dumps(out))
`

// TestSupervisorReadsTheSame compares supervisor's own parser with this one on
// random files, and on what Set makes of them.
func TestSupervisorReadsTheSame(t *testing.T) {
	lines := rapid.SampledFrom([]string{"[p]", " [q] x", "[p:a]]", "[DEFAULT]", "a=1", "a: 2 ; c", "A = x;y #z", "  go on", "\tgo = on ; c", "", " ", "; c", "  # c", "b=", "b =;x", "c = d=e : f", "=x", "word", "[]", "[p"})
	gen := rapid.SliceOfN(lines, 0, 9)
	dir := t.TempDir()
	files := map[string]*Config{}
	keep := func(src []byte) {
		name := filepath.Join(dir, strconv.Itoa(len(files)))
		files[name] = Parse(name, src)
		if err := os.WriteFile(name, src, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sets := 0
	for i := range 300 {
		src := "[p]\n" + strings.Join(gen.Example(i), "\n")
		keep([]byte(src))
		c := Parse("/s", []byte(src))
		if _, err := c.Set("p", "a", "new %(here)s\n\nvalue"); err == nil && c.Err() == nil {
			keep(c.Files[0].Bytes())
			sets++
		}
	}
	if sets < 50 {
		t.Errorf("only %d sets were compared", sets)
	}
	out, err := exec.Command("/usr/bin/python3", "-c", python, dir).Output()
	if err != nil {
		t.Fatalf("supervisor's parser does not run; run make deps-test: %v", err)
	}
	var want map[string]map[string]map[string]string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(files) {
		t.Fatal(len(want), err)
	}
	for name, c := range files {
		compare(t, c, want[name])
	}
}

func compare(t *testing.T, c *Config, want map[string]map[string]string) {
	t.Helper()
	src := c.Files[0].Bytes()
	if (want == nil) != (c.Err() != nil) {
		t.Errorf("%q: supervisor makes %q of it, here: %v", src, want, c.Err())
	}
	for s, options := range want {
		for k, v := range options {
			if got, ok := c.Get(s, k); !ok || got.Text != v {
				t.Errorf("%q: %s of %s is %q to supervisor, %q (%v) here", src, k, s, v, got.Text, ok)
			}
		}
		for _, k := range c.Keys(s) {
			if _, ok := options[k]; !ok {
				t.Errorf("%q: supervisor finds no %s in %s", src, k, s)
			}
		}
	}
}

// TestSupervisordTakesEdits edits Debian's own configuration and has
// supervisord read it and the program that was added.
func TestSupervisordTakesEdits(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile("/etc/supervisor/supervisord.conf")
	if err != nil {
		t.Fatalf("supervisor is not installed; run make deps-test: %v", err)
	}
	c := Parse("/s", src)
	for _, set := range [][3]string{
		{"unix_http_server", "file", dir + "/s"}, {"supervisorctl", "serverurl", "unix://" + dir + "/s"}, {"supervisord", "logfile", dir + "/log"},
		{"supervisord", "pidfile", dir + "/pid"}, {"supervisord", "childlogdir", dir}, {"supervisord", "minfds", "64"}, {"include", "files", dir + "/none*.conf"},
		{"program:worker", "command", "/bin/sleep\n%(process_num)d00"}, {"program:worker", "numprocs", "3"}, {"program:worker", "process_name", "%(program_name)s-%(process_num)d"},
		{"program:worker", "environment", "A=\"x;y\",\nB=\"50%%\""},
	} {
		if _, err := c.Set(set[0], set[1], set[2]); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "s.conf")
	if err := os.WriteFile(name, c.Files[0].Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	script := `
import sys
from supervisor.options import ServerOptions
o = ServerOptions()
o.realize(["-n", "-c", sys.argv[1]])
for g in o.process_group_configs:
    for p in g.process_configs:
        print(o.minfds, p.name, " ".join(p.command.split()), p.environment["A"], p.environment["B"])
`
	out, err := exec.Command("/usr/bin/python3", "-c", script, name).CombinedOutput()
	if want := "64 worker-0 /bin/sleep 000 x;y 50%\n64 worker-1 /bin/sleep 100 x;y 50%\n64 worker-2 /bin/sleep 200 x;y 50%\n"; err != nil || string(out) != want {
		t.Errorf("supervisord reads %q (%v), want %q\n%s", out, err, want, c.Files[0].Bytes())
	}
}

// FuzzSupervisor: every text prints as it is; an edit changes its span alone,
// reads back, leaves every other option as it was, and is not made twice.
func FuzzSupervisor(f *testing.F) {
	f.Add("[p]\r\na = 1 ; c\r\n  2\r\n\r\n[q]\nb=1", "p", "a", "1\n3")
	f.Add("; c\n[DEFAULT]\na=1\n[p]\n", "p", "a", "x")
	f.Fuzz(func(t *testing.T, src, section, key, value string) {
		c := Parse("/s", []byte(src))
		file := c.Files[0]
		if string(file.Bytes()) != src {
			t.Fatalf("%q printed as %q", src, file.Bytes())
		}
		before := file.others(section, key)
		e, err := c.Set(section, key, value)
		now := string(file.Bytes())
		if textedit.Apply(src, e) != now {
			t.Fatalf("%q became %q, the edit %+v (%v) says otherwise", src, now, e, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/s", []byte(now))
		if v, ok := fresh.Get(section, key); !ok || v.Text != value {
			t.Fatalf("%q became %q: reads %q (%v), want %q", src, now, v.Text, ok, value)
		}
		if after := fresh.Files[0].others(section, key); strings.Join(before, "\x00") != strings.Join(after, "\x00") {
			t.Fatalf("%q became %q: others were %q, are %q", src, now, before, after)
		}
		if again, err := c.Set(section, key, value); err != nil || again != (textedit.Edit{}) && now != string(file.Bytes()) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
	})
}
