package evidence

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// server starts a real server in the foreground and stops it with the test.
func server(t testing.TB, ready func() error, name string, args ...string) {
	t.Helper()
	path, err := program(name)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
	})
	if err := within(name+" answers", func() error {
		select {
		case <-done:
			return fmt.Errorf("it ended: %s", log.String())
		default:
			return ready()
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func connects(network, address string) func() error {
	return func() error {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err
	}
}

func portOf(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// say sends text to a server and reads until the answer ends with until.
func say(t testing.TB, network, address, text, until string) (got string) {
	t.Helper()
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(c); !strings.HasSuffix(got, until); {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		got += string(b)
	}
	return got
}

// observe takes one window of the sources of one finder, in which work is done.
func observe(t testing.TB, find func(context.Context, setting) ([]source, []Health), diagnostic bool, svc stack.Service, work func()) *Evidence {
	t.Helper()
	ctx := context.Background()
	st := &stack.Stack{Services: []stack.Service{svc}}
	found, health := find(ctx, setting{st: st, hosts: map[string]host.Host{"local": host.NewLocal()}, opts: CollectorOptions{Diagnostic: diagnostic},
		roots: map[string]map[string][]int{"local": {}}})
	ev := &Evidence{Counters: map[string]CounterDelta{}, Services: map[string]ServiceUse{}, Health: health}
	for _, s := range found {
		defer s.close()
		s.start(ctx)
	}
	work()
	for _, s := range found {
		s.end(ctx)
	}
	for _, s := range found {
		s.tell(ctx, ev)
	}
	return ev
}

// What Redis is asked for the number of its PINGs.
const (
	redisCommands = "AUTH hunter2\r\nINFO commandstats\r\nECHO end\r\n"
	redisEnd      = "$3\r\nend\r\n"
	redisPings    = "cmdstat_ping:calls=%d,"
)

// counted is a server's own number in the answer to a question, 0 if it has none yet.
func counted(t *testing.T, socket, question, end, format string) (n int) {
	t.Helper()
	for line := range strings.Lines(say(t, "unix", socket, question, end)) {
		var found int
		if _, err := fmt.Sscanf(line, format, &found); err == nil {
			n = found
		}
	}
	return n
}

// probed waits until a server has counted that many: the first connects, from the
// second on they are timed.
func probed(t *testing.T, socket, question, end, format string, most int) {
	t.Helper()
	await.For(t, "some probes", func() bool { return counted(t, socket, question, end, format) > most })
}

func TestMemcachedLive(t *testing.T) {
	await.SkipShort(t)
	socket := filepath.Join(t.TempDir(), "m")
	server(t, connects("unix", socket), "memcached", "-u", "root", "-s", socket, "-m", "8")
	svc := stack.Service{Name: "cache", Kind: stack.Memcached, Listen: []string{"unix:" + socket}}
	ev := observe(t, findMemcached, true, svc, func() {
		say(t, "unix", socket, "set forever 0 0 3\r\nabc\r\nset hour 0 3600 3\r\nabc\r\nget forever\r\nget nothing\r\nget hour\r\n", "VALUE hour 0 3\r\nabc\r\nEND\r\n")
		probed(t, socket, "stats\r\n", "END\r\n", "STAT get_misses %d", 1+2) // one is the service's
	})
	c := ev.Counters["cache"]
	if c.Delta["get_hits"] != 2 || c.Delta["cmd_set"] != 2 || c.Delta["items:1:moves_to_cold"] < 0 || c.Value["settings:maxbytes"] != "8388608" {
		t.Errorf("hits %g, sets %g, maxbytes %s", c.Delta["get_hits"], c.Delta["cmd_set"], c.Value["settings:maxbytes"])
	}
	// The probes are taken off; one may lie between two readings.
	if m := c.Delta["get_misses"]; m > 2 {
		t.Errorf("%g misses; 1 is the service's", m)
	}
	if c.Value["sample_items"] != "2" || c.Value["sample_items_without_expiry"] != "1" {
		t.Errorf("items %s, without expiry %s", c.Value["sample_items"], c.Value["sample_items_without_expiry"])
	}
	if h := healthOf(ev, "counters of cache"); !h.OK {
		t.Errorf("%+v", h)
	}
	if len(ev.Latencies) != 1 || ev.Latencies[0].Count == 0 || ev.Latencies[0].Command != "get" || ev.Latencies[0].P50 <= 0 || ev.Latencies[0].Max < ev.Latencies[0].P50 {
		t.Errorf("%+v %+v", ev.Latencies, healthOf(ev, "latency of cache"))
	}
	for name, text := range c.Value {
		if strings.Contains(name+text, "forever") {
			t.Errorf("a key is in the evidence: %s=%s", name, text)
		}
	}
}

func TestRedisLive(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "r")
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	conf := write("redis.conf", "port 0\nunixsocket "+socket+"\ndir "+dir+"\nsave \"\"\nrequirepass hunter2\nslowlog-log-slower-than 0\nmaxmemory 64mb\n"+
		"user watcher on >geheim ~* &* +info +ping +auth\n")
	server(t, connects("unix", socket), "redis-server", conf)
	svc := stack.Service{Name: "cache", Kind: stack.Redis, Listen: []string{"unix:" + socket}, Login: &stack.Login{PasswordFile: write("pw", "hunter2\n")}}
	work := func() {
		before := counted(t, socket, redisCommands, redisEnd, redisPings)
		say(t, "unix", socket, "AUTH hunter2\r\nSET tokenkey 1\r\nGET tokenkey\r\nGET absent\r\n", "$1\r\n1\r\n$-1\r\n")
		probed(t, socket, redisCommands, redisEnd, redisPings, before+2)
	}
	ev := observe(t, findRedis, false, svc, work)
	c := ev.Counters["cache"]
	if c.Delta["cmdstat_get.calls"] != 2 || c.Delta["cmdstat_set.calls"] != 1 || c.Delta["keyspace_misses"] != 1 || c.Delta["cmdstat_ping.calls"] > 2 {
		t.Errorf("%v; health %v", c.Delta, ev.Health)
	}
	if c.Value["config.maxmemory"] != "67108864" || c.Value["config.appendonly"] != "no" || c.Value["slowlog.GET.count"] != "2" {
		t.Errorf("%v", c.Value)
	}
	if len(ev.Latencies) != 1 || ev.Latencies[0].Command != "PING" || ev.Latencies[0].Count == 0 {
		t.Errorf("%+v", ev.Latencies)
	}
	for name, text := range c.Value {
		if strings.Contains(name+text, "hunter2") || strings.Contains(name+text, "tokenkey") {
			t.Errorf("a secret is in the evidence: %s=%s", name, text)
		}
	}
	// A user who may read counters only: the rest is not judged.
	svc.Login = &stack.Login{User: "watcher", PasswordFile: write("pw2", "geheim\n")}
	ev = observe(t, findRedis, false, svc, work)
	if h := healthOf(ev, "counters of cache"); !h.OK || !strings.Contains(h.Text, "not judged: settings") || !strings.Contains(h.Text, "not judged: slow log") {
		t.Errorf("%+v", h)
	}
	for why, login := range map[string]*stack.Login{"no login": nil, "wrong password": {PasswordFile: write("pw3", "falsch\n")}} {
		svc.Login = login
		ev = observe(t, findRedis, false, svc, func() {})
		if h := healthOf(ev, "counters of cache"); h.OK || !strings.Contains(h.Text, "login") || strings.Contains(h.Text, "falsch") {
			t.Errorf("%s: %+v", why, h)
		}
	}
}

// A cache that is not there is told, not left out.
func TestCacheAway(t *testing.T) {
	svc := stack.Service{Name: "cache", Kind: stack.Memcached, Listen: []string{fmt.Sprintf("127.0.0.1:%d", portOf(t))}}
	ev := observe(t, findMemcached, false, svc, func() { time.Sleep(250 * time.Millisecond) }) // some probes
	for _, source := range []string{"counters of cache", "latency of cache"} {
		if h := healthOf(ev, source); h.OK || !strings.Contains(h.Text, "refused") {
			t.Errorf("%+v", h)
		}
	}
	if len(ev.Latencies) != 0 || len(ev.Counters) != 0 {
		t.Errorf("%+v %+v", ev.Latencies, ev.Counters)
	}
}

func TestVarnishLive(t *testing.T) {
	await.SkipShort(t)
	dir, port, back := t.TempDir(), portOf(t), portOf(t)
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", back))
	if err != nil {
		t.Fatal(err)
	}
	backend := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		io.WriteString(w, "page")
	})}
	go backend.Serve(l)
	t.Cleanup(func() { backend.Close() })
	site := fmt.Sprintf("127.0.0.1:%d", port)
	get := func() error {
		res, err := http.Get("http://" + site + "/")
		if err == nil {
			res.Body.Close()
			if res.StatusCode != 200 {
				err = fmt.Errorf("status %d", res.StatusCode)
			}
		}
		return err
	}
	argv := []string{"-F", "-n", filepath.Join(dir, "v"), "-a", site, "-b", fmt.Sprintf("127.0.0.1:%d", back), "-s", "malloc,16m"}
	server(t, get, "varnishd", argv...)
	svc := stack.Service{Name: "varnish", Kind: stack.Varnish, Listen: []string{site}, Control: stack.Control{Start: append([]string{"varnishd"}, argv...)}}
	ev := observe(t, findVarnish, false, svc, func() {
		for range 5 {
			if err := get(); err != nil {
				t.Error(err)
			}
		}
		// The counters of a worker thread are added when it has nothing to do. The
		// first request was made when the server was to answer.
		await.For(t, "Varnish to count 6 requests", func() bool {
			out, err := exec.Command("varnishstat", "-n", filepath.Join(dir, "v"), "-1", "-f", "MAIN.client_req").Output()
			var name string
			n := 0
			if err == nil {
				_, err = fmt.Sscan(string(out), &name, &n)
			}
			return err == nil && n >= 6
		})
	})
	c := ev.Counters["varnish"]
	if h := healthOf(ev, "counters of varnish"); !h.OK || c.Delta["MAIN.client_req"] < 4 || c.Delta["MAIN.cache_hit"] < 4 {
		t.Errorf("%+v: client_req %g, cache_hit %g", h, c.Delta["MAIN.client_req"], c.Delta["MAIN.cache_hit"])
	}
	if _, is := c.Delta["MAIN.threads"]; is || c.Value["MAIN.threads"] == "" {
		t.Error("a gauge has a delta, or no value")
	}
	svc.Control.Start = []string{"varnishd", "-n", filepath.Join(dir, "nothing")}
	ev = observe(t, findVarnish, false, svc, func() {})
	if h := healthOf(ev, "counters of varnish"); h.OK || !strings.Contains(h.Text, "varnishstat") {
		t.Errorf("%+v", h)
	}
}

func TestOPcacheLive(t *testing.T) {
	dir, port := t.TempDir(), portOf(t)
	for name, text := range map[string]string{"status.php": "<?php header('Content-Type: application/json'); echo json_encode(opcache_get_status(false));",
		"index.php": "<?php echo 'ok';"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := fmt.Sprintf("127.0.0.1:%d", port)
	server(t, connects("tcp", site), "php8.*", "-n", "-d", "zend_extension=opcache.so", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-S", site, "-t", dir)
	svc := stack.Service{Name: "php", Kind: stack.PHPFPM, Status: "http://" + site + "/status.php?key=hunter2"}
	get := func() {
		res, err := http.Get("http://" + site + "/index.php")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	get()
	ev := observe(t, findOPcache, false, svc, func() {
		for range 5 {
			get()
		}
	})
	c := ev.Counters["php"]
	if h := healthOf(ev, "OPcache of php"); !h.OK || c.Delta["opcache.opcache_statistics.hits"] != 5 || c.Value["opcache.memory_usage.free_memory"] == "" {
		t.Errorf("%+v %v", h, c.Delta)
	}
	svc.Status = "http://" + site + "/index.php?key=hunter2"
	if h := healthOf(observe(t, findOPcache, false, svc, func() {}), "OPcache of php"); h.OK || !strings.Contains(h.Text, "opcache_get_status") {
		t.Errorf("another page: %+v", h)
	}
	svc.Status = "http://" + site + "/nothing.php?key=hunter2"
	if h := healthOf(observe(t, findOPcache, false, svc, func() {}), "OPcache of php"); h.OK || !strings.Contains(h.Text, "404") || strings.Contains(h.Text, "hunter2") {
		t.Errorf("no page: %+v", h)
	}
	svc.Status = ""
	if h := healthOf(observe(t, findOPcache, false, svc, func() {}), "OPcache of php"); !h.OK || !strings.HasPrefix(h.Text, "not judged") {
		t.Errorf("no URL: %+v", h)
	}
}

// BenchmarkLatencyProbe is a window of five seconds of probes: the CPU time of
// Kasoku and of the memcached that answers.
func BenchmarkLatencyProbe(b *testing.B) {
	socket := filepath.Join(b.TempDir(), "m")
	server(b, connects("unix", socket), "memcached", "-u", "root", "-s", socket, "-m", "8")
	svc := &stack.Service{Name: "cache", Kind: stack.Memcached, Listen: []string{"unix:" + socket}}
	cache := &cacheConn{h: host.NewLocal(), svc: svc}
	defer cache.close()
	used := func() float64 {
		values := map[string]string{}
		if err := cache.ask(context.Background(), "stats\r\n", func(r *bufio.Reader) error { return parseMemcachedStats(r, "", values) }); err != nil {
			b.Fatal(err)
		}
		user, _ := strconv.ParseFloat(values["rusage_user"], 64)
		sys, _ := strconv.ParseFloat(values["rusage_system"], 64)
		return user + sys
	}
	const window = 5 * time.Second
	before := used()
	time.Sleep(window)
	idle := used() - before // memcached's own timers
	var own, theirs float64
	for b.Loop() {
		p := newProbe(&cacheConn{h: host.NewLocal(), svc: svc}, &counterSource{})
		theirsWas, ownWas := used(), spent(b)
		p.start(context.Background())
		time.Sleep(window)
		p.end(context.Background())
		own += (spent(b) - ownWas).Seconds()
		theirs += used() - theirsWas - idle
		p.close()
	}
	n := float64(b.N)
	b.ReportMetric(1000*own/n, "kasoku-ms")
	b.ReportMetric(1000*theirs/n, "memcached-ms")
	b.ReportMetric(100*(own+theirs)/n/window.Seconds(), "%-of-a-CPU")
}
