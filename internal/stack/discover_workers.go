package stack

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// consoles are programs of people at work, not of a service, whoever started them.
var consoles = []string{"mysql", "mariadb", "mysqldump", "mariadb-dump", "redis-cli", "ssh", "sshd", "tmux", "screen"}

// workers finds the applications' background work: queue workers, schedulers, loops that
// ask the application again and again. No request passes through them, but they use the
// same machine, and what visitors wait for may be theirs to do. They are processes that
// a service manager started or that nobody waits for, and that
//
//   - hold a connection to a database or cache of the stack, or
//   - are of a unit that somebody wrote for this machine (not a package's) and work as
//     the same user, in the same folder or with the same settings file as an application.
func (d *discovery) workers(ctx context.Context) {
	apps := d.ownApps()
	if len(apps) == 0 {
		return
	}
	taken, units := map[int]bool{}, map[string]bool{}
	for _, in := range d.found {
		units[in.svc.Control.Unit] = true
		for _, pid := range in.pids {
			taken[pid] = true
		}
	}
	peers := d.unixPeers(ctx)
	for _, p := range d.procs.sorted() {
		if taken[p.pid] || p.pid == 1 || len(p.cmdline) == 0 || slices.Contains(consoles, p.comm) || d.elsewhere(ctx, p) {
			continue
		}
		in := &instance{master: p, pids: d.procs.family(p.pid)}
		unit := d.unitOf(ctx, p)
		if units[unit] && unit != "" || unit == "" && !d.alone(p) {
			continue
		}
		in.svc = Service{Kind: App, Host: d.place.Name, Binary: link(ctx, d.h, p.pid, "exe"), Root: link(ctx, d.h, p.pid, "cwd")}
		if in.svc.Root == "/" {
			in.svc.Root = ""
		}
		if d.readSockets(ctx, in) != nil || ctx.Err() != nil {
			return
		}
		how := d.works(ctx, in, unit, apps, peers)
		if how == "" {
			continue
		}
		for _, pid := range in.pids {
			taken[pid] = true
		}
		d.addWorker(ctx, in, how)
		units[in.svc.Control.Unit] = true
	}
	d.sort()
}

func (d *discovery) addWorker(ctx context.Context, in *instance, how string) {
	in.worker, in.svc.Name = true, d.freeName("worker")
	d.found = append(d.found, in)
	d.settled(ctx, in, nil)
	d.control(ctx, in)
	d.inferRoot(ctx, in)
	d.settings(ctx, in)
	d.environment(ctx, in, d.stores())
	what := in.svc.Control.Unit
	if what == "" {
		what = fmt.Sprintf("process %d, %s", in.master.pid, in.master.comm)
	}
	d.note("%s (%s) is taken for background work of the application, because it %s; if it is none of this service, take it out.", in.svc.Name, what, how)
}

// ownApps are the applications with processes of their own, and those that run in others'.
func (d *discovery) ownApps() []*instance {
	var out []*instance
	for _, in := range d.found {
		if in.svc.Kind == App {
			out = append(out, in)
		}
	}
	return out
}

// unitOf is the unit of a process on a host that systemd runs; "" if it is of none.
func (d *discovery) unitOf(ctx context.Context, p *process) string {
	if init := d.procs.byPID[1]; init == nil || init.comm != "systemd" {
		return ""
	}
	data, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/cgroup", p.pid))
	if err != nil {
		return ""
	}
	return parseCgroupUnit(data)
}

// alone reports whether nobody waits for a process: it is init's child, or supervisord's.
func (d *discovery) alone(p *process) bool {
	if init := d.procs.byPID[1]; init != nil && init.comm == "systemd" {
		return false // there, a service is a unit
	}
	parent := d.procs.byPID[p.ppid]
	return p.ppid == 1 || parent != nil && strings.HasPrefix(parent.comm, "supervisord")
}

// works says what makes a process the applications' background work; "" if nothing does.
func (d *discovery) works(ctx context.Context, in *instance, unit string, apps []*instance, peers map[uint64]string) string {
	for _, to := range d.found {
		if !to.svc.IsDatabase() && to.svc.Kind != Memcached && to.svc.Kind != Redis {
			continue
		}
		for _, s := range in.sockets {
			near := s.connected && s.path == "" && s.remote.IsValid() && reaches([]string{s.remote.String()}, to.svc.Listen)
			if at := peers[s.inode]; near || at != "" && slices.Contains(to.svc.Listen, "unix:"+at) {
				return "holds a connection to " + to.svc.Name
			}
		}
	}
	if unit == "" {
		return ""
	}
	show := func(unit, name string) string {
		return strings.TrimSpace(d.output(ctx, "systemctl", "show", "--property="+name, "--value", unit))
	}
	if file := show(unit, "FragmentPath"); !strings.HasPrefix(file, "/etc/") && !strings.HasPrefix(file, "/usr/local/") {
		return ""
	}
	user, files := show(unit, "User"), filesOf(show(unit, "EnvironmentFiles"))
	for _, app := range apps {
		if root := app.svc.Root; root != "" && (Below(root, in.svc.Root) || Below(root, in.svc.Binary)) {
			return "runs in " + root + " as " + app.svc.Name + " does"
		}
		if app.svc.Control.Unit == "" {
			continue
		}
		for _, f := range filesOf(show(app.svc.Control.Unit, "EnvironmentFiles")) {
			if slices.Contains(files, f) {
				return "has its settings from " + f + " as " + app.svc.Name + " has"
			}
		}
		if user != "" && user != "root" && user == show(app.svc.Control.Unit, "User") {
			return "works as " + user + " as " + app.svc.Name + " does"
		}
	}
	return ""
}

// filesOf are the paths in systemd's EnvironmentFiles property: "/srv/env (ignore_errors=no)".
func filesOf(property string) []string {
	var out []string
	for line := range strings.Lines(property) {
		if file, _, _ := strings.Cut(strings.TrimSpace(line), " ("); filepath.IsAbs(file) {
			out = append(out, path.Clean(file))
		}
	}
	return out
}
