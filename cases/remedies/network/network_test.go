// Package network_test shows remedies on the real kernel whose settings only the
// machine's first network has, so that they cannot be shown in a network of
// their own as those of cases/remedies/kernel.
package network_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

func TestMain(m *testing.M) { os.Exit(bed.PrivateFiles(m)) }

func get(t *testing.T, key string) string {
	t.Helper()
	text, err := os.ReadFile(evidence.KernelPath(key))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// site is an nginx that answers by itself.
func site(t *testing.T) *bed.Bed {
	t.Helper()
	dir, port := bed.Folder(t), fmt.Sprint(bed.FreePort(t))
	bed.Write(t, dir, "nginx.conf", "pid %DIR%/nginx.pid;\nerror_log %DIR%/error.log;\nevents { worker_connections 256; }\nhttp { access_log off; client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;\n  server { listen 127.0.0.1:"+port+"; location / { return 200 \"hello\\n\"; } }\n}\n")
	bed.Write(t, dir, "kasoku.yaml", "version: 1\nservices:\n  - {name: web, kind: nginx, binary: /usr/sbin/nginx, config: nginx.conf, prefix: %DIR%, listen: [\"127.0.0.1:"+port+"\"], control: {pid_file: nginx.pid}}\nload: {scenario: scenario.yaml, url: \"http://127.0.0.1:"+port+"\"}\nevidence: {profile: \"off\"}\n")
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: hello\nworkload: 4\nsessions:\n  - name: s\n    steps:\n      - {request: GET /, expect: {contains: [hello]}}\n")
	bed.StopByPIDFile(t, dir+"/nginx.pid")
	bed.Output(t, "/usr/sbin/nginx", "-p", dir, "-c", dir+"/nginx.conf")
	bed.Await(t, "127.0.0.1:"+port)
	b := bed.Open(t, dir)
	b.Window = 300 * time.Millisecond
	return b
}

// idleAndFar makes of a run one whose web server waits for a database on
// another host while all CPUs are idle: there is no second host here.
func idleAndFar(in *remedy.Input) {
	st := *in.Stack
	st.Services = append(st.Services, stack.Service{Name: "db", Kind: stack.MariaDB, Host: "db1", Config: "/etc/mysql/my.cnf"})
	st.Service("web").TalksTo = []string{"db"}
	in.Stack = &st
	ev := in.Evidence
	ev.Load.Workload = 64
	for i := range ev.Load.Routes {
		ev.Load.Routes[i].Total = 60 * ev.Load.Window
	}
	cpu := float64(ev.System.CPUs) * ev.Load.Window.Seconds()
	ev.System.User, ev.System.Sys, ev.System.Idle, ev.System.Outside, ev.System.ForeignCPU = 0.1*cpu, 0.05*cpu, 0.85*cpu, 0, 0
	ev.System.Disks = nil
	for name, use := range ev.Services {
		use.Busiest = 0
		ev.Services[name] = use
	}
	ev.System.Networks = []evidence.NetworkUse{{Name: "eth0", ReceivePackets: 20 * float64(ev.Load.Succeeded) / ev.Load.Window.Seconds()}}
	ev.Hosts = map[string]*evidence.System{"db1": {Host: "db1", CPUs: 2, User: 0.1 * cpu, Idle: 0.9 * cpu}}
}

// planned diagnoses and plans from the same signs with the kernel as it is now.
func planned(t *testing.T, b *bed.Bed, in remedy.Input) remedy.Result {
	t.Helper()
	in.Snapshot = b.Snapshot(t)
	var err error
	if in.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot}); err != nil {
		t.Fatal(err)
	}
	return remedy.PlanAll(in)
}

// begin gives a setting a value for the time of the test.
func begin(t *testing.T, key, value string) {
	t.Helper()
	if _, err := os.Stat(evidence.KernelPath(key)); err != nil {
		t.Skipf("this kernel has no %s", key)
	}
	was := get(t, key)
	put := func(v string) error { return os.WriteFile(evidence.KernelPath(key), []byte(v+"\n"), 0o644) }
	if err := put(value); err != nil {
		t.Skipf("%s cannot be set on this machine: %v", key, err)
	}
	t.Cleanup(func() {
		if err := put(was); err != nil {
			t.Error(err)
		}
	})
}

// TestNetworkSettings: each from its sign, which is put into the evidence:
// loopback drops nothing and has no interrupts, and there is no second host.
func TestNetworkSettings(t *testing.T) {
	bed.NeedPrivate(t)
	b := site(t)
	for _, c := range []struct {
		id        string
		sign      func(in *remedy.Input)
		was, want map[string]string
	}{
		{"kernel.busy-poll", idleAndFar,
			map[string]string{"net.core.busy_read": "0", "net.core.busy_poll": "0"}, map[string]string{"net.core.busy_read": "50", "net.core.busy_poll": "50"}},
		{"kernel.softnet", func(in *remedy.Input) { in.Evidence.System.Kernel.SoftnetDropped = 100 },
			map[string]string{"net.core.netdev_max_backlog": "1000"}, map[string]string{"net.core.netdev_max_backlog": "4096"}},
		{"kernel.conntrack", func(in *remedy.Input) {
			in.Evidence.System.Kernel.Tracked, in.Evidence.System.Kernel.TrackedMax = 60000, 65536
		}, map[string]string{"net.netfilter.nf_conntrack_max": "65536"}, map[string]string{"net.netfilter.nf_conntrack_max": "131072"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Cleanup(hosttest.HoldMachine(t)) // released after what begin puts back
			for key, value := range c.was {
				begin(t, key, value)
			}
			in := b.Look(t, bed.Relaxed())
			for _, p := range remedy.PlanAll(in).Plans {
				if p.Remedy == c.id {
					t.Fatalf("planned without its sign: %s", p.Why)
				}
			}
			c.sign(&in)
			prove(t, b, in, c.id, c.was, c.want)
		})
	}
}

// prove applies the remedy that the signs ask for on the real kernel, sees it in
// force and no longer planned, and takes it back.
func prove(t *testing.T, b *bed.Bed, in remedy.Input, id string, was, want map[string]string) {
	t.Helper()
	before := b.Hash(t)
	p := bed.Want(t, planned(t, b, in), id)
	tx := b.Apply(t, p)
	text, err := os.ReadFile(change.SysctlFile)
	for key, value := range want {
		if get(t, key) != value || err != nil || !strings.Contains(string(text), key+" = "+value+"\n") {
			t.Errorf("%s is %s, want %s; %v\n%s", key, get(t, key), value, err, text)
		}
	}
	b.Answers(t, id)
	if id == "kernel.conntrack" {
		in.Evidence.System.Kernel.TrackedMax = 131072 // what a run would read now
	}
	for _, q := range planned(t, b, in).Plans {
		if q.Remedy == p.Remedy && (q.ID == p.ID || id != "kernel.softnet") { // packets that are dropped still ask for more
			t.Errorf("planned again although it is in force: %s", q.ID)
		}
	}
	b.Revert(t, tx)
	for key, value := range was {
		if get(t, key) != value {
			t.Errorf("%s is %s after the undo", key, get(t, key))
		}
	}
	if b.Hash(t) != before {
		t.Error("the target is not as before")
	}
	if _, err := os.Stat(change.SysctlFile); err == nil {
		t.Errorf("%s is still there", change.SysctlFile)
	}
}
