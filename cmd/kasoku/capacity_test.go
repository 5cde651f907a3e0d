package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/capacity"
	"kasoku/internal/ui"
)

// slowStack starts an nginx in front of a page that takes 10 ms, and returns its
// kasoku.yaml. The page is so long that nginx's CPU can be seen in a short run
// (the kernel counts it in hundredths of a second).
func slowStack(t *testing.T) string {
	t.Helper()
	url, socket := startFiles(t)
	dir := filepath.Dir(socket)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * time.Millisecond)
		io.WriteString(w, "done"+strings.Repeat(" ", 1<<19))
	}))
	t.Cleanup(page.Close)
	// The files' nginx with one more location.
	conf := filepath.Join(dir, "nginx.conf")
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(text), "location = /moved", "location = /slow { proxy_pass "+page.URL+"; }\n    location = /moved", 1)
	if err := os.WriteFile(conf, []byte(with), 0o644); err != nil {
		t.Fatal(err)
	}
	var pid []byte // nginx answers a moment before it writes it
	await.For(t, "nginx to write its process number", func() bool {
		pid, err = os.ReadFile(filepath.Join(dir, "pid"))
		return err == nil && len(pid) > 0
	})
	var worker int // started after the file is written
	await.NoError(t, "nginx's worker", func() error {
		master := strings.TrimSpace(string(pid))
		text, err := os.ReadFile("/proc/" + master + "/task/" + master + "/children")
		if err == nil {
			_, err = fmt.Sscan(string(text), &worker)
		}
		return err
	})
	if out, err := exec.Command("kill", "-HUP", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("reload nginx: %v\n%s", err, out)
	}
	await.Gone(t, worker) // after a reload it answers beside the new one for a moment
	res, err := http.Get(url + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Fatalf("nginx does not pass requests on: %s", res.Status)
	}
	binary, err := exec.LookPath("nginx")
	if err != nil {
		binary = "/usr/sbin/nginx"
	}
	folder := t.TempDir()
	stack := fmt.Sprintf("version: 1\nname: slow\nservices:\n  - {name: web, kind: nginx, binary: %s, config: %s, listen: [%q], control: {pid_file: %s}}\n"+
		"evidence: {profile: \"off\"}\ntune: {max_foreign_cpu: 1}\nload: {scenario: scenario.yaml, url: %q}\n",
		binary, conf, strings.TrimPrefix(url, "http://"), filepath.Join(dir, "pid"), url)
	scenario := "version: 1\nname: slow\nworkload: 2\nwarmup: 300ms\nduration: 1s\nsessions:\n  - name: visit\n    steps:\n      - request: GET /slow\n        expect: {contains: [done]}\n"
	for name, text := range map[string]string{"kasoku.yaml": stack, "scenario.yaml": scenario} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "kasoku.yaml")
}

// The stack's scenario is measured with 1 and 2 users, each twice; the runs are
// stored with what the host spent, and asked again without load. Users that wait
// 10 ms for each answer do at most 100/s each, so that a host used with two does
// not carry 250/s.
func TestCapacityOfAStack(t *testing.T) {
	await.SkipShort(t)
	file := slowStack(t)
	ask := func(args ...string) capacity.Plan {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(append([]string{"--file", file, "--json", "capacity", "--rate", "250", "--headroom", "0%"}, args...), &out, &errs); code != ui.OK {
			t.Fatalf("%v ended with %d\n%s", args, code, errs.String())
		}
		var p capacity.Plan
		if err := json.Unmarshal(out.Bytes(), &p); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		return p
	}
	p := ask("--measure", "--most-users", "2", "-d", "500ms", "--budget", "60s")
	if p.Axis != capacity.Users || len(p.Levels) != 4 || p.Hosts != 1 || p.Need == nil || p.Need.N < 2 || p.Operating.PerSecond > 210 {
		t.Errorf("measured: %+v, need %+v, dropped %+v", p, p.Need, p.Dropped)
	}
	cpu := false
	for _, c := range p.Costs {
		cpu = cpu || c.Resource == "cpu" && c.PerRequest > 0 && c.Needed >= 1 && len(c.Services) == 1
	}
	if !cpu {
		t.Errorf("costs %+v", p.Costs)
	}
	stored := ask()
	if len(stored.Levels) != 4 || stored.Need.N != p.Need.N || math.Abs(stored.Law.Lambda/p.Law.Lambda-1) > 1e-6 {
		t.Errorf("stored: %+v, measured: %+v", stored.Law, p.Law)
	}
	named := ask("--run", "1", "--run", "2")
	if len(named.Levels) != 2 || named.Law.DF != 0 {
		t.Errorf("named: %+v", named.Levels)
	}
}
