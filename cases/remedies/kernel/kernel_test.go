// Package kernel_test shows the remedies of internal/remedy/kernel on the real
// kernel: in a network of its own where a setting belongs to one, else on the
// machine's own setting, which is put back within the test.
package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy"
)

func TestMain(m *testing.M) { os.Exit(bed.Private(m)) }

const users = 20

const nginxConf = `worker_processes 1;
@MAIN@
pid %DIR%/nginx.pid;
error_log %DIR%/error.log;
events { worker_connections 1000; }
http {
  access_log %DIR%/access.log;
  client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;
  server {
    listen 127.0.0.1:@PORT@ default_server;
    root %DIR%;
    location / { @LOCATION@ }
  }
}
`

const stackYAML = `version: 1
name: kernel
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["127.0.0.1:@PORT@"]
    control: {method: process, pid_file: %DIR%/nginx.pid, start: [/usr/sbin/nginx, -p, %DIR%, -c, %DIR%/nginx.conf]}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:@PORT@"}
tune: {max_foreign_cpu: 1}
`

const scenarioYAML = `version: 1
name: kernel
workload: @USERS@
warmup: 100ms
duration: 500ms
timeout: 10s
seed: 1
sessions:
  - name: page
    weight: 1
    steps:
      - {request: GET /page.txt, headers: {Accept-Encoding: gzip}, expect: {status: 200}}
`

// set writes a setting and puts it back after the test.
func set(t *testing.T, key, value string) {
	t.Helper()
	path := evidence.KernelPath(key)
	was := get(t, key)
	write := func(v string) error {
		defer hosttest.HoldMachine(t)() // others may compare it
		return os.WriteFile(path, []byte(v+"\n"), 0o644)
	}
	if err := write(value); err != nil {
		t.Skipf("%s cannot be set on this machine: %v", key, err)
	}
	t.Cleanup(func() {
		if err := write(was); err != nil {
			t.Error(err)
		}
	})
}

// get reads a setting as the snapshot has it.
func get(t *testing.T, key string) string {
	t.Helper()
	b, err := os.ReadFile(evidence.KernelPath(key))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(b)), " ")
	if _, rest, ok := strings.Cut(text, "["); ok {
		text, _, _ = strings.Cut(rest, "]")
	}
	return text
}

// page takes a worker some milliseconds to compress.
func page() string {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "line %d of a page, %x\n", i, i*i*7919)
	}
	return b.String()
}

// start makes the stack of one nginx in dir and runs it.
func start(t *testing.T, main, location, more string) *bed.Bed {
	t.Helper()
	bed.NeedPrivate(t)
	dir := bed.Folder(t)
	port := fmt.Sprint(bed.FreePort(t))
	fill := func(s string) string {
		return strings.NewReplacer("@PORT@", port, "@USERS@", fmt.Sprint(users), "@MAIN@", main, "@LOCATION@", location).Replace(s)
	}
	bed.Write(t, dir, "nginx.conf", fill(nginxConf))
	bed.Write(t, dir, "kasoku.yaml", fill(strings.Replace(stackYAML, "load:", more+"load:", 1)))
	bed.Write(t, dir, "scenario.yaml", fill(scenarioYAML))
	bed.Write(t, dir, "page.txt", page())
	bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
	bed.Output(t, "/usr/sbin/nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+port)
	return bed.Open(t, dir)
}

// slowly makes the one worker compress each answer and close the connection, so
// that others wait to be accepted meanwhile.
const slowly = "keepalive_timeout 0; gzip on; gzip_types text/plain; gzip_comp_level 9;"

// TestKernelBacklog: a queue of four for twenty users.
func TestKernelBacklog(t *testing.T) {
	bed.NeedPrivate(t)
	set(t, "net.core.somaxconn", "4")
	b := start(t, "", slowly, "")
	// Who finds the queue full tries again after a second (tcp(7), SYN retransmission).
	b.Bench.Window = 1500 * time.Millisecond
	before := b.Answers(t, "before").Evidence.Load
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		with := b.Answers(t, "with it").Evidence.Load
		t.Logf("%d users: %d right answers in %v before, %d with it", users, before.Succeeded, before.Window, with.Succeeded)
		if out := bed.Output(t, "ss", "-Hltn"); !strings.Contains(out, " 4096 ") || strings.Contains(out, " 4 ") {
			t.Errorf("it listens with another backlog:\n%s", out)
		}
		if text, err := os.ReadFile(change.SysctlFile); err != nil || !strings.Contains(string(text), "somaxconn") {
			t.Errorf("%s: %v\n%s", change.SysctlFile, err, text)
		}
	}, "kernel.backlog")
	if _, err := os.Stat(change.SysctlFile); err == nil {
		t.Errorf("%s is left", change.SysctlFile)
	}
	if n := get(t, "net.core.somaxconn"); n != "4" {
		t.Errorf("somaxconn is %s", n)
	}
	if out := bed.Output(t, "ss", "-Hltn"); !strings.Contains(out, " 4 ") {
		t.Errorf("it does not listen as before:\n%s", out)
	}
}

// TestKernelPorts: 24 local ports and 85 files for twenty users who keep their
// connections.
func TestKernelPorts(t *testing.T) {
	bed.NeedPrivate(t)
	// Open files are counted when the connections have gone: two hundred logs are
	// open all the time.
	logs := ""
	for i := range 200 {
		logs += fmt.Sprintf("access_log %%DIR%%/log%d; ", i)
	}
	b := start(t, "worker_rlimit_nofile 240;", `return 200 "hello\n"; } location /logs/ { `+logs, "")
	set(t, "net.ipv4.ip_local_port_range", "20000 20023") // the server has its port
	inForce := func(t *testing.T, p remedy.Plan) {
		switch p.Remedy {
		case "kernel.ports":
			port := b.Stack.Load.URL[strings.LastIndexByte(b.Stack.Load.URL, ':')+1:]
			if get(t, "net.ipv4.ip_local_port_range") != "10000 65535" || get(t, "net.ipv4.ip_local_reserved_ports") != port {
				t.Errorf("ports %s, reserved %s", get(t, "net.ipv4.ip_local_port_range"), get(t, "net.ipv4.ip_local_reserved_ports"))
			}
		case "kernel.files":
			if out := bed.Output(t, "sh", "-c", "cat /proc/$(pgrep -P $(cat "+b.Dir+"/nginx.pid) | tail -n 1)/limits"); !strings.Contains(out, "4096                 4096                 files") {
				t.Errorf("limits of a worker:\n%s", out)
			}
		}
	}
	b.Show(t, inForce, "kernel.ports")
	if get(t, "net.ipv4.ip_local_port_range") != "20000 20023" || get(t, "net.ipv4.ip_local_reserved_ports") != "" {
		t.Errorf("ports %s, reserved %s", get(t, "net.ipv4.ip_local_port_range"), get(t, "net.ipv4.ip_local_reserved_ports"))
	}
	// A run needs twenty ports, which the one before it holds for another second
	// (TIME-WAIT; ip-sysctl, tcp_tw_reuse).
	set(t, "net.ipv4.ip_local_port_range", "10000 65535")
	b.Show(t, inForce, "kernel.files")
}
