package change

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

// TestShell: what people read in a plan, and can type.
func TestShell(t *testing.T) {
	for _, c := range []struct {
		name   string
		change Change
		want   string
	}{
		{"a kernel setting", Change{Kind: KindSysctl, Variable: "net.ipv4.tcp_rmem", BeforeValue: "4096\t131072\t6291456", AfterValue: "4096 262144 8388608"},
			"sysctl -w 'net.ipv4.tcp_rmem=4096 262144 8388608'\n# undo: sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'\n"},
		{"a kernel setting with a twin", Change{Kind: KindSysctl, Variable: "vm.dirty_bytes", BeforeValue: "0", AfterValue: "1000000", Also: map[string]string{"vm/dirty_ratio": "20"}},
			"sysctl -w vm.dirty_bytes=1000000\n# undo: sysctl -w vm/dirty_ratio=20\n"},
		{"a unit", Change{Kind: KindUnit, Unit: &Unit{Name: "a.service", Before: UnitState{"enabled", "active"}, After: UnitState{"masked", "inactive"}}},
			"systemctl stop a.service\nsystemctl mask a.service\n# undo: systemctl unmask a.service\n# undo: systemctl enable a.service\n# undo: systemctl start a.service\n"},
		{"a program", Change{Kind: KindUnit, Unit: &Unit{Name: "w", Supervisor: "/etc/s.conf", Before: UnitState{Active: "inactive"}, After: UnitState{Active: "active"}}},
			"supervisorctl -c /etc/s.conf start w\n# undo: supervisorctl -c /etc/s.conf stop w\n"},
		{"a package", Change{Kind: KindPackage, Package: &Package{Name: "a", Version: "2", Set: []PackageState{{Name: "a", Before: "1", After: "2"}, {Name: "b", After: "3"}}}},
			"apt-get install -y --no-install-recommends --allow-downgrades a=2\n#   a: 1 -> 2\n#   b: absent -> 3\n# undo: apt-get install -y --purge --allow-downgrades a=1 b-\n"},
		{"a removal", Change{Kind: KindPackage, Package: &Package{Name: "a"}},
			"apt-get install -y --no-install-recommends --allow-downgrades a-\n# undo: kasoku undo, once it is in place\n"},
		{"a commit", Change{Kind: KindGit, Git: &Git{Dir: "/srv/a b", Patch: []byte("diff\n"), PatchHash: "77", Message: "m", Build: []string{"make", "all"}, Products: []string{"out"},
			Before: "11", Ref: "refs/heads/main", After: "22", Branch: "refs/heads/kasoku/22", Saved: "88"}},
			"git -C '/srv/a b' checkout -b kasoku/22\ngit -C '/srv/a b' apply --index - < blobs/77\ngit -C '/srv/a b' -c user.name=Kasoku -c user.email=kasoku@localhost commit -q -m m\n(cd '/srv/a b' && make all)\n" +
				"# undo: git -C '/srv/a b' checkout main\n# undo: git -C '/srv/a b' branch -D kasoku/22\n# undo: (cd '/srv/a b' && rm -rf -- out)\n" +
				"# undo: tar -C '/srv/a b' -xpf blobs/88   # an empty archive: there were none\ndiff\n"},
	} {
		wantEqual(t, c.name, Diff(c.change), c.want)
		if c.change.Title() == string(c.change.Kind) || c.change.object() == "" {
			t.Errorf("%s: title %q, object %q", c.name, c.change.Title(), c.change.object())
		}
	}
	secret := Change{Kind: KindUnit, Unit: &Unit{Name: "a.service", After: UnitState{Active: "active"}}, Why: "x"}
	if do, _ := secret.Shell("blobs"); len(do) != 1 {
		t.Errorf("before a look: %v", do)
	}
}

// What is printed before the executor has looked must not destroy when somebody types
// it: nothing is taken away that no archive brings back, no argument is empty.
func TestShellBeforeALook(t *testing.T) {
	archive := regexp.MustCompile(`(^|[ /])blobs/[0-9a-f]+( |$)`)
	for _, c := range []Change{
		{Kind: KindSysctl, Variable: "a.b", AfterValue: "2"},
		{Kind: KindUnit, Unit: &Unit{Name: "a.service", After: UnitState{"masked", "inactive"}}},
		{Kind: KindProcess, Service: "s", Process: &Process{Name: "p", After: "active", Starting: "start p", Stopping: "stop p"}},
		{Kind: KindPackage, Package: &Package{Name: "a", Version: "2", With: []string{"b"}}},
		{Kind: KindPackage, Package: &Package{Name: "a"}},
		{Kind: KindGit, Git: &Git{Dir: "/srv/a", Rev: "faster", Build: []string{"make"}, Products: []string{"out"}}},
		{Kind: KindGit, Git: &Git{Dir: "/srv/a", Patch: []byte("diff\n"), Products: []string{"app"}}},
		{Kind: KindReady, Ready: &Ready{Dir: "/srv/a", Products: []string{"app"}, From: "h1:/srv/a"}},
		{Kind: KindReady, Ready: &Ready{Dir: "/srv/a", Products: []string{"app"}, From: "h1:/srv/a", Built: "77"}},
	} {
		do, undo := c.Shell("blobs")
		if len(do) == 0 {
			t.Errorf("%s: nothing is to be done", c.Title())
		}
		for i, lines := range [][]string{do, undo} {
			all := strings.Join(lines, "\n")
			if strings.Contains(all, "''") || strings.Contains(all, "blobs/ ") || strings.HasSuffix(all, "blobs/") || strings.Contains(all, "rm -rf") && !archive.MatchString(all) {
				t.Errorf("%s: %s", c.Title(), []string{"do ", "undo "}[i]+all)
			}
		}
		if (c.Kind == KindGit || c.Kind == KindPackage || c.Kind == KindReady) && len(undo) > 0 {
			t.Errorf("%s: undone by %q, before what was there is known", c.Title(), undo)
		}
	}
}

// TestNewKindsInJournal: every field survives the journal, except bytes.
func TestNewKindsInJournal(t *testing.T) {
	in := []Change{
		{Kind: KindSysctl, Variable: "a.b", BeforeValue: "1", AfterValue: "2", Also: map[string]string{"a/c": "3"}, Phase: 2},
		{Kind: KindUnit, Unit: &Unit{Name: "a.service", Before: UnitState{"enabled", "active"}, After: UnitState{"masked", "inactive"}, Links: []string{"x -> y"}}},
		{Kind: KindPackage, Package: &Package{Name: "a", Version: "2", Start: true, Set: []PackageState{{Name: "a", Before: "1", After: "2", Auto: true, Deb: "99"}}, Files: []PackageFile{{"/etc/a", FileState{Hash: "66", Mode: 0o640}}}}},
		{Kind: KindGit, Git: &Git{Dir: "/a", PatchHash: "77", Message: "m", When: time.Unix(5, 0).UTC(), UID: 33, Files: []string{"f"}, Attributes: "644 0 0 1 f\n", Saved: host.Hash("88")}},
	}
	line, err := record{N: 1, Op: opBegin, Tx: 1, Changes: in}.line()
	must(t, err)
	r, err := parseRecord(line[:len(line)-1])
	must(t, err)
	again, err := record{N: 1, Op: opBegin, Tx: 1, Changes: r.Changes}.line()
	must(t, err)
	wantEqual(t, "line", string(again), string(line))
	if strings.Contains(string(line), "Patch\"") {
		t.Error("the patch's bytes are in the line")
	}
}
