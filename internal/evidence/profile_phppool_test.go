package evidence

import (
	"os/exec"
	"strings"
	"testing"

	"kasoku/internal/confedit/ini"
)

func fpmConf(t *testing.T, text string) *ini.Config {
	t.Helper()
	conf, err := ini.Load("/fpm.conf", ini.FPM, func(string) ([]byte, error) { return []byte(text), nil }, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestWhichPoolsAreSampled(t *testing.T) {
	www := ProcessUser{UID: 33, Name: "www-data"}
	has := map[string]string{"excimer.version": "1.0.4"}
	for _, c := range []struct {
		name, pool string
		ini        map[string]string
		refused    string // part of the reason; "" if it is sampled
		prepend    string
		key        string
	}{
		{name: "plain", pool: "user = www-data\npm.max_children = 5"},
		{name: "user by number", pool: "user = 33"},
		{name: "existing file in php.ini", ini: map[string]string{"auto_prepend_file": "/app/first.php"}, prepend: "/app/first.php"},
		{name: "none in php.ini", ini: map[string]string{"auto_prepend_file": "none"}},
		{name: "existing file in the pool", pool: "php_admin_value[auto_prepend_file] = /app/p.php", prepend: "/app/p.php", key: "php_admin_value[auto_prepend_file]"},
		{name: "many requests", pool: "pm.max_requests = 100"},
		{name: "unlimited requests", pool: "pm.max_requests = 0"},
		{name: "few requests", pool: "pm.max_requests = 99", refused: "after 99 requests"},
		{name: "open_basedir", pool: "php_admin_value[open_basedir] = /app", refused: "open_basedir"},
		{name: "open_basedir in php.ini", ini: map[string]string{"open_basedir": "/app"}, refused: "open_basedir"},
		{name: "chroot", pool: "chroot = /jail", refused: "chroot"},
		{name: "another user", pool: "user = shop", refused: "runs as shop"},
		{name: "disabled function", ini: map[string]string{"disable_functions": "exec,getmypid"}, refused: "getmypid"},
		{name: "similar disabled function", ini: map[string]string{"disable_functions": "pcntl_fopen, exec"}},
		{name: "no profiler", ini: map[string]string{"excimer.version": ""}, refused: "php-excimer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := fpmConf(t, "[www]\nlisten = /s\n"+c.pool+"\n")
			values := map[string]string{}
			for _, from := range []map[string]string{has, c.ini} {
				for k, v := range from {
					values[k] = v
				}
			}
			poolValues(values, conf)
			pools := PHPProfilePools(values, conf, www)
			if len(pools) != 1 {
				t.Fatalf("%+v", pools)
			}
			p := pools[0]
			if c.key == "" {
				c.key = "php_value[auto_prepend_file]"
			}
			if (p.Refused == "") != (c.refused == "") || !strings.Contains(p.Refused, c.refused) || p.Prepend != c.prepend || p.Key != c.key {
				t.Errorf("%+v", p)
			}
			if p.NoProfiler != (c.name == "no profiler") {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestPHPInfoTellsTheProfiler(t *testing.T) {
	if v := parsePHPInfo([]byte("excimer\n\nexcimer support => enabled\nexcimer version => 1.0.4\n")).Values["excimer.version"]; v != "1.0.4" {
		t.Error(v)
	}
}

func TestPHPFileIsWellFormed(t *testing.T) {
	php, err := program("php8.*")
	if err != nil {
		t.Fatal(err)
	}
	text := PHPProfileFile(`/dev/shm/it's \here`, `/app/o'clock.php`, 4)
	if strings.Contains(string(text), "@") && strings.Contains(string(text), "@FOLDER@") {
		t.Fatal("a place was not filled in")
	}
	cmd := exec.Command(php, "-n", "-l")
	cmd.Stdin = strings.NewReader(string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	for _, want := range []string{`'/dev/shm/it\'s \\here'`, `require '/app/o\'clock.php';`, "< 4194304", "setPeriod(0.01)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if text := string(PHPProfileFile("/x", "", 1000)); strings.Contains(text, "require") || !strings.Contains(text, "< 33554)") {
		t.Error(text)
	}
}
