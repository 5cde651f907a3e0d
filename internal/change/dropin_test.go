package change

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host"
)

// beneath is this machine with the administrator's units in a folder of the
// test's own. What is not asked for here goes to the machine.
type beneath struct {
	*host.Local
	root string
}

func (b beneath) at(path string) string {
	if strings.HasPrefix(path, systemdDir) {
		return filepath.Join(b.root, path)
	}
	return path
}

func (b beneath) Run(ctx context.Context, c host.Command) (host.Result, error) {
	for i, a := range c.Argv {
		c.Argv[i] = b.at(a)
	}
	return b.Local.Run(ctx, c)
}

func (b beneath) Stat(ctx context.Context, path string) (host.FileInfo, error) {
	return b.Local.Stat(ctx, b.at(path))
}

func (b beneath) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	return b.Local.List(ctx, b.at(dir))
}

func (b beneath) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return b.Local.ReadFile(ctx, b.at(path))
}

func (b beneath) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	return b.Local.ReplaceFile(ctx, b.at(path), data, r)
}

func (b beneath) Remove(ctx context.Context, path string, expect host.Hash) error {
	return b.Local.Remove(ctx, b.at(path), expect)
}

func (b beneath) MakeDir(ctx context.Context, path string, mode fs.FileMode, uid, gid int) error {
	return b.Local.MakeDir(ctx, b.at(path), mode, uid, gid)
}

const dropins = systemdDir + "/web.service.d"

// dropinFixture is a fixture whose unit web.service may have drop-ins. folder
// is where they really are.
func dropinFixture(t *testing.T) (f *fixture, folder string) {
	f = newFixture(t)
	must(t, os.MkdirAll(filepath.Join(f.dir, systemdDir), 0o755))
	f.host.Host = beneath{host.NewLocal(), f.dir}
	return f, filepath.Join(f.dir, dropins)
}

func dropinPlan() []Change {
	return []Change{{Kind: KindDir, Path: dropins}, create(dropins+"/zz-kasoku.conf", "[Service]\nLimitNOFILE=4096\n", "web")}
}

// A unit's folder of drop-ins is made where there is none, and goes again; one
// that is there stays with what is in it.
func TestDropinFolder(t *testing.T) {
	for _, row := range []struct {
		name          string
		before, while func(t *testing.T, folder string)
		stays         string // in the folder after undo; "-": no folder
	}{
		{"none", nil, nil, "-"},
		{"an empty one", func(t *testing.T, d string) { must(t, os.Mkdir(d, 0o700)) }, nil, ""},
		{"one with somebody's file", func(t *testing.T, d string) {
			must(t, os.Mkdir(d, 0o750))
			must(t, os.WriteFile(filepath.Join(d, "admin.conf"), []byte("[Unit]\n"), 0o600))
		}, nil, "admin.conf"},
		{"none, and somebody adds a file meanwhile", nil, func(t *testing.T, d string) {
			must(t, os.WriteFile(filepath.Join(d, "admin.conf"), []byte("[Unit]\n"), 0o600))
		}, "admin.conf"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, folder := dropinFixture(t)
			if row.before != nil {
				row.before(t, folder)
			}
			mode := modeOf(folder)
			tx, err := f.apply(dropinPlan()...)
			must(t, err)
			wantEqual(t, "drop-in", content(t, filepath.Join(folder, "zz-kasoku.conf")), "[Service]\nLimitNOFILE=4096\n")
			if row.while != nil {
				row.while(t, folder)
				mode = modeOf(folder)
			}
			if drift, err := f.x.Verify(t.Context()); err != nil || len(drift) > 0 {
				t.Errorf("drift %v, %v", drift, err)
			}
			must(t, f.x.Revert(t.Context(), tx.ID))
			left := "-"
			if entries, err := os.ReadDir(folder); err == nil {
				left = ""
				for _, e := range entries {
					left += e.Name()
				}
			}
			wantEqual(t, "left", left, row.stays)
			if row.stays != "-" {
				wantEqual(t, "mode", modeOf(folder), mode)
			}
		})
	}
}

func modeOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return info.Mode().String()
}

// TestDropinFolderKilled ends Kasoku before each step: the next one finds
// nothing left of it.
func TestDropinFolderKilled(t *testing.T) {
	for at := 1; ; at++ {
		f, folder := dropinFixture(t)
		died := stopAt(f, at, dropinPlan())
		f.reopen()
		_, err := f.x.Recover(t.Context())
		must(t, err)
		if got := modeOf(folder); got != "none" {
			t.Fatalf("after %q: the folder is left, %s", died, got)
		}
		if died == "" {
			return
		}
	}
}

func TestDropinFolderNames(t *testing.T) {
	for path, want := range map[string]bool{
		systemdDir + "/nginx.service.d": true, systemdDir + "/php8.2-fpm.service.d": true, systemdDir + "/app@1.service.d": true,
		systemdDir + "/nginx.service": false, systemdDir + "/service.d/x.d": false, systemdDir + "/.d": false, "/etc/nginx/conf.d": false,
		systemdDir + "/nginx.service.wants": false, systemdDir + "/../a.service.d": false, systemdDir + "/plain.d": false,
	} {
		if got := dropinDir(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	f, _ := dropinFixture(t)
	_, err := f.apply(Change{Kind: KindDir, Path: "/etc/nginx/conf.d"})
	wantText(t, err, "folder of drop-ins")
}
