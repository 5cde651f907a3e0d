package stack

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// unitHost is this machine with a systemd that knows some units' properties.
type unitHost struct {
	*host.Local
	unitOf map[int]string               // by PID
	show   map[string]map[string]string // by unit and property
}

func (h *unitHost) ReadFile(ctx context.Context, name string) ([]byte, error) {
	var pid int
	if _, err := fmt.Sscanf(name, "/proc/%d/cgroup", &pid); err == nil && strings.HasSuffix(name, "/cgroup") && h.unitOf[pid] != "" {
		return []byte("0::/system.slice/" + h.unitOf[pid] + "\n"), nil
	}
	return h.Local.ReadFile(ctx, name)
}

func (h *unitHost) Run(ctx context.Context, c host.Command) (host.Result, error) {
	if c.Argv[0] != "systemctl" {
		return h.Local.Run(ctx, c)
	}
	unit, property := c.Argv[len(c.Argv)-1], strings.TrimPrefix(c.Argv[2], "--property=")
	if property == "LoadState" {
		return host.Result{Stdout: []byte("loaded\n")}, nil
	}
	return host.Result{Stdout: []byte(h.show[unit][property] + "\n")}, nil
}

// running starts a program that waits in a folder.
func running(t *testing.T, dir string, argv ...string) int {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c.Process.Pid
}

// Units that somebody wrote for the application run beside it, and are found by what
// they share with it: a settings file, the user, the folder.
func TestWorkersOfUnits(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	h := &unitHost{Local: host.NewLocal(), unitOf: map[int]string{}, show: map[string]map[string]string{
		"app.service":      {"FragmentPath": "/etc/systemd/system/app.service", "User": "shop", "EnvironmentFiles": "/srv/env.sh (ignore_errors=no)"},
		"queue.service":    {"FragmentPath": "/etc/systemd/system/queue.service", "EnvironmentFiles": "/srv/env.sh (ignore_errors=no)"},
		"clock.service":    {"FragmentPath": "/etc/systemd/system/clock.service", "User": "shop"},
		"folder.service":   {"FragmentPath": "/etc/systemd/system/folder.service"},
		"backup.service":   {"FragmentPath": "/etc/systemd/system/backup.service", "User": "backup", "EnvironmentFiles": "/srv/backup.env (ignore_errors=no)"},
		"packaged.service": {"FragmentPath": "/lib/systemd/system/packaged.service", "User": "shop"},
	}}
	found := map[int]string{}
	for unit := range h.show {
		dir := other
		if unit == "folder.service" {
			dir = root
		}
		for range 2 { // of which one belongs to the other
			pid := running(t, dir, "sleep", "1000")
			h.unitOf[pid], found[pid] = unit, unit
		}
	}
	procs, err := readProcesses(t.Context(), h.Local)
	must(t, err)
	for pid := range procs.byPID {
		if pid != 1 && found[pid] == "" {
			delete(procs.byPID, pid)
		}
	}
	procs.byPID[1].comm = "systemd"
	d := &discovery{place: Place{Name: LocalHost}, h: h, procs: procs}
	d.all = []*discovery{d}
	d.found = []*instance{{svc: Service{Name: "app", Kind: App, Root: root, Control: Control{Method: MethodSystemd, Unit: "app.service"}}}}
	d.workers(t.Context())
	var units []string
	for _, in := range d.found[1:] {
		if !strings.HasPrefix(in.svc.Name, "worker") || in.svc.Kind != App || len(in.svc.Listen) > 0 || !in.worker {
			t.Errorf("%+v", in.svc)
		}
		units = append(units, in.svc.Control.Unit)
	}
	slices.Sort(units)
	if want := []string{"clock.service", "folder.service", "queue.service"}; !slices.Equal(units, want) {
		t.Errorf("workers %v, want %v\n%s", units, want, strings.Join(d.notes, "\n"))
	}
	for _, want := range []string{"(queue.service)", "has its settings from /srv/env.sh as app has", "works as shop as app does", "runs in " + root + " as app does"} {
		if !strings.Contains(strings.Join(d.notes, "\n"), want) {
			t.Errorf("no note says %q:\n%s", want, strings.Join(d.notes, "\n"))
		}
	}
}

// Without systemd, a worker is a process that nobody waits for and that holds a
// connection to a database or cache of the stack.
func TestWorkersByConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	address := l.Addr().String()
	connected := running(t, "/", "bash", "-c", "exec 3<>/dev/tcp/"+strings.ReplaceAll(address, ":", "/")+"; sleep 1000; true")
	asked := running(t, "/", "bash", "-c", "exec 3<>/dev/tcp/"+strings.ReplaceAll(address, ":", "/")+"; sleep 1000; true")
	idle := running(t, "/", "sleep", "1000")
	h := host.NewLocal()
	await.For(t, "both are connected", func() bool {
		table, err := readSockets(t.Context(), h, connected)
		must(t, err)
		a, _ := table.of(t.Context(), h, []int{connected})
		b, _ := table.of(t.Context(), h, []int{asked})
		return slices.ContainsFunc(a, func(s socket) bool { return s.connected }) && slices.ContainsFunc(b, func(s socket) bool { return s.connected })
	})
	procs, err := readProcesses(t.Context(), h)
	must(t, err)
	for pid, p := range procs.byPID {
		switch {
		case pid == connected || pid == idle:
			p.ppid = 1
		case pid != 1 && pid != asked:
			delete(procs.byPID, pid)
		}
	}
	procs.byPID[1].comm = "tini"
	d := &discovery{place: Place{Name: LocalHost}, h: h, procs: procs}
	d.all = []*discovery{d}
	d.found = []*instance{{svc: Service{Name: "app", Kind: App}}, {svc: Service{Name: "db", Kind: MariaDB, Listen: []string{address}}}}
	d.workers(t.Context())
	if len(d.found) != 3 || d.found[1].master == nil || d.found[1].master.pid != connected || d.found[1].svc.Name != "worker" {
		t.Errorf("found %d services, notes %q", len(d.found), d.notes)
	}
	if !slices.ContainsFunc(d.notes, func(n string) bool { return strings.Contains(n, "holds a connection to db") }) {
		t.Error(d.notes)
	}
}
