package lab_test

import (
	"context"
	"encoding/json"
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

func (b *bench) limit(t *testing.T, host string, to lab.Limits) {
	t.Helper()
	if err := b.Limit(t.Context(), host, to); err != nil {
		t.Fatal(err)
	}
}

// cpu: two busy loops get no more than 0.08 processors together, because the
// kernel holds them back; without the cap it does not.
func (b *bench) cpu(t *testing.T) {
	spin := func() (used time.Duration, throttled int) {
		before := b.throttled(t)
		// The last line of times is what the children used: user and system, as 0m0.40s 0m0.01s.
		out := b.on(t, "h1", `sh -c 'for i in 1 2; do timeout 2 sh -c "while :; do :; done" & done; wait; times' | tail -1`)
		for _, f := range strings.Fields(out) {
			d, err := time.ParseDuration(f)
			if err != nil {
				t.Fatal(err)
			}
			used += d
		}
		return used, b.throttled(t) - before
	}
	b.limit(t, "h1", lab.Limits{CPUs: new(0.08)})
	capped, held := spin()
	b.limit(t, "h1", lab.Limits{CPUs: new(0.0)})
	free, heldFree := spin()
	t.Logf("2 s of two busy loops: %s and held back in %d periods capped at 0.08 processors; %s and %d without", capped, held, free, heldFree)
	// 0.08 × 2 s, and as much again for a period's surplus and for timeout's own delay.
	if capped > 400*time.Millisecond || held < 2 || heldFree > 0 {
		t.Error("the cap of 0.08 processors does not hold, or holds after it was taken away")
	}
}

// throttled is the number of periods in which the kernel held h1 back.
func (b *bench) throttled(t *testing.T) int {
	t.Helper()
	for _, dir := range []string{"cpu/", ""} { // cgroups of the first and the second version
		data, err := os.ReadFile("/sys/fs/cgroup/" + dir + "kasoku-lab/" + b.Hosts[0].Machine + "/cpu.stat")
		for line := range strings.Lines(string(data)) {
			var n int
			if _, serr := fmt.Sscanf(line, "nr_throttled %d", &n); err == nil && serr == nil {
				return n
			}
		}
	}
	t.Fatal("no cgroup of h1 counts throttling")
	return 0
}

// memory: what takes too much is ended in the host, and nothing else is.
func (b *bench) memory(t *testing.T) {
	b.limit(t, "h1", lab.Limits{Memory: new(int64(400 << 20))})
	out, err := b.SSH(t.Context(), "h1", "head -c 620M /dev/zero | tail -c 600M | wc -c")
	if err == nil && strings.TrimSpace(out) == fmt.Sprint(600<<20) {
		t.Errorf("600 MB fit into a cap of 400 MB")
	}
	b.limit(t, "h1", lab.Limits{Memory: new(int64(0))})
	if got := b.on(t, "h1", "head -c 620M /dev/zero | tail -c 600M | wc -c"); got != fmt.Sprint(600<<20) {
		t.Errorf("without the cap: %q", got)
	}
	if err := b.get("h2"); err != nil {
		t.Error(err)
	}
	if err := b.Limit(t.Context(), "h1", lab.Limits{Memory: new(int64(1000))}); err == nil {
		t.Error("a cap of 1000 bytes is taken")
	}
	h, err := b.Host("h1")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := h.Settings(); err != nil || s != (lab.Settings{}) {
		t.Errorf("at the end the settings are %+v, %v", s, err)
	}
}

func (b *bench) rate(t *testing.T) {
	b.on(t, "h2", "head -c 1M /dev/urandom >/var/www/html/large")
	fetch := func(from, url string) time.Duration {
		start := time.Now()
		out, err := b.Exec(t.Context(), "curl", "-s", "-o", "/dev/null", "-w", "%{size_download}", "http://"+b.Hosts[1].Address+"/large")
		if from != "" {
			out, err = b.SSH(t.Context(), from, "curl -s -o /dev/null -w '%{size_download} %{time_total}' "+url)
			var size int
			var seconds float64
			if _, serr := fmt.Sscan(out, &size, &seconds); serr != nil || err != nil || size != 1<<20 {
				t.Fatalf("fetched %q, %v, %v", out, err, serr)
			}
			return time.Duration(seconds * float64(time.Second))
		}
		if err != nil || out != fmt.Sprint(1<<20) {
			t.Fatalf("fetched %q, %v", out, err)
		}
		return time.Since(start)
	}
	// 1 MiB at 8 Mbit/s is 1.05 s, less what the bucket holds (64 KB of it).
	const least = 900 * time.Millisecond
	free := fetch("h1", "http://h2/large")
	b.limit(t, "h2", lab.Limits{RateBitsPerSecond: new(int64(8_000_000))})
	sent, out := fetch("h1", "http://h2/large"), fetch("", "")
	b.limit(t, "h2", lab.Limits{RateBitsPerSecond: new(int64(0))})
	b.limit(t, "h1", lab.Limits{RateBitsPerSecond: new(int64(8_000_000))})
	received := fetch("h1", "http://h2/large")
	b.limit(t, "h1", lab.Limits{RateBitsPerSecond: new(int64(0))})
	again := fetch("h1", "http://h2/large")
	t.Logf("1 MiB: %s without a cap, %s and %s from a host with 8 Mbit/s, %s to one, %s after", free, sent, out, received, again)
	if sent < least || out < least || received < least || free > least/2 || again > least/2 {
		t.Error("the rate does not hold where it should, or holds where it should not")
	}
}

// loss: echoed datagrams pass the cable twice.
func (b *bench) loss(t *testing.T) {
	b.on(t, "h1", `systemd-run --quiet --unit=echo python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True: s.sendto(*s.recvfrom(64))'`)
	defer b.on(t, "h1", "systemctl stop echo")
	conn, err := b.Dial(t.Context(), "udp", "h1:7")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const sent = 2000
	echoed := func() (n int) {
		buf := make([]byte, 64)
		for range sent {
			if _, err := conn.Write([]byte("x")); err != nil {
				continue // refused: an echo of the ICMP answer while the server starts
			}
			if err := conn.SetReadDeadline(time.Now().Add(2 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(buf); err == nil {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(5 * time.Second); echoed() < sent/2 && time.Now().Before(deadline); {
	}
	none := echoed()
	b.limit(t, "h1", lab.Limits{LossPercent: new(20.0)})
	some := echoed()
	b.limit(t, "h1", lab.Limits{LossPercent: new(0.0)})
	after := echoed()
	t.Logf("of %d datagrams came back: %d, with 20 %% loss each way %d, after that %d", sent, none, some, after)
	// 0.8² of them are 64 %; five standard deviations are 5 %. Answers that are
	// later than 2 ms count as lost for their own send and found for the next.
	if none < sent*95/100 || after < sent*95/100 || some < sent*54/100 || some > sent*74/100 {
		t.Error("the loss is not what was asked for")
	}
}

// delay: where the kernel can; elsewhere it says so and nothing changes.
func (b *bench) delay(t *testing.T) {
	connect := func() time.Duration {
		start := time.Now()
		conn, err := b.Dial(t.Context(), "tcp", "h1:80")
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		return time.Since(start)
	}
	err := b.Limit(t.Context(), "h1", lab.Limits{Delay: new(20 * time.Millisecond)})
	h, herr := b.Host("h1")
	if herr != nil {
		t.Fatal(herr)
	}
	s, serr := h.Settings()
	if serr != nil {
		t.Fatal(serr)
	}
	if err != nil {
		var cannot *lab.CannotError
		if !asCannot(err, &cannot) || !strings.Contains(err.Error(), "netem") || s.Delay != 0 {
			t.Errorf("a kernel without netem: %v, settings %+v", err, s)
		}
		if err := b.get("h1"); err != nil {
			t.Errorf("after that: %v", err)
		}
		return
	}
	if got := connect(); got < 40*time.Millisecond {
		t.Errorf("with 20 ms each way a connection takes %s", got)
	}
	b.limit(t, "h1", lab.Limits{Delay: new(time.Duration(0))})
	if got := connect(); got > 20*time.Millisecond {
		t.Errorf("without a delay a connection takes %s", got)
	}
}

func (b *bench) cut(t *testing.T) {
	ctx := t.Context()
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
	for start := time.Now(); h.Up(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("a host that was powered off still runs")
		}
	}
	b.limit(t, "h1", lab.Limits{LossPercent: new(100.0)}) // kept for its next boot
	b.limit(t, "h1", lab.Limits{LossPercent: new(0.0)})
	if err := b.Reboot(t.Context(), "h1", false); err != nil {
		t.Fatal(err)
	}
	if err := b.get("h1"); err != nil {
		t.Error(err)
	}
}

// second: two labs with the same addresses do not see each other.
func (b *bench) second(t *testing.T) {
	l := labtest.Up(t, lab.Options{Packages: []string{}})
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
