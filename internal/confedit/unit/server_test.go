package unit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/confedit/args"
)

// dump has systemd itself load a unit from folders that stand for Dirs and
// returns the lines that it prints of it.
func dump(t *testing.T, root, name string) []string {
	t.Helper()
	program := "/usr/bin/systemd-analyze"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; install Debian's package systemd", program)
	}
	var dirs []string
	for _, d := range Dirs[:4] {
		dirs = append(dirs, filepath.Join(root, d))
	}
	cmd := exec.Command(program, "verify", "--man=no", name)
	cmd.Env = append(os.Environ(), "SYSTEMD_LOG_LEVEL=debug", "SYSTEMD_UNIT_PATH="+strings.Join(dirs, ":")+":")
	out, _ := cmd.CombinedOutput() // it fails where a program of some unit is missing
	_, rest, ok := strings.Cut(string(out), "-> Unit "+name+":")
	if !ok {
		t.Fatalf("systemd-analyze does not load %s:\n%s", name, out)
	}
	rest, _, _ = strings.Cut(rest, "-> Unit ")
	var lines []string
	for _, l := range strings.Split(rest, "\n") {
		lines = append(lines, strings.TrimSpace(l))
	}
	return lines
}

// field returns what systemd prints of one property, once for each line.
func field(lines []string, name string) []string {
	out := []string{}
	for _, l := range lines {
		if v, ok := strings.CutPrefix(l, name+": "); ok {
			out = append(out, v)
		}
	}
	return out
}

func put(t *testing.T, root string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// under reads and lists files below root as if it were /.
func under(root string) (ReadFunc, GlobFunc) {
	return func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, name)) },
		func(pattern string) ([]string, error) {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			for i := range found {
				found[i] = strings.TrimPrefix(found[i], root)
			}
			return found, err
		}
}

// TestSystemdReadsTheSame compares which drop-ins systemd takes, and in which
// order, with what the package finds, for an instance with dashes in its name.
func TestSystemdReadsTheSame(t *testing.T) {
	await.SkipShort(t)
	root := t.TempDir()
	files := map[string][]byte{"/run/systemd/system/a-b@.service": []byte("[Service]\nExecStart=/bin/true\n")}
	related := []string{"a-b@x.service.d", "a-b@.service.d", "a-@x.service.d", "a-@.service.d", "a-.service.d", "service.d"}
	for i, dir := range Dirs[:4] {
		for j, d := range related {
			for k, base := range []string{"same", "only" + string(rune('a'+j)), "s" + string(rune('z'-i-j))} {
				if (i+j+k)%3 > 0 || base == "same" {
					files[dir+"/"+d+"/"+base+".conf"] = []byte("[Service]\nEnvironment=V=" + base + "\n")
				}
			}
		}
	}
	rounds := 0
	for ; len(files) > 20; rounds++ { // hide, and look again with the winners gone
		root = filepath.Join(root, "next")
		put(t, root, files)
		read, glob := under(root)
		c, err := Load("a-b@x.service", read, glob)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range c.Files[1:] {
			got = append(got, filepath.Join(root, f.Path))
		}
		want := field(dump(t, root, "a-b@x.service"), "DropIn Path")
		if !slices.Equal(got, want) {
			t.Fatalf("systemd takes\n%s\nthis package\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
		for _, f := range c.Files[1:] {
			delete(files, f.Path)
		}
		_ = os.RemoveAll(root)
	}
	if rounds < 3 {
		t.Errorf("only %d rounds", rounds)
	}
}

// TestSystemdTakesEdits edits a unit's arguments in place and by drop-in and
// has systemd load the result.
func TestSystemdTakesEdits(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string][]byte{"/etc/systemd/system/web.service": []byte(strings.Replace(daemon, "/usr/bin/web", "/bin/sleep", 1))})
	read, glob := under(root)
	c, err := Load("web.service", read, glob)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := c.Get("Service", "ExecStart")
	at := strings.Index(v.Text, "1 2")
	if _, err := c.SetPart("Service", "ExecStart", v, at, at+3, "50 $$x"); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"LimitNOFILE", "65536"}, {"Nice", "5"}} {
		if _, err := c.Set("Service", kv[0], kv[1], dropIn); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SetList("Service", "Environment", []string{`"B=1 2"`, "C=3"}, dropIn); err != nil {
		t.Fatal(err)
	}
	put(t, root, c.Changed())
	lines := dump(t, root, "web.service")
	for name, want := range map[string][]string{
		"LimitNOFILE": {"65536"}, "Nice": {"5"}, "Environment": {"B=1 2", "C=3"}, "Command Line": {`/bin/sleep -t 4 "--mem=50 \$\$x"`}, "Description": {"Web"},
	} {
		if got := field(lines, name); !slices.Equal(got, want) {
			t.Errorf("systemd has %s %q, want %q", name, got, want)
		}
	}
	if _, err := c.SetList("Service", "ExecStart", []string{"/bin/sleep 1"}, dropIn); err != nil {
		t.Fatal(err)
	}
	put(t, root, c.Changed())
	if got := field(dump(t, root, "web.service"), "Command Line"); !slices.Equal(got, []string{"/bin/sleep 1"}) {
		t.Errorf("systemd starts %q", got)
	}
}

// TestSystemdSplitsTheSame has systemd split command lines. It prints them in
// its own spelling.
func TestSystemdSplitsTheSame(t *testing.T) {
	lines := []string{
		`a "b c" 'd e'`, `a"b"'c' \x41\tb`, `"a\"b" 'a\'b'`, `a\sb \101 \u00e9`, `%% 50%%`, `a \; b`, `"a;b" c`, `a\qb \;c`, `'$$x' $$y`, `--t=5 -t5`, `"" ''`, "a \\\n  b\tc \\\n# c\n d",
	}
	var unit strings.Builder
	for _, l := range lines {
		unit.WriteString("ExecStartPre=/bin/echo " + l + "\n")
	}
	root := t.TempDir()
	src := "[Service]\n" + unit.String() + "ExecStart=/bin/true\n"
	put(t, root, map[string][]byte{"/etc/systemd/system/web.service": []byte(src)})
	want := field(dump(t, root, "web.service"), "Command Line")
	got := Parse("/u", []byte(src)).List("Service", "ExecStartPre")
	if len(want) != len(lines)+1 || len(got) != len(lines) {
		t.Fatalf("systemd has %d command lines, this package %d", len(want), len(got))
	}
	values := func(text string) []string {
		l := args.Parse(text, args.Systemd)
		if l.Err() != nil {
			t.Error(l.Err())
		}
		var out []string
		for _, w := range l.Words {
			out = append(out, w.Value)
		}
		return out
	}
	for i := range lines {
		a, b := values(strings.ReplaceAll(want[i], `\$`, "$")), values(got[i].Text)
		if !slices.Equal(a, b) {
			t.Errorf("%s is %q to systemd, %q here (%s)", lines[i], a, b, want[i])
		}
	}
}

// TestSystemdReadsEnvironmentFiles has systemd's own reader of such files read
// os-release, whose values systemd-tmpfiles writes out.
func TestSystemdReadsEnvironmentFiles(t *testing.T) {
	program := "/usr/bin/systemd-tmpfiles"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; install Debian's package systemd", program)
	}
	for _, raw := range []string{`a`, `a b `, `"a \"b\" \$c \q \\"`, `'a\b' "c"d`, `a\ b\"`, "\"a \\\n b\"", "a\\\nb", `"a'b"`, "'a\nb'", ` x`, `a'b'`, `a"b c"`, `'a'  b  `, `;x`, `"a`, `\a`} {
		root := t.TempDir()
		src := "# c\nID=debian\nVERSION_ID=" + raw + "\n"
		if strings.HasPrefix(raw, "'a\n") {
			src = strings.Replace(src, "\nb", "b", 1)
		}
		put(t, root, map[string][]byte{"/etc/os-release": []byte(src), "/etc/tmpfiles.d/x.conf": []byte("f /out - - - - <%w>\n")})
		if out, err := exec.Command(program, "--root="+root, "--create", filepath.Join(root, "etc/tmpfiles.d/x.conf")).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", raw, err, out)
			continue
		}
		got, err := os.ReadFile(filepath.Join(root, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := ParseEnv("/e", []byte(src)).Get("VERSION_ID"); "<"+v.Text+">" != string(got) {
			t.Errorf("%s is %s to systemd, <%s> here", raw, got, v.Text)
		}
	}
}
