// Package topology_test shows on disposable hosts which host gets requests: nginx
// on the first, PHP-FPM on two, and a third that is spare.
package topology_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

// onBoth is the application on two hosts: it answers with the host's name.
const onBoth = `
umask 022
mkdir -p /srv/app
printf '<?php echo gethostname();' >/srv/app/index.php
cat >/etc/php/8.2/fpm/pool.d/www.conf <<'EOF'
[www]
user = www-data
group = www-data
listen = 9000
pm = static
pm.max_children = 4
EOF
systemctl restart php8.2-fpm.service
`

// onFirst is nginx as found: half of the requests for each of two hosts. One
// worker takes the servers in turn, so that shares are exact.
const onFirst = `
umask 022
cat >/etc/nginx/nginx.conf <<'EOF'
user www-data;
worker_processes 1;
pid /run/nginx.pid;
events { worker_connections 512; }
http {
    access_log off;
    upstream app {
        server 127.0.0.1:9000;
        server SECOND:9000; # the host beside
    }
    server {
        listen 80;
        location / {
            fastcgi_pass app;
            fastcgi_param SCRIPT_FILENAME /srv/app/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
        }
    }
}
EOF
systemctl restart nginx.service
`

const hostCount = 3

// site is the hosts and what Kasoku needs to work on them.
type site struct {
	t      *testing.T
	stack  *stack.Stack
	hosts  map[string]host.Host
	exec   *change.Executor
	client *http.Client
}

func start(t *testing.T) *site {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("disposable hosts need root, and take too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, lab.Options{Count: hostCount, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "redis-server", "supervisor"}})
	dir := t.TempDir()
	s := &site{t: t, hosts: map[string]host.Host{},
		stack: &stack.Stack{Version: 1, Dir: dir, Path: filepath.Join(dir, "kasoku.yaml"), Regulation: bed.Relaxed(), Load: stack.LoadConfig{URL: "http://h1"},
			Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Host: "h1", Binary: "/usr/sbin/nginx", Config: "/etc/nginx/nginx.conf", Prefix: "/usr/share/nginx",
				Listen: []string{"0.0.0.0:80"}, TalksTo: []string{"php1", "php2"}, Control: stack.Control{Unit: "nginx.service"}}}}}
	s.stack.Regulation.Install = false // or apt is asked on each host
	for i, h := range l.Hosts {
		c, err := ssh.Open(t.Context(), ssh.Options{Name: h.Name, Destination: h.SSHDestination, ConfigFile: l.SSHConfig, Programs: programs})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.hosts[h.Name] = c
		svc := stack.Service{Name: fmt.Sprintf("php%d", i+1), Kind: stack.PHPFPM, Host: h.Name, Binary: "/usr/sbin/php-fpm8.2", Config: "/etc/php/8.2/fpm/php-fpm.conf", PHPIni: "/etc/php/8.2/fpm/php.ini",
			Listen: []string{"0.0.0.0:9000"}, Control: stack.Control{Unit: "php8.2-fpm.service"}}
		if i < 2 {
			s.sh(h.Name, onBoth)
		} else { // spare, as the package leaves it, and off
			svc.SpareFor, svc.Listen = "php1", []string{h.Address + ":9000"}
			s.sh(h.Name, "systemctl disable -q --now php8.2-fpm.service")
		}
		s.stack.Services = append(s.stack.Services, svc)
	}
	s.stack.Services = append(s.stack.Services, stack.Service{Name: "app", Kind: stack.App, Host: "h1", Root: "/srv/app", RunsIn: "php1"})
	s.sh("h1", strings.Replace(onFirst, "SECOND", l.Hosts[1].Address, 1))
	s.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return l.Dial(ctx, network, address)
	}}}
	var err error
	if s.exec, err = tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), s.stack, s.hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.exec.Close() })
	return s
}

func (s *site) sh(hostName, script string) string {
	s.t.Helper()
	return bed.Shell(s.t, s.hosts[hostName], script)
}

// seen is all that undo must bring back.
func (s *site) seen() string {
	out := s.sh("h1", `find /etc/nginx -type f -exec sha256sum {} + | sort; stat -c '%n %a %u:%g %Y' /etc/nginx/nginx.conf`)
	for i := range hostCount {
		h := fmt.Sprintf("h%d", i+1)
		out += "\n" + h + " " + s.sh(h, `find /etc/php -type f -exec sha256sum {} + | sort | sha256sum; find /etc/systemd -printf '%p %m %l\n' | sort | sha256sum
find /srv -type f -printf '%p %m %u %g %T@\n' -o -printf '%p %m %u %g\n' | sort; find /srv -type f -exec sha256sum {} +
systemctl is-enabled php8.2-fpm.service || true; systemctl is-active php8.2-fpm.service || true`)
	}
	return out
}

func (s *site) get() (string, error) {
	res, err := s.client.Get("http://h1/")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return string(body), err
}

// answers are how many of a hundred requests each host answered: "h1 25 h2 75".
func (s *site) answers() string {
	s.t.Helper()
	by := map[string]int{}
	for range 100 {
		who, err := s.get()
		if err != nil {
			s.t.Fatal(err)
		}
		by[who]++
	}
	var out []string
	for i := range hostCount {
		if name := fmt.Sprintf("h%d", i+1); by[name] > 0 {
			out = append(out, fmt.Sprintf("%s %d", name, by[name]))
			delete(by, name)
		}
	}
	if len(by) > 0 {
		s.t.Fatalf("others answered: %v", by)
	}
	return strings.Join(out, " ")
}

// plans plans on what the hosts really have, for a run in which each of two PHP
// used php, and nginx on the first other, of 20 CPU seconds on each host.
func (s *site) plans(php, other float64) remedy.Result {
	s.t.Helper()
	snap, err := evidence.Take(s.t.Context(), s.stack, s.hosts, evidence.TakeOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	use := func(name string, busy float64) *evidence.System {
		return &evidence.System{Host: name, CPUs: 2, User: busy, Idle: 20 - busy, ServicesCPU: busy, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	}
	ev := &evidence.Evidence{System: *use("h1", php+other), Hosts: map[string]*evidence.System{"h2": use("h2", php), "h3": use("h3", 0)},
		Load: &load.Result{Workload: 8, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000, Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}}},
		Services: map[string]evidence.ServiceUse{"web": {CPU: other, Processes: 2}, "php1": {CPU: php, Processes: 5}, "php2": {CPU: php, Processes: 5},
			"php3": {}}}
	d, err := diagnose.Diagnose(diagnose.Input{Stack: s.stack, Evidence: ev, Snapshot: snap})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range d.NotJudged {
		if strings.HasPrefix(n.Rule, "topology.") {
			s.t.Logf("not judged: %s: %s", n.Rule, n.Why)
		}
	}
	return remedy.PlanAll(remedy.Input{Stack: s.stack, Evidence: ev, Snapshot: snap, Diagnosis: d})
}

// busily asks all the time while do runs; every answer must be right.
func (s *site) busily(do func() error) {
	s.t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var failed error
	asked := 0
	wg.Go(func() {
		for {
			if _, err := s.get(); err != nil && failed == nil {
				failed = err
			}
			asked++
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	err := do()
	close(stop)
	wg.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	if failed != nil {
		s.t.Errorf("while nginx was switched, of %d requests one failed: %v", asked, failed)
	}
}
