package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

func TestMain(m *testing.M) {
	if status, ok := lab.Helper(os.Args[1:]); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// bench is two hosts with what the tests ask of them.
type bench struct {
	*lab.Lab
	http *http.Client
}

// TestLab goes through what two hosts can do. One lab for all of it: the parts
// put back what they change.
func TestLab(t *testing.T) {
	start := time.Now()
	l := labtest.Up(t, lab.Options{Count: 2})
	t.Logf("up after %s", time.Since(start))
	b := &bench{Lab: l, http: &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}}}
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"services run", b.services}, {"ssh", b.ssh}, {"network", b.network}, {"opened again", b.opened},
		{"cpu cap", b.cpu}, {"memory cap", b.memory}, {"rate", b.rate}, {"loss", b.loss}, {"delay", b.delay},
		{"cut and heal", b.cut}, {"reboot", b.reboot}, {"power cut", b.power}, {"power off", b.off}, {"second lab", b.second},
	} {
		if !t.Run(part.name, part.test) {
			t.Logf("after %s", time.Since(start))
		}
	}
}

// on runs a command on a host and fails the test if it fails.
func (b *bench) on(t *testing.T, host, command string) string {
	t.Helper()
	out, err := b.SSH(t.Context(), host, command)
	if err != nil {
		t.Fatalf("%s: %s: %v", host, command, err)
	}
	return strings.TrimSpace(out)
}

// get fetches a host's page through the lab's network.
func (b *bench) get(host string) error { return b.getWithin(20*time.Second, host) }

func (b *bench) getWithin(limit time.Duration, host string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/", nil)
	if err != nil {
		return err
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != 200 || !strings.Contains(string(body), "nginx")) {
		err = fmt.Errorf("%s: %.80q", resp.Status, body)
	}
	return err
}

func (b *bench) bootID(t *testing.T, host string) string {
	t.Helper()
	h, err := b.Host(host)
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.BootID(t.Context())
	if err != nil || len(id) != 36 {
		t.Fatalf("boot id of %s: %q, %v", host, id, err)
	}
	return id
}

func (b *bench) services(t *testing.T) {
	if state := b.on(t, "h1", "systemctl is-system-running"); state != "running" {
		t.Errorf("systemd says %q; failed: %s", state, b.on(t, "h1", "systemctl --failed --no-legend"))
	}
	if got := b.on(t, "h1", "systemctl is-active nginx mariadb redis-server memcached supervisor 'php*-fpm.service'"); strings.Contains(got, "inactive") || strings.Count(got, "active") != 6 {
		t.Errorf("services: %q", got)
	}
	if got := b.on(t, "h1", "mariadb -Ne 'select 6*7'; ps -p 1 -o comm="); got != "42\nsystemd" {
		t.Errorf("the database and init say %q", got)
	}
	for _, host := range []string{"h1", "h2"} {
		if err := b.get(host); err != nil {
			t.Error(err)
		}
	}
	if got := b.on(t, "h1", "curl -s -o /dev/null -w '%{http_code}' http://h2/"); got != "200" {
		t.Errorf("h1 gets %q from h2", got)
	}
}

func (b *bench) ssh(t *testing.T) {
	if got, want := b.on(t, "h1", "hostname"), "h1"; got != want {
		t.Errorf("h1 says it is %q", got)
	}
	out, err := exec.CommandContext(t.Context(), "ssh", "-F", b.SSHConfig, "ops@h2", "id -un; sudo id -un").CombinedOutput()
	if err != nil || string(out) != "ops\nroot\n" {
		t.Errorf("as ops: %q, %v", out, err)
	}
	if _, err := b.SSH(t.Context(), "h1", "echo broken >&2; exit 7"); err == nil || !strings.Contains(err.Error(), "exit status 7: broken") {
		t.Errorf("a failing command: %v", err)
	}
	// h2's key for h1: what a machine in the middle would show.
	known, err := os.ReadFile(filepath.Join(b.Dir, "known_hosts"))
	if err != nil {
		t.Fatal(err)
	}
	var wrong string
	for line := range strings.Lines(string(known)) {
		if rest, ok := strings.CutPrefix(line, "h2,"); ok {
			wrong = "h1," + rest
		}
	}
	file := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = exec.CommandContext(t.Context(), "ssh", "-F", b.SSHConfig, "-o", "UserKnownHostsFile="+file, "h1", "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Host key verification failed") {
		t.Errorf("with another host's key: %q, %v", out, err)
	}
}

func (b *bench) network(t *testing.T) {
	out, err := b.Exec(t.Context(), "ip", "-o", "-4", "address")
	if err != nil || !strings.Contains(out, b.Gateway+"/24") {
		t.Errorf("the lab's network has %q, %v", out, err)
	}
	if _, err := b.Exec(t.Context(), "ip", "link", "show", "nothing"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a failing command: %v", err)
	}
	// Not the machine's: no interface, no route, no way out.
	machine, err := exec.Command("ip", "-o", "address").CombinedOutput()
	if err != nil || strings.Contains(string(machine), b.Hosts[0].Machine) || strings.Contains(string(machine), b.Gateway+"/") {
		t.Errorf("the machine has %s (%v)", machine, err)
	}
	if got := b.on(t, "h1", "ip route"); strings.Contains(got, "default") {
		t.Errorf("h1 has routes %q", got)
	}
	if _, err := b.Dial(t.Context(), "tcp", "nosuch:80"); err == nil {
		t.Error("a host that is not there can be dialled")
	}
}

func (b *bench) opened(t *testing.T) {
	dir := filepath.Dir(filepath.Dir(b.Dir))
	l, err := lab.Open(dir, b.Name)
	if err != nil {
		t.Fatal(err)
	}
	mine, err1 := json.Marshal(b.Lab)
	theirs, err2 := json.Marshal(l)
	if err1 != nil || err2 != nil || string(mine) != string(theirs) {
		t.Errorf("Up returned %s (%v), Open %s (%v)", mine, err1, theirs, err2)
	}
	if out, err := l.SSH(t.Context(), "h2", "hostname"); err != nil || out != "h2\n" {
		t.Errorf("through the opened lab: %q, %v", out, err)
	}
	all, err := lab.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, l := range all {
		found = found || l.Name == b.Name && l.Hosts[0].Up() && reflect.DeepEqual(l.Hosts[1].SSHDestination, "h2")
	}
	if !found {
		t.Errorf("List does not have %s", b.Name)
	}
	if _, err := lab.Up(t.Context(), lab.Options{Dir: dir, Name: b.Name}); err == nil || !strings.Contains(err.Error(), lab.ErrExists.Error()) {
		t.Errorf("a second lab of the same name: %v", err)
	}
	if err := b.get("h1"); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func (b *bench) cut(t *testing.T) {
	ctx := t.Context()
	t.Cleanup(func() { // or what follows fails, too
		if t.Failed() {
			_ = b.Heal(context.WithoutCancel(ctx), "h1")
			_, _ = b.Wait(context.WithoutCancel(ctx), "h1")
		}
	})
	if err := b.Cut(ctx, "h1"); err != nil {
		t.Fatal(err)
	}
	if err := b.getWithin(2*time.Second, "h1"); err == nil {
		t.Error("a host that is cut off answers")
	}
	if err := b.get("h2"); err != nil {
		t.Errorf("the other host does not answer: %v", err)
	}
	if got := b.on(t, "h2", "curl -s -m 1 -o /dev/null http://h1/ || echo away"); got != "away" {
		t.Errorf("the other host reaches it: %q", got)
	}
	// It stays cut when it comes back from a power cut.
	if err := b.Reboot(ctx, "h1", true); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		if b.getWithin(time.Second, "h1") == nil {
			t.Fatal("a host that is cut off answers after a power cut")
		}
	}
	if err := b.Heal(ctx, "h1"); err != nil {
		t.Fatal(err)
	}
	if state, err := b.Wait(ctx, "h1"); err != nil || state != "running" {
		t.Fatalf("after that it is %q, %v", state, err)
	}
	if err := b.get("h1"); err != nil {
		t.Error(err)
	}
}

func (b *bench) reboot(t *testing.T) {
	b.on(t, "h1", "echo 3000 4000 >/proc/sys/net/ipv4/ip_local_port_range")
	b.again(t, false)
	if got := b.on(t, "h1", "cut -f1 /proc/sys/net/ipv4/ip_local_port_range"); got != "32768" {
		t.Errorf("a setting that was not made permanent is still there: %q", got)
	}
}

func (b *bench) power(t *testing.T) { b.again(t, true) }

// witness is a service that tells whether it was stopped in order.
const witness = `printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\nExecStop=/bin/touch /var/lib/stopped\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/witness.service
systemctl daemon-reload; systemctl enable --quiet --now witness; rm -f /var/lib/stopped`

// again restarts h1 and looks for what must be as before.
func (b *bench) again(t *testing.T, hard bool) {
	b.on(t, "h1", witness)
	before := b.bootID(t, "h1")
	other := b.bootID(t, "h2")
	b.limit(t, "h1", lab.Limits{LossPercent: new(100.0)})
	b.limit(t, "h1", lab.Limits{LossPercent: new(0.0), CPUs: new(0.9)})
	b.on(t, "h1", "echo kept >/etc/kept; mariadb -e 'create or replace database kept; create table kept.t (a int); insert kept.t values (42)'")
	start := time.Now()
	if err := b.Reboot(t.Context(), "h1", hard); err != nil {
		t.Fatal(err)
	}
	t.Logf("hard %v: up again after %s", hard, time.Since(start))
	if after := b.bootID(t, "h1"); after == before {
		t.Error("the boot id is the same")
	}
	if b.bootID(t, "h2") != other {
		t.Error("the other host rebooted, too")
	}
	if got := b.on(t, "h1", "cat /etc/kept; mariadb -Ne 'select a from kept.t'; systemctl is-active witness; systemctl is-system-running"); got != "kept\n42\nactive\nrunning" {
		t.Errorf("after it: %q", got)
	}
	if stopped := b.on(t, "h1", "ls /var/lib/stopped 2>/dev/null || true") != ""; stopped == hard {
		t.Errorf("services were stopped in order: %v", stopped)
	}
	if err := b.get("h1"); err != nil {
		t.Error(err)
	}
	h, err := b.Host("h1")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := h.Settings(); err != nil || s.CPUs != 0.9 {
		t.Errorf("settings after it: %+v, %v", s, err)
	}
	b.limit(t, "h1", lab.Limits{CPUs: new(0.0)})
}

func (b *bench) off(t *testing.T) {
	h, err := b.Host("h1")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := b.SSH(t.Context(), "h1", "systemctl poweroff"); err != nil && !strings.Contains(err.Error(), "Broken pipe") && !strings.Contains(err.Error(), "closed by") {
		t.Fatalf("power off: %q, %v", out, err) // else it was off before ssh had its answer
	}
	await.For(t, "a host that was powered off to end", func() bool { return !h.Up() })
	b.limit(t, "h1", lab.Limits{LossPercent: new(100.0)}) // kept for its next boot
	b.limit(t, "h1", lab.Limits{LossPercent: new(0.0)})
	if err := b.Reboot(t.Context(), "h1", false); err != nil {
		t.Fatal(err)
	}
	if err := b.get("h1"); err != nil {
		t.Error(err)
	}
}

// second: two labs with the same addresses do not see each other; the second one's boots
// leave services out.
func (b *bench) second(t *testing.T) {
	l := labtest.Up(t, lab.Options{Packages: []string{}, Off: []string{"e2scrub_reap"}})
	enabled, _ := l.SSH(t.Context(), "h1", "systemctl is-enabled e2scrub_reap ssh; systemctl show -P ActiveEnterTimestampMonotonic e2scrub_reap") // 1: one is not
	if f := strings.Fields(enabled); len(f) != 3 || f[0] != "disabled" || f[1] != "enabled" || f[2] != "0" {
		t.Errorf("of e2scrub_reap and ssh, the first is to be off: %q", enabled)
	}
	var said *lab.ArgumentError
	if _, err := lab.Up(t.Context(), lab.Options{Name: labtest.Name(), Packages: []string{}, Off: []string{"nginx"}}); !errors.As(err, &said) || !strings.Contains(err.Error(), "service nginx: no boot") {
		t.Errorf("a service that no boot starts cannot be left out: %v", err)
	}
	if l.Hosts[0].Address != b.Hosts[0].Address {
		t.Errorf("the second lab's host has %s", l.Hosts[0].Address)
	}
	if conn, err := l.Dial(t.Context(), "tcp", "h1:80"); err == nil {
		conn.Close()
		t.Error("in a lab without nginx something answers at port 80")
	}
	if err := b.get("h1"); err != nil {
		t.Error(err)
	}
	if err := l.Down(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if err := b.get("h2"); err != nil {
		t.Errorf("after the other lab went: %v", err)
	}
}
