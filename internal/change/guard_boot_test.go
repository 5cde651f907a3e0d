package change

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// booting is a host where something starts programs at boot; it writes down
// what it is told, and keeps the files elsewhere.
type booting struct {
	host.Host
	how, root string
	told      []string
}

func (b *booting) Run(ctx context.Context, c host.Command) (host.Result, error) {
	if len(c.Argv) > 2 && c.Argv[2] == bootScript {
		return host.Result{Stdout: []byte(b.how + "\n")}, nil
	}
	if c.Argv[0] == "systemctl" {
		b.told = append(b.told, strings.Join(c.Argv[2:], " "))
		return host.Result{}, nil
	}
	return b.Host.Run(ctx, c)
}

func (b *booting) moved(path string) string {
	if strings.HasPrefix(path, "/etc/") {
		return b.root + path
	}
	return path
}
func (b *booting) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return b.Host.ReadFile(ctx, b.moved(path))
}
func (b *booting) ReplaceFile(ctx context.Context, path string, data []byte, r host.Replace) error {
	return b.Host.ReplaceFile(ctx, b.moved(path), data, r)
}
func (b *booting) Remove(ctx context.Context, path string, expect host.Hash) error {
	return b.Host.Remove(ctx, b.moved(path), expect)
}

// TestBootEntry: it is journaled before it is written, and gone when the guard
// is disarmed. systemd and cron are stand-ins that write down what they are
// told; whether systemd takes the unit, systemd-analyze says where it is.
func TestBootEntry(t *testing.T) {
	for how, dir := range map[string]string{"systemd": "/etc/systemd/system", "cron": "/etc/cron.d"} {
		t.Run(how, func(t *testing.T) {
			f, options := mirrored(t)
			must(t, f.x.Close())
			b := &booting{Host: host.NewLocal(), how: how, root: t.TempDir()}
			must(t, os.MkdirAll(b.root+dir, 0o755))
			o := options()
			o.Hosts = map[string]host.Host{"local": b}
			o.Stack.Services[3].Control.Unit = "mariadb"
			x, err := Open(t.Context(), o)
			must(t, err)
			conf := f.file("web.conf", "a\n")
			tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{edit1(conf, "a\n", "b\n", "web", Reload)}})
			must(t, err)
			entry := parseEntry(x.journal.entries["local"])
			text := content(t, b.root+entry.Path)
			if filepath.Dir(entry.Path) != dir || !strings.Contains(text, " guard boot "+filepath.Dir(f.copyDir())) {
				t.Fatalf("entry %v:\n%s", entry, text)
			}
			if how == "systemd" && !strings.Contains(text, "After=local-fs.target mariadb.service\n") {
				t.Fatalf("it does not wait for the database:\n%s", text)
			}
			must(t, x.Keep(t.Context(), tx.ID))
			must(t, x.Close())
			if _, err := os.Stat(b.root + entry.Path); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%s is left: %v", entry.Path, err)
			}
			want := map[string]string{"systemd": "daemon-reload, enable NAME, disable NAME, daemon-reload", "cron": ""}[how]
			wantEqual(t, "systemctl", strings.ReplaceAll(strings.Join(b.told, ", "), filepath.Base(entry.Path), "NAME"), want)
			lines := content(t, f.journalPath())
			if a, z := strings.Index(lines, `"arming"`), strings.Index(lines, `"disarmed"`); a < 0 || z < a {
				t.Fatalf("the journal does not tell it:\n%s", lines)
			}
			f.x, err = Open(t.Context(), options())
			must(t, err)
		})
	}
}

// TestGuardDoesNotStoreLogins: they are in the guard's memory and nowhere else.
func TestGuardDoesNotStoreLogins(t *testing.T) {
	await.SkipShort(t)
	f, options := mirrored(t)
	must(t, f.x.Close())
	o := options()
	o.Stack.Services[3].Login = &stack.Login{User: "kasoku", PasswordEnv: "DB_PASSWORD"}
	o.Target.Login = func(context.Context, string) (Login, error) {
		return Login{User: "kasoku", Password: "planted-7f3a"}, nil
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	conf := f.file("web.conf", "a\n")
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{edit1(conf, "a\n", "b\n", "web", Reload)}})
	must(t, err)
	var s guardState
	must(t, json.Unmarshal([]byte(content(t, filepath.Join(filepath.Dir(f.copyDir()), stateFile))), &s))
	must(t, filepath.WalkDir(filepath.Join(f.dir, ".kasoku"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != programFile && strings.Contains(content(t, path), "planted-7f3a") {
			t.Errorf("the password is in %s", path)
		}
		return err
	}))
	for _, name := range []string{"cmdline", "environ"} {
		if strings.Contains(content(t, filepath.Join("/proc", itoa(s.PID), name)), "planted-7f3a") {
			t.Errorf("the password is in the guard's %s", name)
		}
	}
	must(t, x.UndoAll(t.Context()))
	must(t, x.Close())
	must(t, await.Until(func() error {
		if syscall.Kill(s.PID, 0) == nil {
			return errors.New("the guard lives on")
		}
		return nil
	}))
	f.x, err = Open(t.Context(), options())
	must(t, err)
}
