package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"kasoku/internal/host"
)

// bootEntry is what starts the guard when the host has been booted anew.
type bootEntry struct {
	How  string `json:"how"` // "systemd", "cron", or "" for none
	Path string `json:"path,omitempty"`
}

func (e bootEntry) String() string { return strings.TrimSpace(e.How + " " + e.Path) }

func parseEntry(s string) bootEntry {
	how, path, _ := strings.Cut(s, " ")
	return bootEntry{How: how, Path: path}
}

// bootScript prints what starts programs at boot on this host. A folder of
// cron without a running cron starts nothing.
const bootScript = `if [ "$(id -u)" != 0 ]; then echo none; exit; fi
if [ -d /run/systemd/system ]; then echo systemd; exit; fi
for p in /proc/[0-9]*/comm; do
  read -r name <"$p" || continue
  case $name in cron|crond) [ -d /etc/cron.d ] && { echo cron; exit; };; esac
done 2>/dev/null
echo none`

// installEntry journals and installs what starts the guard after a reboot. A
// host without such a thing is told about once; there a reboot leaves things as
// they are until `kasoku recover`.
func (g *target) installEntry(ctx context.Context) (bootEntry, error) {
	out, err := g.run(ctx, nil, "sh", "-c", bootScript)
	if err != nil {
		return bootEntry{}, err
	}
	e, text := g.planEntry(strings.TrimSpace(out))
	if err := g.x.journal.append(record{Op: opArming, Host: g.name, Value: e.String()}); err != nil {
		return e, err
	}
	if err := g.catchUp(ctx, nil); err != nil {
		return e, err
	}
	if e.How == "" {
		g.x.warn("host %s: a reboot is not covered, because it has no systemd and no cron that Kasoku may use; after one, run `kasoku recover`", g.name)
	} else if err := e.install(ctx, g.h, text); err != nil {
		return e, err
	}
	if err := g.x.journal.append(record{Op: opArmed, Host: g.name, Value: e.String()}); err != nil {
		return e, err
	}
	return e, g.catchUp(ctx, nil)
}

// planEntry says which file starts the guard, and its text.
func (g *target) planEntry(how string) (bootEntry, string) {
	name := "kasoku-revert-" + g.x.journal.project
	argv := commandLine([]string{g.program(), "guard", "boot", g.dir})
	switch how {
	case "systemd":
		after := []string{"local-fs.target"}
		if s := g.x.options.Stack; s != nil {
			for i := range s.Services {
				if svc := &s.Services[i]; svc.HostName() == g.name && svc.Control.Unit != "" {
					after = append(after, fullUnit(svc.Control.Unit))
					for _, v := range svc.Variants {
						if v.Control.Unit != "" {
							after = append(after, fullUnit(v.Control.Unit))
						}
					}
				}
			}
		}
		return bootEntry{How: how, Path: "/etc/systemd/system/" + name + ".service"}, fmt.Sprintf(`# Written by Kasoku, and removed by it. It puts this host back if it was
# restarted in the middle of a change.
[Unit]
Description=Put back what Kasoku has not decided upon (%s)
After=%s
ConditionPathExists=%s

[Service]
Type=oneshot
ExecStart=%s
TimeoutStartSec=1200

[Install]
WantedBy=multi-user.target
`, g.me.Name, strings.Join(after, " "), g.program(), argv)
	case "cron":
		return bootEntry{How: how, Path: "/etc/cron.d/" + name}, "# Written by Kasoku, and removed by it. It puts this host back if it was\n# restarted in the middle of a change.\n" +
			"SHELL=/bin/sh\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n@reboot root " + argv + "\n"
	}
	return bootEntry{}, ""
}

// fullUnit completes a unit's name as systemctl does.
func fullUnit(unit string) string {
	if strings.Contains(unit, ".") {
		return unit
	}
	return unit + ".service"
}

func (e bootEntry) install(ctx context.Context, h host.Host, text string) error {
	err := h.ReplaceFile(ctx, e.Path, []byte(text), host.Replace{Mode: 0o644, UID: -1, GID: -1})
	if errors.Is(err, host.ErrChanged) { // an interrupted Kasoku's
		err = putFile(ctx, h, e.Path, []byte(text))
	}
	if err == nil && e.How == "systemd" {
		err = systemctl(ctx, h, "daemon-reload")
		if err == nil {
			err = systemctl(ctx, h, "enable", filepath.Base(e.Path))
		}
	}
	if err != nil {
		return fmt.Errorf("install %s: %w", e.Path, err)
	}
	return nil
}

// remove may be repeated. A file that does not hold Kasoku's words is left.
func (e bootEntry) remove(ctx context.Context, h host.Host) error {
	if e.How == "" {
		return nil
	}
	b, err := readOwn(ctx, h, e.Path)
	if err == nil && b != nil && !strings.HasPrefix(string(b), "# Written by Kasoku") {
		return fmt.Errorf("remove %s: it is not Kasoku's any more; look at it", e.Path)
	}
	if err == nil && e.How == "systemd" {
		err = systemctl(ctx, h, "disable", filepath.Base(e.Path))
		if b == nil {
			err = nil // nothing is left to be disabled
		}
	}
	if err == nil && b != nil {
		err = h.Remove(ctx, e.Path, host.HashOf(b))
	}
	if err == nil && e.How == "systemd" {
		err = systemctl(ctx, h, "daemon-reload")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", e.Path, err)
	}
	return nil
}

func systemctl(ctx context.Context, h host.Host, args ...string) error {
	r, err := h.Run(ctx, host.Command{Argv: append([]string{"systemctl", "--quiet"}, args...), Timeout: mirrorTimeout})
	if err == nil && r.ExitCode != 0 {
		err = &exitError{"systemctl " + strings.Join(args, " "), r.ExitCode, tail(r)}
	}
	return err
}
