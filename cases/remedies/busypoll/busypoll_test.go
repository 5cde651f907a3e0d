// Package busypoll_test shows the remedy of waiting for the network's interrupts
// on the real kernel. Its settings are of the machine's first network only, so
// this is not among the tests of the other kernel settings.
package busypoll_test

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
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

func TestMain(m *testing.M) { os.Exit(bed.PrivateFiles(m)) }

var keys = []string{"net.core.busy_read", "net.core.busy_poll"}

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
	return bed.Open(t, dir)
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

func TestBusyPoll(t *testing.T) {
	bed.NeedPrivate(t)
	b := site(t)
	for _, key := range keys {
		was := get(t, key)
		put := func(v string) error { return os.WriteFile(evidence.KernelPath(key), []byte(v+"\n"), 0o644) }
		if err := put("0"); err != nil {
			t.Skipf("%s cannot be set on this machine: %v", key, err)
		}
		t.Cleanup(func() {
			if err := put(was); err != nil {
				t.Error(err)
			}
		})
	}
	b.Window = 300 * time.Millisecond
	in := b.Look(t, bed.Relaxed())
	for _, p := range remedy.PlanAll(in).Plans {
		if p.Remedy == "kernel.busy-poll" {
			t.Fatalf("planned on loopback: %s", p.Why)
		}
	}
	idleAndFar(&in)
	before := b.Hash(t)
	p := bed.Want(t, planned(t, b, in), "kernel.busy-poll")
	tx := b.Apply(t, p)
	text, err := os.ReadFile(change.SysctlFile)
	for _, key := range keys {
		if get(t, key) != "50" || err != nil || !strings.Contains(string(text), key+" = 50\n") {
			t.Errorf("%s is %s; %v\n%s", key, get(t, key), err, text)
		}
	}
	b.Answers(t, "polling")
	for _, q := range planned(t, b, in).Plans {
		if q.Remedy == p.Remedy {
			t.Errorf("planned again although it is in force: %s", q.ID)
		}
	}
	b.Revert(t, tx)
	for _, key := range keys {
		if get(t, key) != "0" {
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
