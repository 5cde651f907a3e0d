package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
)

// configFiles are the files that the service's configuration consists of, as
// far as they can be read.
func (p *probe) configFiles(ctx context.Context, svc *Service) []string {
	var out []string
	add := func(path string) {
		if path != "" && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	read, glob := hostRead(ctx, p.h), hostGlob(ctx, p.h)
	add(svc.Config)
	switch svc.Kind {
	case Nginx:
		if cfg, err := nginx.Load(svc.Config, svc.Prefix, read, glob); err == nil {
			for _, f := range cfg.Files {
				add(f.Path)
			}
		}
	case PHPFPM, MariaDB, MySQL:
		dialect := ini.FPM
		if svc.Kind != PHPFPM {
			dialect = ini.MySQL
		}
		if cfg, err := ini.Load(svc.Config, dialect, read, glob); err == nil {
			for _, f := range cfg.Files {
				add(f.Path)
			}
		}
	default: // one file, or includes that are not edited
	}
	if svc.IsHAProxy() && svc.Config != "" {
		if c, err := NewController(p.h, p.s, svc); err == nil {
			files, _ := c.HAProxyFiles(ctx)
			for _, f := range files {
				add(f)
			}
		}
	}
	add(svc.PHPIni)
	for _, f := range svc.Settings {
		add(f)
	}
	return out
}

// files asks whether the service's files can be replaced: by rename, so the
// folder must be writable, too, and a file of another owner cannot keep it.
func (p *probe) files(ctx context.Context, svc *Service) {
	for _, path := range p.configFiles(ctx, svc) {
		x := Right{Need: NeedWrite, Service: svc.Name, Object: path, Without: "changes of this file"}
		why, grant := p.writable(ctx, path)
		p.add(x, why, grant)
	}
}

func (p *probe) writable(ctx context.Context, path string) (why, grant string) {
	info, err := p.h.Stat(ctx, path)
	for range 8 { // symlinks are resolved, as ReplaceFile does
		if err != nil || info.Target == "" {
			break
		}
		if path = info.Target; !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(info.Path), path)
		}
		info, err = p.h.Stat(ctx, path)
	}
	dir := filepath.Dir(path)
	own := fmt.Sprintf("sudo chown %s: %s", p.me.name, shellWord(path))
	group := fmt.Sprintf("sudo setfacl -m u:%s:rwx %s", p.me.name, shellWord(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%s does not exist", path), ""
	case err != nil:
		return fmt.Sprintf("%s may not look at %s", p.me.name, path), group
	case p.me.root():
		if !p.test(ctx, "-w", dir) {
			return fmt.Sprintf("%s is on a read-only file system", dir), ""
		}
		return "", ""
	case !p.test(ctx, "-r", path):
		return fmt.Sprintf("%s may not read %s", p.me.name, path), own + " && " + group
	case info.UID != p.me.uid || !slices.Contains(p.me.groups, info.GID):
		grant = own
		if !p.test(ctx, "-w", dir) {
			grant += " && " + group
		}
		return fmt.Sprintf("%s belongs to another user or group, which %s cannot give a replaced file back to", path, p.me.name), grant
	case !p.test(ctx, "-w", dir):
		return fmt.Sprintf("%s may not write in %s, where a replacement is made", p.me.name, dir), group
	}
	return "", ""
}

// observation asks about what evidence reads: logs and the service's /proc.
func (p *probe) observation(ctx context.Context, svc *Service) {
	logs := slices.Clone(svc.Logs)
	if svc.AccessLog != "" {
		logs = append(logs, svc.AccessLog)
	}
	for _, f := range append(logs, readSettings(ctx, p.h, svc).logs...) {
		if slices.ContainsFunc(p.r.All, func(x Right) bool { return x.Service == svc.Name && x.Object == f }) {
			continue
		}
		x := Right{Need: NeedObserve, Service: svc.Name, Object: f, Without: "findings from this log, and its words in errors"}
		if !p.test(ctx, "-e", f) && p.test(ctx, "-x", filepath.Dir(f)) || p.test(ctx, "-r", f) {
			p.add(x, "", "")
			continue
		}
		p.add(x, fmt.Sprintf("%s may not read %s", p.me.name, f),
			fmt.Sprintf("sudo setfacl -m u:%s:rx %s && sudo setfacl -m u:%s:r %s", p.me.name, shellWord(filepath.Dir(f)), p.me.name, shellWord(f)))
	}
	p.processes(ctx, svc)
}

// processes asks whether the service's /proc files that only its user may read
// can be read: I/O, open files, environment.
func (p *probe) processes(ctx context.Context, svc *Service) {
	c, err := NewController(p.h, p.s, svc)
	if err != nil {
		return
	}
	m, err := c.master(ctx)
	if err != nil {
		return // activation tells that it does not run
	}
	x := Right{Need: NeedObserve, Service: svc.Name, Object: fmt.Sprintf("/proc/%d", m.pid),
		Without: "its I/O, open files and sockets, and the file limit and environment that a restart should keep"}
	// The link needs the same right as the files (ptrace(2), PTRACE_MODE_READ_FSCREDS).
	if link(ctx, p.h, m.pid, "exe") != "" {
		p.add(x, "", "")
		return
	}
	p.add(x, fmt.Sprintf("%s may not look into process %d of another user", p.me.name, m.pid),
		fmt.Sprintf("sudo setcap cap_sys_ptrace,cap_dac_read_search+ep %s", shellWord(self())))
}

// machine asks what holds for a whole host: profiles.
func (p *probe) machine(ctx context.Context, name string) {
	x := Right{Need: NeedObserve, Object: "perf", Without: "profiles of programs (perf)"}
	if lookUp(ctx, p.h, "perf") == "" {
		p.add(x, "perf is not installed on "+name, "sudo apt-get install linux-perf")
		return
	}
	// What the profiles need: all processes of the machine by the CPU's clock.
	res, err := run(ctx, p.h, "", 0, "perf", "stat", "-a", "-e", "cpu-clock", "--", "true")
	if err == nil && !strings.Contains(string(res.Stderr), "<not supported>") {
		p.add(x, "", "")
		return
	}
	level, _ := p.h.ReadFile(ctx, "/proc/sys/kernel/perf_event_paranoid")
	p.add(x, fmt.Sprintf("%s may not profile the machine (kernel.perf_event_paranoid is %s)", p.me.name, strings.TrimSpace(string(level))),
		"sudo sysctl kernel.perf_event_paranoid=-1")
}
