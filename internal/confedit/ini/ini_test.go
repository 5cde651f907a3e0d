package ini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/confedit/memory"
)

func loadText(t testing.TB, d Dialect, text string) *Config {
	t.Helper()
	m := memory.Files{"/etc/main": text}
	c, err := Load("/etc/main", d, m.Read, m.Glob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func text(c *Config) string { return string(c.Files[0].Bytes()) }

// TestIdentity parses every option file of the installed MariaDB and PHP and
// all fixtures and prints them back.
func TestIdentity(t *testing.T) {
	groups := []struct {
		dialect  Dialect
		patterns []string
		atLeast  int
	}{
		{MySQL, []string{"/etc/mysql/*.cnf", "/etc/mysql/*/*.cnf", "/etc/mysql/*.fallback", "testdata/*.cnf"}, 8},
		{PHP, []string{"/etc/php/*/*/php.ini", "/etc/php/*/mods-available/*.ini", "/usr/lib/php/*/php.ini-*", "testdata/*.ini"}, 15},
		{FPM, []string{"/etc/php/*/fpm/php-fpm.conf", "/etc/php/*/fpm/pool.d/*.conf", "testdata/*.conf"}, 3},
	}
	for _, g := range groups {
		var files []string
		for _, p := range g.patterns {
			found, err := filepath.Glob(p)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
		if len(files) < g.atLeast {
			t.Fatalf("found %d files for %v, want at least %d; run make deps", len(files), g.patterns, g.atLeast)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Load(name, g.dialect, os.ReadFile, filepath.Glob)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if text(c) != string(src) || len(c.Changed()) != 0 {
				t.Errorf("%s: printed differently from what was read", name)
			}
		}
	}
}

func TestGet(t *testing.T) {
	tests := []struct {
		why          string
		d            Dialect
		src          string
		section, key string
		want         string
	}{
		{"last wins", MySQL, "[mysqld]\na=1\na=2\n", "mysqld", "a", "2"},
		{"- is _", MySQL, "[mysqld]\nmax-connections = 5\n", "mysqld", "max_connections", "5"},
		{"loose-", MySQL, "[mysqld]\nloose_foo = 5\n", "mysqld", "foo", "5"},
		{"other server groups count", MySQL, "[mysqld]\na=1\n[mariadb]\na=2\n[client]\na=3\n", "mysqld", "a", "2"},
		{"a client's do not", MySQL, "[mysqld]\na=1\n[client]\na=3\n", "client", "a", "3"},
		{"a key without value", MySQL, "[mysqld]\nskip-name-resolve # c\n", "mysqld", "skip_name_resolve", ""},
		{"skip- is the opposite", MySQL, "[mysqld]\nlog-bin=x\nskip-log-bin\n", "mysqld", "log_bin", "0"},
		{"quotes and escapes", MySQL, "[mysqld]\na = \"x # \\\"y\\\"\\n\" # c\n", "mysqld", "a", "x # \"y\"\n"},
		{"; does not end a value", MySQL, "[mysqld]\na = 'x' ; c\n", "mysqld", "a", "'x' ; c"},
		{"spaces before ]", MySQL, "[mysqld ]\na=1\n", "mysqld", "a", "1"},

		{"sections do not matter", PHP, "[PHP]\na = 1\n[opcache]\na = 2\n", "anything", "a", "2"},
		{"[PATH=] is left alone", PHP, "a = 1\n[PATH=/x]\na = 2\n[HOST=y]\na = 3\n", "", "a", "1"},
		{"a section after [PATH=] counts again", PHP, "a = 1\n[PATH=/x]\na = 2\n[opcache]\na = 3\n", "", "a", "3"},
		{"comment", PHP, "a = \"x;y\" ; z\n", "", "a", "x;y"},
		{"expression", PHP, "e = E_ALL & ~E_NOTICE ; z\n", "", "e", "E_ALL & ~E_NOTICE"},
		{"a value over lines", PHP, "a = \"x\n;y\"\nb = 1\n", "", "a", "x\n;y"},
		{"single quotes", PHP, `a = 'x\"'`, "", "a", `x\"`},
		{"a quote in a word", PHP, "a = don't ; c\nb = it's\n", "", "a", "dont ; c\nb = its"},
		{"a lone quote", PHP, "a = don't ; c\nb = 1\n", "", "b", "1"},
		{"nothing", PHP, "a =\nb = 1\n", "", "a", ""},
		{"keys mind case", PHP, "A = 1\na = 2\n", "", "A", "1"},

		{"keys ignore case", FPM, "[www]\nPM = static\n", "www", "pm", "static"},
		{"pools", FPM, "[www]\npm = static\n[b]\npm = dynamic\n", "www", "pm", "static"},
		{"global before any section", FPM, "log_level = debug\n[www]\n", "global", "log_level", "debug"},
		{"of php_admin_value the first wins", FPM, "[www]\nphp_admin_value[m] = 1\nphp_admin_value[m] = 2\n", "www", "php_admin_value[m]", "1"},
		{"flags and values are one list", FPM, "[www]\nphp_admin_flag[m] = on\n", "www", "php_admin_value[m]", "on"},
		{"names in brackets mind case", FPM, "[www]\nenv[a] = 1\nenv[A] = 2\n", "www", "env[A]", "2"},
	}
	for _, tt := range tests {
		c := loadText(t, tt.d, tt.src)
		v, ok := c.Get(tt.section, tt.key)
		if !ok || v.Text != tt.want {
			t.Errorf("%s: got %q (%v), want %q", tt.why, v.Text, ok, tt.want)
		}
		if text(c) != tt.src {
			t.Errorf("%s: printed %q", tt.why, text(c))
		}
	}
}

func TestIncludes(t *testing.T) {
	files := memory.Files{
		"/etc/my.cnf":       "[mysqld]\na = 1\n!includedir /etc/conf.d/\nb = 1\n! include /etc/none.cnf\n!unknown\n",
		"/etc/conf.d/b.cnf": "[mysqld]\na = 3\n",
		"/etc/conf.d/a.cnf": "[mysqld]\na = 2\n[client]\nb = 2\n",
		"/etc/conf.d/c.ini": "[mysqld]\na = 4\n",
	}
	c, err := Load("/etc/my.cnf", MySQL, files.Read, files.Glob)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := c.Get("mysqld", "a"); v != (Value{Text: "3", Path: "/etc/conf.d/b.cnf", Line: 2}) {
		t.Errorf("a is %+v", v)
	}
	if v, _ := c.Get("mysqld", "b"); v != (Value{Text: "1", Path: "/etc/my.cnf", Line: 4}) {
		t.Errorf("b is %+v", v)
	}
	if got := strings.Join(c.Sections(), " "); got != "mysqld client" {
		t.Errorf("sections %s", got)
	}
	if err := c.Set("mysqld", "a", "9"); err != nil {
		t.Fatal(err)
	}
	if got := c.Changed(); len(got) != 1 || string(got["/etc/conf.d/b.cnf"]) != "[mysqld]\na = 9\n" {
		t.Errorf("changed %q", got)
	}

	pools := memory.Files{
		"/usr/local/etc/php-fpm.conf":       "[global]\npid = x\ninclude=etc/php-fpm.d/*.conf\n",
		"/usr/local/etc/php-fpm.d/www.conf": "[www]\npm = static\n",
		"/usr/local/etc/php-fpm.d/zz.conf":  "[global]\ndaemonize = no\n\n[www]\nlisten = 9000\n",
	}
	c, err = Load("/usr/local/etc/php-fpm.conf", FPM, pools.Read, pools.Glob)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Keys("www"), " "); got != "pm listen" {
		t.Errorf("keys of www: %s", got)
	}
	if err := c.Set("www", "pm.max_children", "8"); err != nil {
		t.Fatal(err)
	}
	if got := string(c.Changed()["/usr/local/etc/php-fpm.d/zz.conf"]); !strings.HasSuffix(got, "listen = 9000\npm.max_children = 8\n") {
		t.Errorf("changed %q", got)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		d         Dialect
		src, want string
	}{
		{MySQL, "\na=1\n[mysqld]\n", "/etc/main:2: option a stands before any [section]"},
		{MySQL, "[mysqld\n", "/etc/main:1: a section header has no closing bracket"},
		{MySQL, "!include", "it names no file"},
		{MySQL, "!include other.cnf\n", "write it absolute"},
		{MySQL, "!include /etc/main\n", "in a circle"},
		{PHP, "a = \"x\nb = 1\n", "/etc/main:1: a quote opened in the value of a is never closed"},
		{FPM, "[www]\na = \"x\ny\"\n", "/etc/main:2: a quote"},
		{FPM, "include=/etc/m*\n", "in a circle"},
	}
	for _, tt := range tests {
		m := memory.Files{"/etc/main": tt.src}
		_, err := Load("/etc/main", tt.d, m.Read, m.Glob)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got error %v, want one with %q", tt.src, err, tt.want)
		}
	}
	m := memory.Files{}
	if _, err := Load("/etc/main", PHP, m.Read, m.Glob); err == nil {
		t.Error("a missing main file is no error")
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		why                 string
		d                   Dialect
		src                 string
		section, key, value string
		want                string
	}{
		{"only the value changes", MySQL, "[mysqld]\n  a\t=  1  # why\nb=2\n", "mysqld", "a", "7", "[mysqld]\n  a\t=  7  # why\nb=2\n"},
		{"the last occurrence", MySQL, "[mysqld]\na=1\na=2\n", "mysqld", "a", "7", "[mysqld]\na=1\na=7\n"},
		{"the group that wins", MySQL, "[mysqld]\na=1\n[mariadb]\na=2\n", "mysqld", "a", "7", "[mysqld]\na=1\n[mariadb]\na=7\n"},
		{"quotes stay", MySQL, "[mysqld]\na='x'\n", "mysqld", "a", "y'z", "[mysqld]\na='y\\'z'\n"},
		{"a value gets quotes where it must", MySQL, "[mysqld]\na=x\n", "mysqld", "a", "y # z", "[mysqld]\na=\"y # z\"\n"},
		{"a key without value", MySQL, "[mysqld]\nslow-query-log # c\n", "mysqld", "slow_query_log", "1", "[mysqld]\nslow-query-log = 1 # c\n"},
		{"skip- is turned round", MySQL, "[mysqld]\nskip-log-bin\n", "mysqld", "log_bin", "x", "[mysqld]\nlog_bin = x\n"},
		{"a new key, aligned as above", MySQL, "[mysqld]\nuser                    = mysql\npid-file                = x\n\n# next\n[client]\n", "mysqld", "max_connections", "5", "[mysqld]\nuser                    = mysql\npid-file                = x\nmax_connections         = 5\n\n# next\n[client]\n"},
		{"a new key, dense", MySQL, "[mysqld]\na=1\n", "mysqld", "b", "2", "[mysqld]\na=1\nb=2\n"},
		{"a new key behind its commented line", MySQL, "[mysqld]\n#innodb-log-file-size = 1G\na = 1\n", "mysqld", "innodb_log_file_size", "2G", "[mysqld]\n#innodb-log-file-size = 1G\ninnodb_log_file_size = 2G\na = 1\n"},
		{"an empty section", MySQL, "[mysqld]\n", "mysqld", "a", "1", "[mysqld]\na = 1\n"},
		{"a new section", MySQL, "[client]\na=1", "mysqld", "b", "2", "[client]\na=1\n\n[mysqld]\nb = 2"},
		{"an empty file", MySQL, "", "mysqld", "b", "2", "[mysqld]\nb = 2\n"},
		{"CRLF", MySQL, "[mysqld]\r\na=1\r\n", "mysqld", "b", "2", "[mysqld]\r\na=1\r\nb=2\r\n"},
		{"an empty value filled", MySQL, "[mysqld]\na =\n", "mysqld", "a", "2", "[mysqld]\na = 2\n"},

		{"PHP", PHP, "[PHP]\na = 1 ; c\n", "", "a", "2", "[PHP]\na = 2 ; c\n"},
		{"PHP behind the commented line", PHP, "[PHP]\na = 1\n[opcache]\n; Memory.\n;opcache.m=128\n\n;x=\n", "", "opcache.m", "64", "[PHP]\na = 1\n[opcache]\n; Memory.\n;opcache.m=128\nopcache.m = 64\n\n;x=\n"},
		{"PHP in a section", PHP, "[PHP]\na = 1\n[opcache]\n", "opcache", "opcache.m", "64", "[PHP]\na = 1\n[opcache]\nopcache.m = 64\n"},
		{"PHP not under [PATH=]", PHP, "a=1\n[PATH=/x]\nb=1\n", "", "b", "2", "a=1\nb = 2\n[PATH=/x]\nb=1\n"},
		{"PHP quotes", PHP, "a=1\n", "", "a", "tcp://x?a=1&b=2;", "a=\"tcp://x?a=1&b=2;\"\n"},
		{"PHP expression", PHP, "e = E_ALL\n", "", "e", "E_ALL & ~E_NOTICE", "e = E_ALL & ~E_NOTICE\n"},

		{"FPM", FPM, "[www]\npm = dynamic\n;pm.max_requests = 500\n[b]\npm = static\n", "www", "pm.max_requests", "0", "[www]\npm = dynamic\n;pm.max_requests = 500\npm.max_requests = 0\n[b]\npm = static\n"},
		{"FPM admin value", FPM, "[www]\npm = static\n", "www", "php_admin_value[opcache.enable]", "1", "[www]\npm = static\nphp_admin_value[opcache.enable] = 1\n"},
		{"FPM first of admin values", FPM, "[www]\nphp_admin_value[m]=1\nphp_admin_value[m]=2\n", "www", "php_admin_value[m]", "3", "[www]\nphp_admin_value[m]=3\nphp_admin_value[m]=2\n"},
		{"FPM new global", FPM, "[www]\npm = static\n", "global", "log_level", "error", "[www]\npm = static\n\n[global]\nlog_level = error\n"},
	}
	for _, tt := range tests {
		c := loadText(t, tt.d, tt.src)
		if err := c.Set(tt.section, tt.key, tt.value); err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if got := text(c); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.why, got, tt.want)
		}
		if v, ok := c.Get(tt.section, tt.key); !ok || v.Text != tt.value {
			t.Errorf("%s: reads back as %q", tt.why, v.Text)
		}
	}
}

func TestUnset(t *testing.T) {
	tests := []struct {
		d            Dialect
		src          string
		section, key string
		want         string
	}{
		{MySQL, "[mysqld]\na=1\nA=1\n[server]\na = 2 # x\n[client]\na=3\n", "mysqld", "a", "[mysqld]\nA=1\n[server]\n[client]\na=3\n"},
		{PHP, "a=\"1\n2\"\nb=1\n[PATH=/x]\na=2\n", "", "a", "b=1\n[PATH=/x]\na=2\n"},
		{FPM, "[www]\npm = x", "www", "pm", "[www]\n"},
		{FPM, "[www]\npm = x", "www", "none", "[www]\npm = x"},
	}
	for _, tt := range tests {
		c := loadText(t, tt.d, tt.src)
		if err := c.Unset(tt.section, tt.key); err != nil {
			t.Fatal(err)
		}
		if got := text(c); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.src, got, tt.want)
		}
		if _, ok := c.Get(tt.section, tt.key); ok {
			t.Errorf("%s is still set", tt.key)
		}
	}
}

func TestSetErrors(t *testing.T) {
	for _, d := range []Dialect{MySQL, PHP, FPM} {
		c := loadText(t, d, "[mysqld]\na = 1\n")
		for _, bad := range [][3]string{{"mysqld", "", "1"}, {"mysqld", "#a\n", "1"}, {"mysqld", "a=b", "1"}, {"mysqld", "[a", "1"}, {"mysqld", "a", "x\x00"}} {
			if err := c.Set(bad[0], bad[1], bad[2]); err == nil {
				t.Errorf("dialect %d: set %q has no error: %q", d, bad, text(c))
			}
		}
		if len(c.Changed()) != 0 {
			t.Errorf("dialect %d: failed edits changed %q", d, c.Changed())
		}
	}
	src := "a = don't\n" // a second quote would end a string that begins here
	if c := loadText(t, PHP, src); c.Set("", "b", "it's") == nil || text(c) != src {
		t.Errorf("a set that pairs a lone quote made %q", text(c))
	}
	for _, d := range []Dialect{MySQL, FPM} {
		if err := loadText(t, d, "").Set("a]b", "k", "1"); err == nil {
			t.Errorf("dialect %d: a section with a bracket has no error", d)
		}
	}
	if err := loadText(t, MySQL, "").Set("", "k", "1"); err == nil {
		t.Error("an option without section has no error")
	}
	c := loadText(t, FPM, "[www]\na = 1\n")
	if err := c.Set("www", "a", "x\ny"); err == nil {
		t.Error("FPM takes a value over lines")
	}
}
