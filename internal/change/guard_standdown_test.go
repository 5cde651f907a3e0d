package change

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/host"
)

// TestStandDown: neither a guard nor what would start one at boot is left, so
// nobody takes the lease at a boot that Kasoku orders; the lease stays, and the
// next change is guarded again.
func TestStandDown(t *testing.T) {
	f, options := mirrored(t)
	must(t, f.x.Close())
	b := &booting{Host: host.NewLocal(), how: "systemd", root: t.TempDir()}
	must(t, os.MkdirAll(b.root+"/etc/systemd/system", 0o755))
	o := options()
	o.Hosts = map[string]host.Host{"local": b}
	x, err := Open(t.Context(), o)
	must(t, err)
	conf := f.file("web.conf", "a\n")
	apply := func(from, to string) (tx Tx, entry string) {
		t.Helper()
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{edit1(conf, from, to, "web", Reload)}})
		must(t, err)
		entry = b.root + parseEntry(x.journal.entries["local"]).Path
		if _, err := os.Stat(entry); err != nil {
			t.Fatalf("nothing would start the guard at boot: %v", err)
		}
		return tx, entry
	}
	tx, entry := apply("a\n", "b\n")
	if err := x.StandDown(t.Context()); !errors.Is(err, ErrPending) {
		t.Fatalf("while a change is not decided upon: %v", err)
	}
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.StandDown(t.Context()))
	project := filepath.Dir(f.copyDir())
	for _, path := range []string{entry, filepath.Join(project, beatFile)} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if _, err := host.NewLocal().Lock(t.Context(), filepath.Join(filepath.Dir(project), leaseFile)); !errors.Is(err, host.ErrLocked) {
		t.Errorf("the lease is free: %v", err)
	}
	must(t, x.StandDown(t.Context())) // there is nothing left to do
	tx, entry = apply("b\n", "c\n")
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Close())
	if _, err := os.Stat(entry); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left at the end: %v", entry, err)
	}
	f.x, err = Open(t.Context(), options())
	must(t, err)
}
