package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

func TestExportFormats(t *testing.T) {
	for format, want := range map[string][]string{
		FormatFiles:   {"files/", "changes.diff", "README.md"},
		FormatShell:   {"files/", "changes.sql", "apply.sh", "README.md"},
		FormatSQL:     {"changes.sql", "README.md"},
		FormatAnsible: {"files/", "changes.sql", "playbook.yml", "README.md"},
	} {
		kept, b := keptOn("/etc/x")
		files, err := Export(t.TempDir(), kept, b, ExportOptions{Format: format})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		for i, f := range files {
			if strings.HasPrefix(f, "files/") {
				files[i] = "files/"
			}
		}
		if !slices.Equal(files, want) {
			t.Errorf("%s wrote %q, want %q", format, files, want)
		}
	}
	if _, err := Export(t.TempDir(), nil, blobs{}, ExportOptions{Format: "word"}); err == nil {
		t.Error("an unknown format was taken")
	}
}

// The script looks at every file before it touches one.
func TestApplyScriptRefuses(t *testing.T) {
	target := t.TempDir()
	kept, b := keptOn(target)
	dir := t.TempDir()
	if _, err := Export(dir, kept, b, ExportOptions{Format: FormatShell}); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(target, "gone")
	if err := os.WriteFile(gone, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(env string, args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{filepath.Join(dir, "apply.sh")}, args...)...)
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{nil, {"--check"}} {
		if out, err := run("A=b", args...); err == nil || !strings.Contains(out, "gone is neither as it was measured") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	left, err := os.ReadDir(target)
	if err != nil || len(left) != 1 {
		t.Errorf("it began all the same: %v, %v", left, err)
	}
	if out, err := run("FORCE=1"); err != nil || !strings.Contains(out, "restart web") {
		t.Errorf("forced: %v: %s", err, out)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Error("FORCE=1 did not remove the file")
	}
	if out, err := run("A=b"); err != nil || !strings.Contains(out, "no service needs anything") {
		t.Errorf("the second time: %v: %s", err, out)
	}
}

// A file keeps its permission bits, a link what it points to.
func TestApplyScriptKeepsLinksAndModes(t *testing.T) {
	target := t.TempDir()
	b := blobs{}
	before, after := b.state("a\n"), b.state("b\n")
	link, real := filepath.Join(target, "enabled.conf"), filepath.Join(target, "available.conf")
	if err := os.WriteFile(real, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	acl := func() string { out, _ := exec.Command("getfacl", "-cpE", real).Output(); return string(out) }
	if out, err := exec.Command("setfacl", "-m", "u:33:r,m::r", real).CombinedOutput(); err != nil {
		t.Fatalf("setfacl (make deps-test installs acl): %v %s", err, out)
	}
	if err := os.Symlink("available.conf", link); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kept := []change.Tx{{ID: 1, Changes: []change.Change{{Kind: change.KindFile, Path: link, Before: before, After: after}}}}
	if _, err := Export(dir, kept, b, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "files/local", link)); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("exported with mode %v, %v", info.Mode(), err)
	}
	if out, err := exec.Command("sh", filepath.Join(dir, "apply.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became a file: %v", err)
	}
	if got, err := os.ReadFile(real); err != nil || string(got) != "b\n" {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(acl(), "user:") || !strings.Contains(acl(), "mask::r--") {
		t.Errorf("mode %v, %v; the access list is\n%s", info.Mode(), err, acl())
	}
}

func ansibleStack() *stack.Stack {
	return &stack.Stack{Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Control: stack.Control{Unit: "nginx.service"}},
		{Name: "app", Kind: stack.App, Control: stack.Control{Program: "app:*", Config: "/etc/supervisor/supervisord.conf"}},
		{Name: "db", Kind: stack.MariaDB}}}
}

// The playbook is valid YAML, is accepted by ansible-playbook, and does what
// the script does.
func TestPlaybook(t *testing.T) {
	target := t.TempDir()
	kept, b := keptOn(target)
	kept[2].Changes = append(kept[2].Changes, change.Change{Kind: change.KindFile, Service: "app", Activate: change.Restart,
		Path: filepath.Join(target, "tpl"), After: b.state("{{ not_a_variable }}\n"), Why: "{{ nor this }}"})
	dir := t.TempDir()
	if _, err := Export(dir, kept, b, ExportOptions{Stack: ansibleStack()}); err != nil {
		t.Fatal(err)
	}
	playbook := filepath.Join(dir, "playbook.yml")
	data, err := os.ReadFile(playbook)
	if err != nil {
		t.Fatal(err)
	}
	var plays []map[string]any
	if err := yaml.Unmarshal(data, &plays); err != nil || len(plays) != 1 {
		t.Fatalf("%v in:\n%s", err, data)
	}
	for _, want := range []string{"nginx.service", "state: restarted", "app:*", "changes.sql", "it's a.conf"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in:\n%s", want, data)
		}
	}
	if n := strings.Count(string(data), "ansible.builtin.copy"); n != 2 {
		t.Errorf("%d copies; one for each file:\n%s", n, data)
	}
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Fatal("ansible-playbook is not installed; run `make deps-test`")
	}
	inventory := filepath.Join(dir, "inventory")
	if err := os.WriteFile(inventory, []byte("local ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(ansible, append([]string{"-i", inventory, playbook}, args...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "ANSIBLE_LOCAL_TEMP="+dir+"/tmp", "ANSIBLE_REMOTE_TEMP="+dir+"/tmp", "HOME="+dir)
		cmd.WaitDelay = time.Minute
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s\n%s", args, err, out, data)
		}
		return string(out)
	}
	run("--syntax-check")
	if testing.Short() || os.Getuid() != 0 { // it sets owners
		t.Skip("the playbook was not run; run as root and without -short")
	}
	if err := os.WriteFile(filepath.Join(target, "gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Without the database, and without services that are not here.
	only := []string{"--skip-tags", "sql", "--extra-vars", "ansible_become=false", "--tags", "all"}
	cut := strings.Index(string(data), "\n    handlers:")
	if cut < 0 {
		t.Fatalf("no handlers:\n%s", data)
	}
	handlers := "\n    handlers:\n"
	for _, s := range []string{"web", "app"} {
		handlers += "      - name: activate " + s + "\n        ansible.builtin.debug: {msg: asked to activate " + s + "}\n"
	}
	if err := os.WriteFile(playbook, []byte(string(data)[:cut]+handlers), 0o600); err != nil {
		t.Fatal(err)
	}
	// What a link leads to is written, as by the script; the link stays.
	link := filepath.Join(target, "it's a.conf")
	if err := os.WriteFile(filepath.Join(target, "real.conf"), []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.conf", link); err != nil {
		t.Fatal(err)
	}
	first := run(only...)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became a file: %v", err)
	}
	if !strings.Contains(first, "asked to activate web") || !strings.Contains(first, "asked to activate app") {
		t.Errorf("services were not activated:\n%s", first)
	}
	for name, want := range map[string]string{"it's a.conf": "final\n", "tpl": "{{ not_a_variable }}\n"} {
		if got, err := os.ReadFile(filepath.Join(target, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(target, "gone")); !os.IsNotExist(err) {
		t.Error("the removed file is there")
	}
	if second := run(only...); strings.Contains(second, "asked to activate") {
		t.Errorf("the second time it changed something:\n%s", second)
	}
}
