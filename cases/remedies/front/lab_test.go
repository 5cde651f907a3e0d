package front_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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

// wikiPackages are those of the hosts of cases/wiki, whose base this shares:
// Apache with PHP in it, and no nginx.
var wikiPackages = strings.Split("apache2,libapache2-mod-php,mediawiki,php-cli,php-mysql,php-intl,php-mbstring,php-xml,mariadb-server,mariadb-client,curl,procps", ",")

const labYAML = `version: 1
name: front
hosts: {%s}
services:
  - {name: httpd, kind: apache, host: h1, binary: /usr/sbin/apache2, config: /etc/apache2/apache2.conf, prefix: /etc/apache2, listen: ["0.0.0.0:80"], control: {unit: apache2.service}}
  - {name: app, kind: app, host: h1, root: /var/www/html, runs_in: httpd}
  - {name: front, kind: nginx, host: h1, front_for: httpd, talks_to: [httpd], binary: /usr/sbin/nginx, config: /etc/nginx/nginx.conf, prefix: /usr/share/nginx, control: {unit: nginx.service}}
load: {scenario: s.yaml, url: "http://h1"}
`

// labSpare is a service more, on a second host. kasoku.yaml names it by the address
// that others call, while Apache listens on all.
const labSpare = `  - {name: httpd2, kind: apache, host: h2, spare_for: httpd, binary: /usr/sbin/apache2, config: /etc/apache2/apache2.conf, prefix: /etc/apache2, listen: ["%s:80"], control: {unit: apache2.service}}
`

// labSite is a disposable host with Debian's Apache as the package leaves it.
type labSite struct {
	t      *testing.T
	stack  *stack.Stack
	hosts  map[string]host.Host
	exec   *change.Executor
	client *http.Client
	last   time.Time
}

// did tells how long a step took; nothing is asserted of it.
func (x *labSite) did(what string) {
	if !x.last.IsZero() {
		x.t.Logf("%s in %s", what, time.Since(x.last).Round(time.Millisecond))
	}
	x.last = time.Now()
}

// labScript makes Apache serve a page, and gives apt an archive that has nginx
// and nothing else; the disposable host reaches no other.
const labScript = `
umask 022
rm -f /etc/apache2/conf-enabled/mediawiki.conf /var/www/html/index.html
printf '<?php echo "for ", $_SERVER["REMOTE_ADDR"], " at ", $_SERVER["SERVER_PORT"];' >/var/www/html/index.php
systemctl enable -q apache2; systemctl restart apache2
rm -f /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv/archive ./' >/etc/apt/sources.list
rm -f /var/lib/man-db/auto-update
apt-get update -qq -o APT::Sandbox::User=root
`

// labSpareScript: the second host has the packages, and serves nothing.
const labSpareScript = `
systemctl disable -q --now apache2
rm -rf /etc/apache2/conf-enabled/mediawiki.conf /var/www/html
`

// startLab with one host, or with a spare one, too.
func startLab(t *testing.T, count int) *labSite {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("disposable hosts need root, and take too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, lab.Options{Count: count, Packages: wikiPackages, Off: []string{"mariadb"}, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH)})
	dir := t.TempDir()
	x := &labSite{t: t, last: time.Now(), hosts: map[string]host.Host{"local": host.NewLocal()}}
	var named []string
	for i, h := range l.Hosts {
		name := fmt.Sprintf("h%d", i+1)
		c, err := ssh.Open(t.Context(), ssh.Options{Name: name, Destination: h.SSHDestination, ConfigFile: l.SSHConfig, Programs: programs})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		x.hosts[name] = c
		named = append(named, fmt.Sprintf("%s: {ssh: %q, ssh_config: %q}", name, h.SSHDestination, l.SSHConfig))
	}
	text := fmt.Sprintf(labYAML, strings.Join(named, ", "))
	if count > 1 {
		text = strings.Replace(text, "load: {", fmt.Sprintf(labSpare, l.Hosts[1].Address)+"load: {", 1)
		bed.Shell(t, x.hosts["h2"], labSpareScript)
	}
	bed.Write(t, dir, "kasoku.yaml", text)
	var err error
	if x.stack, err = stack.Load(filepath.Join(dir, "kasoku.yaml")); err != nil {
		t.Fatal(err)
	}
	x.stack.Regulation = bed.Relaxed()
	archive := filepath.Join(dir, "archive")
	bed.Output(t, "sh", "-ec", `mkdir -p "$1"; chmod 755 "$1"; cd "$1"; apt-get -qq -o APT::Sandbox::User=root download nginx nginx-common; dpkg-scanpackages -m . >Packages 2>/dev/null`, "sh", archive)
	x.sh("mkdir -p /srv/archive")
	entries, err := os.ReadDir(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(archive, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := x.hosts["h1"].ReplaceFile(t.Context(), "/srv/archive/"+e.Name(), data, host.Replace{Mode: 0o644, UID: -1, GID: -1}); err != nil {
			t.Fatal(err)
		}
	}
	x.sh(labScript)
	x.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return l.Dial(ctx, network, address)
	}}}
	if x.exec, err = tune.OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), x.stack, x.hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.exec.Close() })
	return x
}

func (x *labSite) sh(script string) string {
	x.t.Helper()
	return bed.Shell(x.t, x.hosts["h1"], script)
}

// seen is all that undo must bring back.
func (x *labSite) seen() string { return x.seenOn("h1") }

func (x *labSite) seenOn(name string) string {
	x.t.Helper()
	return bed.Shell(x.t, x.hosts[name], `dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n'; apt-mark showmanual | sort
find /etc/apache2 /etc/nginx /etc/systemd/system /etc/default /etc/logrotate.d /etc/ufw /etc/init.d -printf '%p %m %u %g %l\n' 2>/dev/null | sort || true
find /etc/apache2 -type f -printf '%p %T@\n' -exec sha256sum {} + | sort
ls -d /var/www/html /var/log/nginx /var/lib/nginx /usr/share/nginx /usr/sbin/nginx 2>/dev/null || true
systemctl is-active apache2 || true; systemctl is-enabled apache2 || true; systemctl is-active nginx || true`)
}

func (x *labSite) get() string { return x.page("/") }

func (x *labSite) page(path string) string {
	x.t.Helper()
	res, err := x.client.Get("http://h1" + path)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return res.Status + " " + string(text)
}

// plans plans on what the host really has, after a run in which Apache said
// that its workers were all in use, and pages were the same for all strangers.
func (x *labSite) plans() remedy.Result {
	x.t.Helper()
	return x.plan(&evidence.Evidence{
		System: evidence.System{Host: "h1", CPUs: 2, User: 16, Idle: 4, ServicesCPU: 16, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30,
			TCP: evidence.TCPUse{Queues: []evidence.AcceptQueue{{Listen: "[::]:80", Service: "httpd", Longest: 300, Limit: 511}}}},
		Load: &load.Result{Workload: 200, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000, Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}},
			Pages: []load.PageSample{{URL: "/", Route: "GET /", Status: 200, Count: 800, Total: 60 * time.Second, Confirmed: true}}},
		Services: map[string]evidence.ServiceUse{"httpd": {CPU: 16, Processes: 150}},
		Logs:     []evidence.LogLine{{Service: "httpd", Level: "error", Text: "AH00161: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting", Count: 1}}})
}

// plan plans on what the hosts really have, after a run that saw ev.
func (x *labSite) plan(ev *evidence.Evidence) remedy.Result {
	x.t.Helper()
	snap, err := evidence.Take(x.t.Context(), x.stack, x.hosts, evidence.TakeOptions{})
	if err != nil {
		x.t.Fatal(err)
	}
	d, err := diagnose.Diagnose(diagnose.Input{Stack: x.stack, Evidence: ev, Snapshot: snap})
	if err != nil {
		x.t.Fatal(err)
	}
	return remedy.PlanAll(remedy.Input{Stack: x.stack, Evidence: ev, Snapshot: snap, Diagnosis: d})
}

// TestNginxInstalledInFront: where nginx is not there, its package comes before
// and goes after, and the host then is as it was.
func TestNginxInstalledInFront(t *testing.T) {
	t.Parallel() // disposable hosts are mostly waited for
	x := startLab(t, 1)
	x.did("set the host up")
	before, page, listening := x.seen(), x.get(), x.listening()
	if !strings.HasPrefix(page, "200 OK for ") || !strings.HasSuffix(page, " at 80") {
		t.Fatal(page)
	}
	x.stack.Regulation.Install = false
	refused := slices.ContainsFunc(x.plans().Refusals, func(r remedy.Refusal) bool {
		return r.Plan.Remedy == id && strings.Contains(r.Why, "install: true")
	})
	if !refused {
		t.Error("a package may not be installed, and that is not the reason given")
	}
	x.stack.Regulation.Install = true
	p := bed.Want(t, x.plans(), id+":httpd")
	x.did("planned twice")
	under := x.prepare(p, func() {
		if now := x.get(); now != page {
			t.Errorf("while it is prepared: %s, want %s", now, page)
		}
	})
	for n := range 2 { // there and back, as pairs do
		tx, err := x.exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
		if err != nil {
			t.Fatal(err)
		}
		x.did("switched")
		if now := x.get(); now != page {
			t.Errorf("with nginx in front: %s, want %s", now, page)
		}
		want := "0.0.0.0:80 127.0.0.1:8080 [::]:80"
		if listening == "0.0.0.0:80" { // a host without an address of IPv6
			want = "0.0.0.0:80 127.0.0.1:8080"
		}
		if got := x.listening(); got != want {
			t.Errorf("Apache alone listened at %s; with nginx in front it is %s, want %s", listening, got, want)
		}
		if apache, nginx := x.lastClient("apache2"), x.lastClient("nginx"); apache != nginx || !strings.Contains(page, "for "+apache+" at") {
			t.Errorf("of %s Apache logged the client %s, nginx %s", page, apache, nginx)
		}
		if n == 0 {
			bed.Want(t, x.plans(), "nginx.page-cache") // a later round acts on what there is now
			x.did("planned")
		}
		if err := x.exec.Revert(t.Context(), tx.ID); err != nil {
			t.Fatal(err)
		}
		x.did("put back")
		if now := x.get(); now != page {
			t.Errorf("put back: %s, want %s", now, page)
		}
	}
	x.takeAway(under)
	if after := x.seen(); after != before {
		t.Errorf("the host is not as before:\n%s\nit was:\n%s", after, before)
	}
	if now := x.get(); now != page {
		t.Errorf("at the end: %s, want %s", now, page)
	}
}

// prepare does what a plan needs before its switch, and returns the transactions.
func (x *labSite) prepare(p remedy.Plan, then func()) (under []int64) {
	x.t.Helper()
	for _, prepare := range p.Prepare {
		tx, err := x.exec.Apply(x.t.Context(), change.Intent{Title: "Prepare: " + p.Title, Plan: change.Prepares(p.ID), Changes: prepare})
		if err != nil {
			x.t.Fatal(err)
		}
		under = append(under, tx.ID)
		x.did("prepared: " + prepare[0].Title())
		then()
	}
	return under
}

func (x *labSite) takeAway(under []int64) {
	x.t.Helper()
	var err error
	for _, tx := range slices.Backward(under) {
		err = errors.Join(err, x.exec.Revert(x.t.Context(), tx))
	}
	if err != nil {
		x.t.Fatal(err)
	}
	x.did("taken away")
}

// listening are the addresses of both ports, sorted.
func (x *labSite) listening() string {
	return x.sh(`ss -Hltn 'sport = :80 or sport = :8080' | awk '{print $4}' | LC_ALL=C sort | tr '\n' ' '`)
}

// lastClient is whom a server's access log names last.
func (x *labSite) lastClient(server string) string {
	return x.sh("tail -1 /var/log/" + server + "/access.log | cut -d' ' -f1")
}
