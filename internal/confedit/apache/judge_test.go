package apache

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// allModules is a configuration with all of Debian's modules that go together.
func allModules(t *testing.T, dir string) string {
	t.Helper()
	head := bareConf(dir)
	loads, err := filepath.Glob("/etc/apache2/mods-available/*.load")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range loads {
		base := strings.TrimSuffix(filepath.Base(name), ".load")
		if !strings.HasPrefix(base, "mpm_") && !strings.HasPrefix(base, "php") && !slices.Contains([]string{"info", "authz_core", "macro", "cgi", "md", "lua", "heartbeat", "heartmonitor", "lbmethod_heartbeat"}, base) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head += "<IfModule !" + base + "_module>\n" + string(text) + "\n</IfModule>\n"
		}
	}
	return head
}

// TestRealApacheCorpus puts real snippets into a server that has all of
// Debian's modules; where Apache takes one, it must take it edited.
func TestRealApacheCorpus(t *testing.T) {
	await.SkipShort(t)
	dir := t.TempDir()
	head := allModules(t, dir)
	env := map[string]string{"APACHE_LOG_DIR": dir, "APACHE_RUN_DIR": dir, "APACHE_LOCK_DIR": dir, "APACHE_RUN_USER": "www-data", "APACHE_RUN_GROUP": "www-data", "APACHE_PID_FILE": dir + "/pid"}
	conf := write(t, filepath.Join(dir, "a.conf"), head)
	if _, err := ask(t, conf, env); err != nil {
		t.Fatalf("all modules together: %v", err)
	}
	files := corpus(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	judged := 0
	for i, name := range names {
		if strings.HasSuffix(name, ".load") || strings.Contains(name, "htaccess") || testing.Short() && i%4 != 0 {
			continue
		}
		part := write(t, filepath.Join(dir, "part.conf"), files[name])
		write(t, conf, head+"Include part.conf\n")
		if _, err := ask(t, conf, env); err != nil {
			continue // it wants files or modules that are not here
		}
		judged++
		c := disk(t, conf, env)
		f := c.byID[part]
		if f == nil {
			t.Fatalf("%s was not read", name)
		}
		edited := 0
		for _, d := range c.Root.First("Include").Children {
			where := []func(string) error{d.InsertBefore, d.InsertAfter}
			if d.IsSection && (d.Is("Directory") || d.Is("VirtualHost") || d.Is("Location") || d.Is("IfModule")) {
				where = append(where, d.Append)
			}
			for _, edit := range where {
				if err := edit("# new\nServerSignature Off"); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				edited++
			}
		}
		write(t, part, f.text())
		if _, err := ask(t, conf, env); err != nil && edited > 0 {
			t.Errorf("%s: Apache refuses the edited file: %v\n%s", name, err, f.text())
		}
	}
	t.Logf("%d files judged", judged)
	if judged < 15 {
		t.Errorf("Apache judged only %d files", judged)
	}
}
