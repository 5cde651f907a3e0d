package ini

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// program returns the path of a program that tests need.
func program(t testing.TB, names ...string) string {
	t.Helper()
	for _, n := range names {
		for _, dir := range []string{"/usr/sbin", "/usr/bin"} {
			if found, err := filepath.Glob(filepath.Join(dir, n)); err == nil && len(found) > 0 {
				return found[len(found)-1]
			}
		}
	}
	t.Fatalf("%s is not installed; run make deps", names[0])
	return ""
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMariaDBReadsTheSame compares what MariaDB's own reader makes of random
// option files with what the package does.
func TestMariaDBReadsTheSame(t *testing.T) {
	reader := program(t, "my_print_defaults")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.cnf"), []byte("k2=5\n[mysqld]\n"))
	write(t, filepath.Join(dir, "b.d.cnf"), []byte("[mysqld]\nk2=6\n[client]\nk2=7"))
	write(t, filepath.Join(dir, "b.txt"), []byte("[mysqld]\nk2=8\n"))
	write(t, filepath.Join(dir, "inc.txt"), []byte("[mysqld]\nk1=9\n[client]\n"))
	_ = os.Remove(filepath.Join(dir, "a.cnf")) // an option before a section is an error, tested elsewhere
	lines := []string{
		"[mysqld]", "[mysqld ]", " [client] x", "[server]", "; c", "# c", "", "k1", "k-1 = 3 # c", "loose-k1=4", "k2 = 'a b' ", `k2="a#b" # c`, `k2 = a\sb\\c\d`,
		"k3 =", "k3 = # c", `k3 = "a`, `k3 = 'a" # b'`, `k3=a"b"`, `k3 = "a\"#" # c`, "\tk1\t=\tx ; y\r", "!includedir " + dir, "!include " + dir + "/inc.txt ", "!include " + dir + "/none.txt", "!other x", " ! include " + dir + "/inc.txt",
	}
	gen := rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12)
	for i := range 60 {
		src := "[mysqld]\n" + strings.Join(gen.Example(i), "\n") + "\n"
		name := filepath.Join(dir, "main.txt")
		write(t, name, []byte(src))
		out, err := exec.Command(reader, "--defaults-file="+name, "mysqld", "server").CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", src, err, out)
		}
		c, err := Load(name, MySQL, os.ReadFile, filepath.Glob)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		var got []string
		for _, p := range c.places() {
			if p.line.kind == entry && (p.section == "mysqld" || p.section == "server") {
				option := "--" + p.line.key
				if p.line.hasSep {
					option += "=" + p.line.value
				}
				got = append(got, option)
			}
		}
		if want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, want) && len(got)+len(out) > 0 {
			t.Errorf("%q: MariaDB reads\n%q, this package\n%q", src, want, got)
		}
	}
}

// TestServerGroups has mariadbd read sections for a version and with a suffix.
func TestServerGroups(t *testing.T) {
	server := program(t, "mariadbd", "mysqld")
	out, err := exec.Command(server, "--no-defaults", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(out), "Ver ")
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		t.Fatalf("mariadbd --version says %s", out)
	}
	version = parts[0] + "." + parts[1]
	name := filepath.Join(t.TempDir(), "my.cnf")
	src := "[mysqld]\nback_log=51\nmax_connections=52\nthread_cache_size=53\n[mariadb-" + version + "]\nback_log=61\n[mariadb-1.0]\nback_log=62\n[mysqld.two]\nmax_connections=71\n[mysqld.three]\nthread_cache_size=72\n"
	c := loadText(t, MySQL, src)
	c.Version, c.Suffix = version, ".two"
	for i, edit := range []string{"", "81"} {
		if edit != "" {
			if err := c.Set("mysqld", "back_log", edit); err != nil {
				t.Fatal(err)
			}
		}
		write(t, name, c.Files[0].Bytes())
		out, err := exec.Command(server, "--defaults-file="+name, "--defaults-group-suffix=.two", "--user=root", "--help", "--verbose").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"back-log", "max-connections", "thread-cache-size"} {
			want := ""
			for _, l := range strings.Split(string(out), "\n") {
				if f := strings.Fields(l); len(f) == 2 && f[0] == key {
					want = f[1]
				}
			}
			if v, _ := c.Get("mysqld", key); v.Text != want {
				t.Errorf("round %d: %s is %s to mariadbd, %s here", i, key, want, v.Text)
			}
		}
	}
}

// TestMariaDBReadsWhatSetWrites sets random values and has MariaDB's own
// reader read them back.
func TestMariaDBReadsWhatSetWrites(t *testing.T) {
	reader := program(t, "my_print_defaults")
	name := filepath.Join(t.TempDir(), "main.cnf")
	want := map[string]string{}
	src := "[mysqld]\nk1 = 'x' # c\nk3=\"y\"\nk5\n"
	c := loadText(t, MySQL, src)
	gen := genValue(MySQL)
	for i := range 200 {
		key := fmt.Sprintf("k%d", i)
		value := strings.ReplaceAll(gen.Example(i), "\n", " ")
		if err := c.Set("mysqld", key, value); err != nil {
			t.Fatal(err)
		}
		want[key] = value
	}
	write(t, name, c.Files[0].Bytes())
	out, err := exec.Command(reader, "--defaults-file="+name, "mysqld").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		key, value, _ := strings.Cut(strings.TrimPrefix(l, "--"), "=")
		if want[key] != value {
			t.Errorf("MariaDB reads %s as %q, want %q", key, value, want[key])
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("MariaDB does not read %v", want)
	}
}

// TestPHPReadsWhatSetWrites does the same with PHP.
func TestPHPReadsWhatSetWrites(t *testing.T) {
	php := program(t, "php", "php8*")
	name := filepath.Join(t.TempDir(), "php.ini")
	want := map[string]string{}
	c := loadText(t, PHP, "k1 = \"x\" ; c\nk3='y'\n")
	gen := genValue(PHP)
	for i := range 300 {
		key := fmt.Sprintf("k%d", i)
		value := gen.Example(i)
		if err := c.Set("", key, value); err != nil {
			t.Logf("left out %q: %v", value, err)
			continue
		}
		want[key] = value
	}
	write(t, name, c.Files[0].Bytes())
	out, err := exec.Command(php, "-n", "-r", "echo json_encode(parse_ini_file($argv[1]));", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 280 {
		t.Errorf("only %d of 300 values could be written", len(want))
	}
	got := map[string]string{}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, c.Files[0].Bytes())
	}
	for key, value := range want {
		if got[key] != value {
			v, _ := c.Get("", key)
			t.Errorf("PHP reads %s as %q, want %q; written in line %d: %s", key, got[key], value, v.Line, c.Files[0].lines[v.Line-1].text)
		}
	}
}

// TestPHPReadsTheSame compares what PHP makes of written values with what the
// package does.
func TestPHPReadsTheSame(t *testing.T) {
	php := program(t, "php", "php8*")
	name := filepath.Join(t.TempDir(), "php.ini")
	raws := []string{
		`1`, `1 ; c`, `"a;b" ; c`, `"a\\" ; c`, `"a\"b"`, `"a\"`, `"a\\b"`, `'a\' ; c`, `"a\'b\n\q"`, `don't;x'`, "\"x\n; y\n\" ; c", "'x\ny'",
		`a b  `, `"a b" ;c"d"`, ` `, `""`, `''`, `a'b'c`, `"a""b"`, `-1`, `1.5M`, `tcp://h:1/x?y`, `"a=b"`, `#x`, `"\\\""`, `"a\\\\";`,
	}
	var src strings.Builder
	for i, raw := range raws {
		fmt.Fprintf(&src, "k%d = %s\n", i, raw)
	}
	write(t, name, []byte(src.String()))
	out, err := exec.Command(php, "-n", "-r", "echo json_encode(parse_ini_file($argv[1]));", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := loadText(t, PHP, src.String())
	for i, raw := range raws {
		v, ok := c.Get("", fmt.Sprintf("k%d", i))
		if expected := want[fmt.Sprintf("k%d", i)]; !ok || v.Text != expected {
			t.Errorf("%s is %q to PHP, %q here", raw, expected, v.Text)
		}
	}
	if len(want) != len(raws) || len(c.Keys("")) != len(raws) {
		t.Errorf("PHP finds %d keys, this package %d, want %d", len(want), len(c.Keys("")), len(raws))
	}
}

// TestServersAcceptEdits edits the installed configurations and lets the
// servers judge the result.
func TestServersAcceptEdits(t *testing.T) {
	dir := t.TempDir()
	t.Run("mariadbd", func(t *testing.T) {
		name := filepath.Join(dir, "my.cnf")
		write(t, name, []byte("[mysqld]\nuser = root\nskip-log-bin\n# max_connections = 100\n[mariadb]\n"))
		c, err := Load(name, MySQL, os.ReadFile, filepath.Glob)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"innodb-buffer-pool-size": "268435456", "max-connections": "77", "init-connect": `SET @a = '#;"'`, "slow-query-log": "TRUE"}
		for _, kv := range [][2]string{{"innodb_buffer_pool_size", "256M"}, {"max-connections", "77"}, {"init_connect", want["init-connect"]}, {"slow_query_log", "1"}} {
			if err := c.Set("mysqld", kv[0], kv[1]); err != nil {
				t.Fatal(err)
			}
		}
		write(t, name, c.Changed()[name])
		out, err := exec.Command(program(t, "mariadbd", "mysqld"), "--defaults-file="+name, "--help", "--verbose").Output()
		if err != nil {
			t.Fatalf("mariadbd refuses %s: %v", c.Files[0].Bytes(), err)
		}
		for key, value := range want {
			if !slices.ContainsFunc(strings.Split(string(out), "\n"), func(l string) bool {
				k, v, _ := strings.Cut(l, " ")
				return k == key && strings.TrimSpace(v) == value
			}) {
				t.Errorf("mariadbd does not take %s as %s", key, value)
			}
		}
	})
	t.Run("php-fpm", func(t *testing.T) {
		fpm := program(t, "php-fpm8*", "php-fpm*")
		found, err := filepath.Glob("/etc/php/*/fpm/php-fpm.conf")
		if err != nil || len(found) == 0 {
			t.Fatal("no php-fpm.conf is installed; run make deps")
		}
		c, err := Load(found[len(found)-1], FPM, os.ReadFile, filepath.Glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range [][3]string{
			{"www", "pm", "static"}, {"www", "pm.max_children", "7"}, {"www", "pm.max_requests", "0"}, {"www", "listen", dir + "/s"},
			{"www", "php_admin_value[opcache.memory_consumption]", "64"}, {"www", "php_admin_value[session.save_path]", "tcp://127.0.0.1:1?a=1;b"}, {"global", "error_log", dir + "/log"}, {"global", "pid", dir + "/pid"},
		} {
			if err := c.Set(set[0], set[1], set[2]); err != nil {
				t.Fatal(err)
			}
		}
		// One file, so that nothing of the machine's is written to.
		var all strings.Builder
		for _, f := range c.Files {
			for _, l := range strings.SplitAfter(string(f.Bytes()), "\n") {
				if !strings.HasPrefix(l, "include=") {
					all.WriteString(l)
				}
			}
			all.WriteString("\n")
		}
		name := filepath.Join(dir, "fpm.conf")
		write(t, name, []byte(all.String()))
		out, err := exec.Command(fpm, "-n", "-y", name, "-tt").CombinedOutput()
		if err != nil {
			t.Fatalf("php-fpm refuses the edits: %v\n%s", err, out)
		}
		for _, want := range []string{"pm = static", "pm.max_children = 7", "pm.max_requests = 0", "php_admin_value[opcache.memory_consumption] = 64", "php_admin_value[session.save_path] = tcp://127.0.0.1:1?a=1;b"} {
			if !strings.Contains(string(out), "\t"+want+"\n") {
				t.Errorf("php-fpm does not show %s\n%s", want, out)
			}
		}
	})
}
