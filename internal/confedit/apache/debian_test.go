package apache

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// debian makes a copy of Debian's configuration and returns its main file and
// environment.
func debian(t *testing.T) (string, map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "apache2")
	if out, err := exec.Command("cp", "-a", "/etc/apache2", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "envvars"))
	if err != nil {
		t.Fatal(err)
	}
	env := Environment(text)
	for name, want := range map[string]string{"APACHE_RUN_USER": "www-data", "APACHE_LOG_DIR": "/var/log/apache2", "APACHE_RUN_DIR": "/var/run/apache2"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	return filepath.Join(dir, "apache2.conf"), env
}

// a2 runs a2enmod or a2dismod on a configuration folder.
func a2(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(program(t, name), append([]string{"-q", "-f"}, args...)...)
	cmd.Env = append(os.Environ(), "APACHE_CONFDIR="+dir, "APACHE_ENVVARS=/dev/null", "APACHE_STATE_DIRECTORY="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

func links(t *testing.T, dir string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(dir + "/mods-enabled/*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range found {
		target, err := os.Readlink(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = target
	}
	return out
}

// make carries a plan out.
func carryOut(t *testing.T, plan []Link) {
	t.Helper()
	for _, l := range plan {
		var err error
		if l.Remove {
			err = os.Remove(l.Path)
		} else {
			err = os.Symlink(l.Target, l.Path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDebian goes through MPMs on a copy of Debian's configuration: the links
// are those that a2dismod and a2enmod make, Apache sees the directives that
// the package sees, and takes every edit.
func TestDebian(t *testing.T) {
	await.SkipShort(t)
	conf, env := debian(t)
	dir := filepath.Dir(conf)
	a2(t, dir, "a2enmod", "info", "rewrite", "proxy_fcgi", "http2", "ssl", "macro")
	for _, mpm := range []string{"event", "prefork", "worker", "event"} {
		theirs, _ := debian(t)
		theirDir := filepath.Dir(theirs)
		if out, err := exec.Command("sh", "-c", "rm -r "+theirDir+"/mods-enabled; cp -a "+dir+"/mods-enabled "+theirDir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		m, err := LoadModules(dir, os.ReadFile, filepath.Glob)
		if err != nil {
			t.Fatal(err)
		}
		var drop, old []string
		for _, name := range m.Enabled() {
			if strings.HasPrefix(name, "php") {
				drop = append(drop, name)
			} else if strings.HasPrefix(name, "mpm_") && name != "mpm_"+mpm {
				old = append(old, name)
			}
		}
		if len(drop) > 0 && mpm != "prefork" {
			if _, err := m.SwitchMPM(mpm); err == nil || !strings.Contains(err.Error(), "depends on mpm_prefork") {
				t.Errorf("PHP's dependence on prefork is passed over: %v", err)
			}
		}
		plan, err := m.SwitchMPM(mpm, drop...)
		if err != nil {
			t.Fatal(err)
		}
		carryOut(t, plan)
		a2(t, theirDir, "a2dismod", old...)
		a2(t, theirDir, "a2enmod", "mpm_"+mpm)
		if a, b := links(t, dir), links(t, theirDir); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("links for %s:\n%v\na2enmod makes\n%v", mpm, a, b)
		}
		c := disk(t, conf, env)
		if c.MPM() != mpm {
			t.Errorf("MPM is %q, want %q", c.MPM(), mpm)
		}
		agree(t, conf, env)
		judge(t, c, mpm, env)
		agree(t, conf, env)
	}
}

// judge edits a configuration through what other packages use and lets Apache
// check the result.
func judge(t *testing.T, c *Config, mpm string, env map[string]string) {
	t.Helper()
	vhosts := c.VirtualHosts()
	if len(vhosts) != 1 {
		t.Fatalf("%d virtual hosts", len(vhosts))
	}
	edits := []error{
		c.Set("MaxRequestWorkers", nil, "100"),
		c.Set("ServerLimit", nil, "100"),
		c.Set("KeepAliveTimeout", nil, "2"),
		c.Set("EnableSendfile", nil, "On"),
		c.Set("HostnameLookups", vhosts[0], "Off"),
		c.Set("Timeout", vhosts[0], "30"),
		c.Root.Append("<Directory \"/srv/a b\">\n    AllowOverride None\n</Directory>"),
		vhosts[0].First("DocumentRoot").InsertAfter("# quick\n<Location /x>\n\tSetHandler none\n</Location>"),
	}
	if mpm == "prefork" {
		edits = append(edits, c.Set("MinSpareServers", nil, "3"))
	} else {
		edits = append(edits, c.Set("ThreadsPerChild", nil, "10"))
	}
	for i, err := range edits {
		if err != nil {
			t.Fatalf("edit %d: %v", i, err)
		}
	}
	if v, err := c.Value("MaxRequestWorkers", nil); err != nil || v.Text != "100" || !strings.HasSuffix(v.Set[0].File.Path, "mods-enabled/mpm_"+mpm+".conf") {
		t.Errorf("MaxRequestWorkers is %+v, %v", v, err)
	}
	var names []string
	for name, text := range c.Changed() {
		names = append(names, name)
		// As the change stage does, the file behind a link is written.
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sort.Strings(names)
	if len(names) < 2 {
		t.Errorf("changed only %v", names)
	}
	if _, err := ask(t, c.main, env); err != nil {
		t.Errorf("Apache refuses the edited configuration: %v", err)
	}
}
