// Package units_test shows on a disposable host with its own systemd what is
// planned for units: an agent is stopped and comes back, limits are raised by
// drop-ins whose folders go again.
package units_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

// found makes the host as it is found: an API whose unit is a package's, with
// low limits that it nearly uses up, and an agent that computes a good part of the time.
const found = `
cat >/usr/lib/systemd/system/api.service <<'EOF'
[Service]
LimitNOFILE=100
TasksMax=40
ExecStart=/bin/bash -c 'for i in {10..85}; do eval "exec $i</dev/null"; done; for i in {1..30}; do sleep 1000 & done; wait'
EOF
printf '#!/bin/bash\nwhile :; do for i in {1..20000}; do :; done; sleep 0.1; done\n' >/usr/local/bin/munin-node
chmod 755 /usr/local/bin/munin-node
printf '[Service]\nExecStart=/usr/local/bin/munin-node\n[Install]\nWantedBy=multi-user.target\n' >/usr/lib/systemd/system/munin-node.service
systemctl daemon-reload
systemctl enable -q munin-node.service
systemctl start munin-node.service api.service
`

// site is the host and what Kasoku needs to work on it.
type site struct {
	t     *testing.T
	stack *stack.Stack
	hosts map[string]host.Host
	exec  *change.Executor
}

func start(t *testing.T) *site {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("a disposable host needs root, and takes too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, lab.Options{Count: 1, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "nginx", "php8.2-fpm", "redis-server", "supervisor"}})
	h, err := ssh.Open(t.Context(), ssh.Options{Name: "h1", Destination: "h1", ConfigFile: l.SSHConfig, Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	dir := t.TempDir()
	s := &site{t: t, hosts: map[string]host.Host{"h1": h}}
	s.stack = &stack.Stack{Version: 1, Dir: dir, Path: filepath.Join(dir, "kasoku.yaml"), Regulation: bed.Relaxed(), Load: stack.LoadConfig{URL: "http://127.0.0.1"},
		Services: []stack.Service{{Name: "api", Kind: stack.App, Host: "h1", Control: stack.Control{Unit: "api"}, Health: stack.Health{Timeout: 20 * time.Second}}}}
	s.sh(found)
	if s.exec, err = tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), s.stack, s.hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.exec.Close() })
	return s
}

func (s *site) sh(script string) string {
	s.t.Helper()
	return bed.Shell(s.t, s.hosts["h1"], script)
}

// seen is all that undo must bring back.
func (s *site) seen() string {
	return s.sh(`find /etc/systemd -printf '%p %m %l\n' | sort
systemctl is-enabled munin-node.service || true; systemctl is-active munin-node.service api.service || true
systemctl show -p LimitNOFILE -p TasksMax api.service`)
}

// plans looks at the host for a second, in which a load ran as one that this
// host knows nothing of, and plans. pids is how many tasks the unit had: the
// limits of units have no effect in hosts like this.
func (s *site) plans(pids int64) remedy.Result {
	s.t.Helper()
	ev, snap := bed.Idle(s.t, s.stack, s.hosts)
	use := ev.Services["api"]
	s.t.Logf("api: %d of %d files, %+v; others %+v", use.OpenFiles, use.FileLimit, use.Cgroup, ev.System.Others)
	max := s.sh("systemctl show --value -p TasksMax api.service")
	use.Cgroup = &evidence.CgroupUse{Pids: pids}
	fmt.Sscan(max, &use.Cgroup.PidsLimit)
	ev.Services["api"] = use
	d, err := diagnose.Diagnose(diagnose.Input{Stack: s.stack, Evidence: ev, Snapshot: snap})
	if err != nil {
		s.t.Fatal(err)
	}
	return remedy.PlanAll(remedy.Input{Stack: s.stack, Evidence: ev, Snapshot: snap, Diagnosis: d})
}

// loops are how often two shells at once go round in a second of the host's.
const loops = `
for i in 1 2; do bash -c 'n=0; end=$((${EPOCHREALTIME/./} + 1000000)); while ((${EPOCHREALTIME/./} < end)); do ((n += 1)); done; echo $n' & done | awk '{n += $1} END {print n}'`

// effect is what the host does for others while the plan is in force.
func (s *site) effect(p remedy.Plan) {
	var tx change.Tx
	rate := func() (n float64) {
		if _, err := fmt.Sscan(s.sh(loops), &n); err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	effecttest.Measure(s.t, p, "loops of two shells/s", rate, rate, func() {
		var err error
		if tx, err = s.exec.Apply(s.t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes}); err != nil {
			s.t.Fatal(err)
		}
	}, func() {
		if err := s.exec.Revert(s.t.Context(), tx.ID); err != nil {
			s.t.Fatal(err)
		}
	})
}

func TestUnits(t *testing.T) {
	s := start(t)
	before := s.seen()
	bad := s.plans(31)
	var all []remedy.Plan
	for _, id := range []string{"host.agents", "kernel.files", "unit.tasks"} {
		p := bed.Want(t, bad, id)
		t.Logf("%s: %s", p.Title, p.Why)
		all = append(all, p)
	}
	if why := all[0].Why; !strings.Contains(why, "munin-node (munin-node.service)") || !strings.Contains(why, "%") {
		t.Errorf("the finding says %q", why)
	}
	for _, p := range all {
		t.Run(p.Remedy, func(t *testing.T) {
			s.t = t
			if p.Remedy == "host.agents" {
				s.effect(p)
			}
			tx, err := s.exec.Apply(context.WithoutCancel(t.Context()), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
			if err != nil {
				t.Fatal(err)
			}
			for _, again := range s.plans(31).Plans {
				if again.ID == p.ID {
					t.Errorf("%s is planned again although it is in force: %s", p.ID, again.Why)
				}
			}
			now := s.seen()
			for _, want := range map[string][]string{
				"host.agents":  {"disabled", "inactive\nactive"},
				"kernel.files": {"LimitNOFILE=4096", "/etc/systemd/system/api.service.d/zz-kasoku.conf"},
				"unit.tasks":   {"TasksMax=160", "/etc/systemd/system/api.service.d/zz-kasoku.conf"},
			}[p.Remedy] {
				if !strings.Contains(now, want) {
					t.Errorf("%q is not in\n%s", want, now)
				}
			}
			if err := s.exec.Revert(context.WithoutCancel(t.Context()), tx.ID); err != nil {
				t.Fatal(err)
			}
			if after := s.seen(); after != before {
				t.Errorf("the host is not as before:\n%s\nit was:\n%s", after, before)
			}
		})
	}
}
