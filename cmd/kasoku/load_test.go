package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/load"
)

// TestLoadScripts runs testdata/load: `kasoku load` on a real nginx, at $URL
// and on the unix socket $SOCKET.
func TestLoadScripts(t *testing.T) {
	await.SkipShort(t)
	url, socket := startFiles(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/load", Setup: func(e *testscript.Env) error {
		e.Setenv("URL", url)
		e.Setenv("SOCKET", socket)
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"growing": growing}})
}

// growing OPTION COMMAND… runs a command with the option set to 400 ms, and if it fails
// to twice as long again and again: a short window may pass without an answer, or be one
// long pause, where others have the CPU. The output is that of the run that succeeds.
func growing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: growing OPTION COMMAND…")
	}
	const longest = 400 * time.Millisecond << 6
	var err error
	for window := 400 * time.Millisecond; window <= longest; window *= 2 {
		if err = ts.Exec(args[1], append(args[2:], args[0], window.String())...); err == nil {
			return
		}
	}
	ts.Fatalf("no window up to %s is enough: %v", longest, err)
}

// startFiles starts an nginx with a file /1k of 1024 bytes, a redirect, and /few, the
// same file to 100 a second and 20 more.
func startFiles(t *testing.T) (url, socket string) {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		binary = "/usr/sbin/nginx"
	}
	dir, err := os.MkdirTemp("", "load") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers are another user
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	socket = filepath.Join(dir, "n.sock")
	conf := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 512; }
http {
  access_log off; limit_req_zone all zone=few:64k rate=100r/s; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  server {
    listen %[2]s; listen unix:%[3]s; root %[1]s; keepalive_requests 10000000;
    location = /few { limit_req zone=few burst=20 nodelay; limit_req_log_level info; alias %[1]s/1k; }
    location = /moved { return 301 http://$http_host/1k; }
  }
}
`, dir, address, socket)
	for name, text := range map[string]string{"nginx.conf": conf, "1k": strings.Repeat("x", 1024)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf"))
	if err := cmd.Start(); err != nil {
		t.Fatalf("start nginx: %v; install it with make deps", err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) // the master ends its workers
		cmd.Wait()
	})
	said := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "error.log"))
		return string(text)
	}
	await.ForOr(t, "nginx", said, func() bool { return await.Dial(address) == nil })
	return "http://" + address, socket
}

// The summary fits where people paste it.
func TestLoadSummaryIsShort(t *testing.T) {
	res := &load.Result{Workload: 32, Window: 10 * time.Second, Requests: 1000, Succeeded: 990, Mismatches: 10, GeneratorCPU: time.Second,
		Saturated: "the generator used 97 % of the 2 processors", Engine: "epoll", Open: &load.Open{Planned: 1000}}
	for i := range 20 {
		res.Routes = append(res.Routes, load.RouteResult{Route: fmt.Sprintf("GET /%d%s", i, strings.Repeat("x", 100)), Requests: 5})
		res.Samples = append(res.Samples, load.Mismatch{Kind: "mismatch", Request: fmt.Sprintf("GET /%d", i), Got: strings.Repeat("long\n\x1b[2J", 100)})
	}
	var b strings.Builder
	if err := loadSummary(&b, &loading{request: "GET / on http://127.0.0.1"}, res); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) > 25 {
		t.Errorf("%d lines, want at most 25:\n%s", len(lines), b.String())
	}
	if strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "NO EVIDENCE") {
		t.Errorf("got:\n%s", b.String())
	}
}

// The curve of the machine's CPU is from 0 to 100 % and as long as that of the
// rates; a reading that tells nothing new adds nothing.
func TestLoadScreenCPU(t *testing.T) {
	s := newLoadScreen(nil, "")
	if got := s.cpuLine(); got != "CPU" {
		t.Errorf("before a reading: %q", got)
	}
	s.noteCPU(100, 1000)
	s.noteCPU(100, 1000)
	for i := range 60 {
		s.noteCPU(100+0.25*float64(i+1), 1000+0.5*float64(i+1))
	}
	s.noteCPU(200, 1031) // other clocks than the sum's: never above all
	if n := len(s.used); n != sparkWidth || s.used[0] != 0.5 || s.used[n-1] != 1 {
		t.Errorf("%d bars: %v", n, s.used)
	}
	if got := s.cpuLine(); !strings.HasPrefix(got, "CPU            100 %  ▅") || !strings.HasSuffix(got, "▅█") {
		t.Errorf("%q", got)
	}
	s.reset()
	await.For(t, "a reading of this machine that tells something new", func() bool {
		s.readCPU()
		return len(s.used) > 0
	})
	if len(s.used) != 1 {
		t.Errorf("of this machine: %v", s.used)
	}
}

// The screen's curve has one bar for each interval and begins anew with each
// phase's counts.
func TestLoadScreenFollows(t *testing.T) {
	s := &loadScreen{}
	for i := range 100 {
		phase := load.PhaseWarmup
		if i >= 50 {
			phase = load.PhaseMeasure
		}
		n := int64(i % 50)
		s.follow(load.Progress{Phase: phase, Elapsed: time.Duration(n) * 250 * time.Millisecond, Succeeded: 100 * n,
			GeneratorCPU: time.Duration(i) * 125 * time.Millisecond})
	}
	if len(s.rates) != sparkWidth || s.rates[0] != 400 || s.rates[sparkWidth-1] != 400 || s.cpu != 0.5 {
		t.Errorf("%d bars, %v, generator %g", len(s.rates), s.rates, s.cpu)
	}
}
