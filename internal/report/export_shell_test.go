package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/change"
)

// TestExportShell: a checkout's patch is exported and the script commits it,
// once; a kernel setting, a unit and a package are commands in it.
func TestExportShell(t *testing.T) {
	app, dir := filepath.Join(t.TempDir(), "an app"), filepath.Join(t.TempDir(), "out")
	sh := func(script string) string {
		t.Helper()
		out, err := exec.Command("sh", "-ec", script, "sh", app).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh(`git init -q -b main "$1"; cd "$1"; echo a >f; git add f; git -c user.name=a -c user.email=a@localhost commit -qm first`)
	b := blobs{}
	patch := b.state("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").Hash
	commit := change.Tx{ID: 1, Title: "commit", State: change.StateKept, Changes: []change.Change{{Kind: change.KindGit, Git: &change.Git{Dir: app, PatchHash: patch, Message: "it's b",
		Build: []string{"touch", "built"}, Before: "1", After: "2", Ref: "refs/heads/main", Branch: "refs/heads/kasoku/2"}}}}
	if _, err := Export(dir, []change.Tx{commit}, b, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := exec.Command("sh", filepath.Join(dir, "apply.sh")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if got := sh(`cd "$1"; cat f; git log --format=%s; git branch --show-current; ls`); got != "b\nit's b\nfirst\nkasoku/2\nbuilt\nf" {
		t.Errorf("after the script:\n%s", got)
	}

	others := change.Tx{ID: 2, Title: "others", State: change.StateKept, Changes: []change.Change{
		{Kind: change.KindSysctl, Variable: "net.core.somaxconn", BeforeValue: "4096", AfterValue: "8192"},
		{Kind: change.KindUnit, Unit: &change.Unit{Name: "a.service", Before: change.UnitState{Enabled: "enabled", Active: "active"}, After: change.UnitState{Enabled: "disabled", Active: "inactive"}}},
		{Kind: change.KindPackage, Package: &change.Package{Name: "redis-server", Version: "7.0"}}}}
	dir = filepath.Join(t.TempDir(), "out")
	if _, err := Export(dir, []change.Tx{others}, b, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "apply.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nsysctl -w net.core.somaxconn=8192\n# to undo: sysctl -w net.core.somaxconn=4096\n", "\nsystemctl stop a.service\nsystemctl disable a.service\n# to undo: systemctl enable a.service\n",
		"\napt-get install -y --no-install-recommends --allow-downgrades redis-server=7.0\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
