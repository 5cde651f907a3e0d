package memcached

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	"kasoku/internal/confedit/textedit"
	_ "kasoku/internal/rapidseed"
)

const debian = "# Run as a daemon.\n-d\n\nlogfile /var/log/memcached.log\n# -v\n-m 64\n-p 11211 # port\n-l 127.0.0.1\n# -c 1024\n"

func TestSet(t *testing.T) {
	for _, tt := range []struct{ why, src, name, value, want string }{
		{"only the value changes", debian, "-m", "256", strings.Replace(debian, "64", "256", 1)},
		{"the long name", debian, "--memory-limit", "256", strings.Replace(debian, "64", "256", 1)},
		{"before a comment", debian, "-p", "0", strings.Replace(debian, "11211", "0", 1)},
		{"behind its commented line", debian, "-c", "99", debian + "-c 99\n"},
		{"behind its commented line, a switch", debian, "-v", "", strings.Replace(debian, "# -v\n", "# -v\n-v\n", 1)},
		{"the same word", "-m64\r\n-t4", "-t", "2", "-m64\r\n-t2"},
		{"a new line", "-m64\r\n-u x", "-t", "2", "-m64\r\n-u x\r\n-t 2"},
		{"a long one", "-m64\n", "--threads", "2", "-m64\n--threads=2\n"},
		{"a value on the next line", "-m\n64\n", "-m", "65", "-m\n65\n"},
		{"several on a line", "-m 64 -t 4 -v\n", "-t", "2", "-m 64 -t 2 -v\n"},
		{"a shell's quotes", "-m 64\n-o 'a=b'\n", "-m", "65", "-m 65\n-o 'a=b'\n"},
	} {
		c := Parse("/m", []byte(tt.src))
		e, err := c.Set(tt.name, tt.value)
		if got := string(c.Bytes()); err != nil || got != tt.want || textedit.Apply(tt.src, e) != got {
			t.Errorf("%s: got %q by %+v, %v, want %q", tt.why, got, e, err, tt.want)
		}
	}
	for _, bad := range [][2]string{{"-m", "a b"}, {"-m", ""}, {"-v", "1"}, {"-q", "1"}, {"-m", "$x"}, {"-m", "1#"}, {"m", "1"}} {
		c := Parse("/m", []byte(debian))
		if _, err := c.Set(bad[0], bad[1]); err == nil || len(c.Changed()) != 0 {
			t.Errorf("set %q has no error: %q", bad, c.Changed())
		}
	}
}

// wrapper is what Debian starts memcached with, without the start.
func wrapper(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("/usr/share/memcached/scripts/systemd-memcached-wrapper")
	if err != nil {
		t.Fatalf("Debian's memcached is not installed; run make deps: %v", err)
	}
	text := strings.Replace(string(src), `exec "$memcached $params";`, `print $params;`, 1)
	text = strings.Replace(text, `push @$params, "-u root" unless(grep "-u", @$params);`, "", 1)
	text = strings.Replace(text, "my $params;", "my $params = [];", 1) // a file without arguments
	if text == string(src) {
		t.Fatal("the wrapper is not the one that this test knows")
	}
	name := filepath.Join(t.TempDir(), "wrapper")
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestWrapperReadsTheSame compares the arguments that Debian's wrapper makes
// of random files with what the package does.
func TestWrapperReadsTheSame(t *testing.T) {
	script := wrapper(t)
	dir := t.TempDir()
	pieces := rapid.SampledFrom([]string{"-m 64", "-d", "-p 1\t-v", " -c 5 ", "# c", "#", "\\#", "logfile /x", "alone", "-h", "\n", "\n", "\r\n", "'", " ", "-l 1::"})
	gen := rapid.SliceOfN(pieces, 1, 12)
	for i := range 50 {
		src := strings.Join(gen.Example(i), "")
		name := filepath.Join(dir, "m.conf")
		if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("perl", script, name).Output()
		if c := Parse(name, []byte(src)); err != nil || c.joined.String() != string(out) {
			t.Errorf("%q is %q to the wrapper (%v), %q here", src, out, err, c.joined.String())
		}
	}
}

// TestMemcachedTakesEdits starts memcached with an edited file's arguments and
// asks it for its settings.
func TestMemcachedTakesEdits(t *testing.T) {
	program := "/usr/bin/memcached"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; run make deps", program)
	}
	dir, err := os.MkdirTemp("", "mc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o777); err != nil { // memcached gives up root
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	c := Parse("/m", []byte(strings.Replace(debian, "-p 11211 # port\n-l 127.0.0.1\n", "-u nobody\n", 1)))
	want := map[string]string{"maxbytes": fmt.Sprint(77 << 20), "num_threads": "3", "maxconns": "321", "item_size_max": fmt.Sprint(2 << 20), "growth_factor": "1.10", "evictions": "off"}
	for _, kv := range [][2]string{{"-m", "77"}, {"--threads", "3"}, {"-c", "321"}, {"-I", "2m"}, {"-f", "1.1"}, {"-M", ""}, {"-s", socket}} {
		if _, err := c.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	// What memcached takes, through the shell that the wrapper's exec stands for.
	cmd := exec.Command("sh", "-c", "exec "+program+" "+c.joined.String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var conn net.Conn
	await.NoError(t, "memcached "+c.joined.String(), func() (err error) {
		conn, err = net.Dial("unix", socket)
		return err
	})
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(conn, "stats settings\r\n")
	got := map[string]string{}
	for scanner := bufio.NewScanner(conn); scanner.Scan() && scanner.Text() != "END"; {
		if f := strings.Fields(scanner.Text()); len(f) == 3 {
			got[f[1]] = f[2]
		}
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("memcached has %s %q, want %q\n%s", k, got[k], v, c.Bytes())
		}
	}
}

// FuzzMemcached: every text prints as it is; an edit changes its span alone,
// reads back, leaves every other argument as it was, and is not made twice.
func FuzzMemcached(f *testing.F) {
	f.Add(debian, "-m", "77")
	f.Add("-m64 -vt 5\r\n-o 'x'", "--threads", "7")
	f.Fuzz(func(t *testing.T, src, name, value string) {
		c := Parse("/m", []byte(src))
		if string(c.Bytes()) != src {
			t.Fatalf("%q printed as %q", src, c.Bytes())
		}
		before := c.others(name)
		e, err := c.Set(name, value)
		now := string(c.Bytes())
		if textedit.Apply(src, e) != now {
			t.Fatalf("%q became %q, the edit %+v (%v) says otherwise", src, now, e, err)
		}
		if err != nil {
			return
		}
		fresh := Parse("/m", []byte(now))
		if v, ok := fresh.Get(name); !ok || v.Text != value {
			t.Fatalf("%q became %q: %s reads %q (%v), want %q", src, now, name, v.Text, ok, value)
		}
		if after := fresh.others(name); strings.Join(before, "\x00") != strings.Join(after, "\x00") {
			t.Fatalf("%q became %q: others were %q, are %q", src, now, before, after)
		}
		if again, err := c.Set(name, value); err != nil || again != (textedit.Edit{}) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
	})
}
