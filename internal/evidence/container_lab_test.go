package evidence

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	disposable "kasoku/lab"
	"kasoku/lab/labtest"
)

// TestContainersLive: two containers of this machine, of which one works, in processes
// that its unit has left to init and that are no main process of it. Each tells its own
// CPU time, and what one does is nobody's disturbance of the other.
func TestContainersLive(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("disposable hosts take too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, disposable.Options{Count: 2, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "nginx", "php8.2-fpm", "redis-server", "supervisor"}})
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	st := &stack.Stack{}
	for name, work := range map[string]string{"h1": `ExecStart=/bin/sh -c "sleep 1000"`,
		"h2": `Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c "(while :; do :; done) & (sleep 1000) &"`} {
		h, err := ssh.Open(t.Context(), ssh.Options{Name: name, Destination: name, ConfigFile: l.SSHConfig, Programs: programs})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		hosts[name] = h
		st.Services = append(st.Services, stack.Service{Name: "work-" + name, Kind: stack.App, Host: name, Control: stack.Control{Method: stack.MethodSystemd, Unit: "work.service"}})
		script := "printf '[Service]\\n" + work + "\\n' >/etc/systemd/system/work.service; systemctl daemon-reload; systemctl start work.service"
		res, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", script}, Timeout: time.Minute})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%s: %v %s", name, err, res.Stderr)
		}
	}
	c, err := NewCollector(t.Context(), st, hosts, CollectorOptions{Generator: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As much as can be told from a host that is idle, however long that takes here:
	// 150 ticks of 10 ms, utime and stime of proc_pid_stat(5).
	begun := time.Now()
	// The unit has no main process: it is the busy one of its control group.
	const works150 = `t() { for p in $(cat $(find /sys/fs/cgroup -path "*/work.service/cgroup.procs")); do
	set -- $(cut -d')' -f2 </proc/$p/stat); echo $((${12} + ${13})); done | sort -n | tail -1; }
a=$(t); [ "$a" ] || exit 1; while [ $(($(t) - a)) -lt 150 ]; do sleep 0.5; done`
	res, err := hosts["h2"].Run(t.Context(), host.Command{Argv: []string{"sh", "-c", works150}, Timeout: await.Limit})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%v %s", err, res.Stderr)
	}
	ev, err := c.Stop(context.Background(), &load.Result{Window: time.Since(begun)})
	if err != nil {
		t.Fatal(err)
	}
	idle, works, outer := ev.On("h1"), ev.On("h2"), ev.On(stack.LocalHost)
	if idle == nil || works == nil || outer == nil {
		t.Fatalf("hosts %v", ev.HostNames())
	}
	for name, sys := range map[string]*System{"h1": idle, "h2": works, "local": outer} {
		t.Logf("%s: own %.2f s, beside it %.2f, services %.2f, generator %.2f, foreign %.2f, neighbours %.2f", name, sys.User+sys.Sys, sys.Outside, sys.ServicesCPU, sys.GeneratorCPU, sys.ForeignCPU, sys.Neighbours)
	}
	// What the agents spend on looking grows with the time that a busy machine takes for this; it
	// is no part of what is compared. The service spent 150 ticks at least between the readings.
	own, spent := works.User+works.Sys, idle.User+idle.Sys-idle.GeneratorCPU
	if rest := own - works.GeneratorCPU; works.ServicesCPU < 1.5 || works.ServicesCPU < 0.8*rest || works.ServicesCPU > 1.2*rest {
		t.Errorf("h2 spent %.2f s, %.2f of it on looking, and its service %.2f; that worked for 1.5 s and more", own, works.GeneratorCPU, works.ServicesCPU)
	}
	if spent > own/4 {
		t.Errorf("h1, which is idle, spent %.2f s; h2 %.2f", spent, own)
	}
	for name, sys := range map[string]*System{"h1": idle, "local": outer} {
		if sys.Outside < 0.8*own {
			t.Errorf("%s: %.2f s are beside it, and h2 alone spent %.2f", name, sys.Outside, own)
		}
	}
	if rest := idle.Outside - idle.Neighbours; rest < 0.8*own {
		t.Errorf("of %.2f s beside h1, hosts of the stack explain %.2f; h2 spent %.2f", idle.Outside, rest, own)
	}
}
