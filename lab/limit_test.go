package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/lab"
)

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
	b.unshaped(t)
	b.limit(t, "h2", lab.Limits{RateBitsPerSecond: new(int64(8_000_000))})
	sent, out := fetch("h1", "http://h2/large"), fetch("", "")
	b.limit(t, "h2", lab.Limits{RateBitsPerSecond: new(int64(0))})
	b.limit(t, "h1", lab.Limits{RateBitsPerSecond: new(int64(8_000_000))})
	received := fetch("h1", "http://h2/large")
	b.limit(t, "h1", lab.Limits{RateBitsPerSecond: new(int64(0))})
	b.unshaped(t)
	t.Logf("1 MiB: %s and %s from a host with 8 Mbit/s, %s to one", sent, out, received)
	if sent < least || out < least || received < least {
		t.Error("the rate does not hold where it should")
	}
}

// unshaped expects that no cable holds anything back, and that one carries 1 MiB.
func (b *bench) unshaped(t *testing.T) {
	t.Helper()
	outside, err := exec.Command("tc", "-n", b.Namespace, "qdisc", "show").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, outside)
	}
	all := string(outside)
	for _, h := range []string{"h1", "h2"} {
		all += b.on(t, h, "tc qdisc show")
	}
	if strings.Contains(all, "qdisc tbf") || strings.Contains(all, "qdisc netem") {
		t.Errorf("something is held back:\n%s", all)
	}
	if got := b.on(t, "h1", "curl -s -o /dev/null -w '%{size_download}' http://h2/large"); got != fmt.Sprint(1<<20) {
		t.Errorf("fetched %q", got)
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
	const sent = 1000
	wait := func(d time.Duration) {
		if err := conn.SetReadDeadline(time.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	// Some at a time, as sockets hold some hundred while others have the CPU; those of a batch
	// that come late are read with the next.
	echoed := func() (n int) {
		buf := make([]byte, 64)
		read := func(most int, patience time.Duration) {
			for ; n < most; n++ {
				wait(patience)
				if _, err := conn.Read(buf); err != nil {
					return
				}
			}
		}
		const batch = 40
		for at := batch; at <= sent; at += batch {
			for range batch {
				_, _ = conn.Write([]byte("x")) // one that fails does not come back
			}
			read(at, 200*time.Millisecond)
		}
		read(sent, 3*time.Second) // longer than a stall
		return n
	}
	await.NoError(t, "the echo", func() error {
		_, err := conn.Write([]byte("x"))
		if err == nil { // refused: the server starts
			wait(time.Second)
			_, err = conn.Read(make([]byte, 64))
		}
		return err
	})
	none := echoed()
	b.limit(t, "h1", lab.Limits{LossPercent: new(20.0)})
	some := echoed()
	b.limit(t, "h1", lab.Limits{LossPercent: new(0.0)})
	after := echoed()
	t.Logf("of %d datagrams came back: %d, with 20 %% loss each way %d, after that %d", sent, none, some, after)
	// 0.8² of them are 64 %; six standard deviations are 9 %.
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
	b.unshaped(t)
}
