package tune

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// startHAProxy runs a real HAProxy with a master process, whose log goes to
// own.log; lines are put into its defaults, front into its frontend.
func startHAProxy(t *testing.T, lines, front string) *web {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server; run without -short")
	}
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy"
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kahp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// One thread: of two that write to one log at a time HAProxy lets one give up after 200
	// tries, and its line is lost (fd_write_frag_line), as where the other waits for a CPU.
	conf := "global\n    nbthread 1\n    log stdout format raw local0\ndefaults\n    mode http\n    log global\n    timeout client 5s\n    timeout connect 5s\n    timeout server 5s\n" + lines +
		"frontend web\n\tbind " + address + "\n" + front +
		"\thttp-request return status 200 content-type text/plain string ok if { path_beg /a.html }\n\tdefault_backend app\nbackend app\n    http-request return status 200 content-type text/plain string app\n"
	if err := os.WriteFile(dir+"/haproxy.cfg", []byte(conf), 0o640); err != nil {
		t.Fatal(err)
	}
	w := &web{dir: dir, url: "http://" + address, hosts: map[string]host.Host{"local": host.NewLocal()}, files: []string{"haproxy.cfg"}}
	w.st = &stack.Stack{Dir: dir, Name: "web", Load: stack.LoadConfig{URL: w.url}, Services: []stack.Service{{Name: "lb", Kind: stack.App, Binary: program,
		Config: dir + "/haproxy.cfg", AccessLog: dir + "/own.log", Listen: []string{address}, Control: stack.Control{Method: "process"}}}}
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", `exec "$@" >own.log`, "sh", program, "-W", "-f", dir+"/haproxy.cfg")
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = dir, &out, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	w.ready(t, &out)
	return w
}

func (w *web) config(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, w.files[0]))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestHAProxyLogIsGivenTimes: the configuration says httplog during a run, its
// log tells routes with times, and then the file is as it was, byte for byte.
func TestHAProxyLogIsGivenTimes(t *testing.T) {
	const own = "\tlog-format '%ci [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r'\n"
	for name, c := range map[string]struct{ lines, front, during string }{
		"nothing said":         {"", "", "frontend web\n\toption httplog\n\tbind"},
		"tcplog":               {"", "\toption  tcplog # old\n", "\toption httplog # old\n"},
		"tcplog in defaults":   {"    option tcplog\n", "", "    option tcplog\nfrontend web\n\toption httplog\n\tbind"},
		"clf":                  {"    option httplog\n", "\toption httplog clf\n", "\toption httplog\n"},
		"a format without":     {"", "\tlog-format '%ci %r'\r\n", "\tlog-format '%ci %r'\r\n\toption httplog\n"},
		"full already":         {"    option httplog\n", "", ""},
		"a full format of own": {"", own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := startHAProxy(t, c.lines, c.front)
			before := w.config(t)
			info, err := os.Stat(w.dir + "/haproxy.cfg")
			if err != nil {
				t.Fatal(err)
			}
			ev := w.instrumented(t, accessLog, func() *load.Result {
				if now := w.config(t); c.during == "" && now != before || !strings.Contains(now, c.during) || strings.Count(now, "\n")-strings.Count(before, "\n") > 1 {
					t.Errorf("during the run:\n%s", now)
				}
				w.get(t, "/a.html", 8)
				for i := range 12 {
					w.get(t, fmt.Sprintf("/items/%d", i), 1)
				}
				return &load.Result{Requests: 20, Window: time.Second}
			}, 20)
			var got []string
			for _, r := range ev.Routes {
				got = append(got, fmt.Sprintf("%d %s %s timed=%v", r.Count, r.Method, r.Route, r.Time.Count == r.Count))
			}
			slices.Sort(got)
			if want := []string{"12 GET /items/:id timed=true", "8 GET /a.html timed=true"}; !slices.Equal(got, want) {
				t.Errorf("routes %q, want %q\nhealth %+v\ntold %q", got, want, ev.Health, w.told)
			}
			for _, h := range healthOf(ev, "access log of lb") {
				if !h.OK || strings.Contains(h.Text, "not judged") {
					t.Errorf("unhealthy: %+v", h)
				}
			}
			if len(w.told) > 0 {
				t.Errorf("told %q", w.told)
			}
			after, err := os.Stat(w.dir + "/haproxy.cfg")
			if err != nil || host.HashOf([]byte(w.config(t))) != host.HashOf([]byte(before)) || after.Mode() != info.Mode() {
				t.Errorf("the file is another one: %v\n%s", err, w.config(t))
			}
			// Its workers are those of the configuration as found.
			was := lines(w.dir + "/own.log")
			w.get(t, "/items/1", 1)
			await.For(t, "the line", func() bool { return lines(w.dir+"/own.log") > was })
			data, err := os.ReadFile(w.dir + "/own.log")
			if err != nil {
				t.Fatal(err)
			}
			last := string(data[bytes.LastIndexByte(bytes.TrimSpace(data), '\n')+1:])
			if timed := strings.Contains(last, `"GET /items/1 HTTP/1.1"`) && strings.Contains(last, "/0/"); c.during != "" && timed && name != "clf" {
				t.Errorf("it still writes %q", last)
			}
		})
	}
}

// TestHAProxyLogAfterAKill: what a killed run left is put back by recover.
func TestHAProxyLogAfterAKill(t *testing.T) {
	w := startHAProxy(t, "", "")
	before := w.config(t)
	if _, _, err := place(t.Context(), w.exec, &Bench{Stack: w.st, Hosts: w.hosts}, w.snapshot(t), []planner{accessLog}, quiet{}); err != nil {
		t.Fatal(err)
	}
	if n := len(w.exec.Pending()); n != 1 || w.config(t) == before {
		t.Fatalf("%d instruments in place", n)
	}
	if _, err := w.exec.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if now := w.config(t); now != before || len(w.exec.Pending()) > 0 {
		t.Errorf("after recover:\n%s", now)
	}
	w.get(t, "/a.html", 1)
}

// TestHAProxyLogWhereItCannotBe: what is not done is said, and nothing changes.
func TestHAProxyLogWhereItCannotBe(t *testing.T) {
	plan := func(conf string, spoil func(*stack.Service, *evidence.Snapshot)) ([]change.Change, string) {
		svc := stack.Service{Name: "lb", Kind: stack.App, Binary: "/usr/sbin/haproxy", Config: "/h.cfg", AccessLog: "/h.log"}
		snap := &evidence.Snapshot{HAProxy: map[string][]string{"lb": {"/h.cfg"}}, Apps: map[string]evidence.AppProcess{"lb": {Children: 1}},
			Users: map[string]evidence.ProcessUser{"local/lb": {}},
			Files: map[string]map[string]evidence.File{"local": {"/h.cfg": {Content: []byte(conf), Writable: true}}}}
		if spoil != nil {
			spoil(&svc, snap)
		}
		all := accessLog(&Bench{Stack: &stack.Stack{Services: []stack.Service{svc}}}, snap)
		if len(all) == 0 {
			return nil, ""
		}
		return all[0].changes, all[0].not
	}
	const some = "global\n log 127.0.0.1:514 local0\nfrontend web\n mode http\n bind :80\n log global\n"
	for name, c := range map[string]struct {
		conf    string
		spoil   func(*stack.Service, *evidence.Snapshot)
		changes int
		not     string
	}{
		"as it should be":     {some, nil, 1, ""},
		"a page without log":  {some + "listen stats\n mode http\n", nil, 1, ""},
		"no log at all":       {"frontend web\n mode http\n", nil, 0, "frontend web: no log is said to be written there"},
		"errors only":         {"frontend web\n mode http\n log /dev/log len 4096 local0 notice\n", nil, 0, "no log is said"},
		"tcp":                 {strings.Replace(some, "http", "tcp", 1), nil, 0, ""},
		"a condition":         {some + " .if 1\n option tcplog\n .endif\nlisten b\n mode http\n log global\n", nil, 1, "frontend web: option stands in an .if block; add the line 'option httplog' there by hand"},
		"a variable":          {strings.Replace(some, "mode http", `mode "${MODE}"`, 1), nil, 0, "mode has an environment variable"},
		"a scope":             {"[x]\n" + some, nil, 0, "scope"},
		"no configuration":    {some, func(s *stack.Service, _ *evidence.Snapshot) { s.Config = "" }, 0, ""},
		"no log named":        {some, func(s *stack.Service, _ *evidence.Snapshot) { s.AccessLog = "" }, 0, ""},
		"not read":            {some, func(_ *stack.Service, s *evidence.Snapshot) { s.HAProxy = nil }, 0, "was not read"},
		"off":                 {some, func(_ *stack.Service, s *evidence.Snapshot) { s.Users = nil }, 0, ""},
		"no master process":   {some, func(_ *stack.Service, s *evidence.Snapshot) { s.Apps = nil }, 0, "without a master process"},
		"a reload of its own": {some, func(v *stack.Service, s *evidence.Snapshot) { s.Apps, v.Control.Reload = nil, []string{"x"} }, 1, ""},
		"read-only": {some, func(_ *stack.Service, s *evidence.Snapshot) {
			f := s.Files["local"]["/h.cfg"]
			f.Writable = false
			s.Files["local"]["/h.cfg"] = f
		}, 0, "no permission to write it"},
	} {
		changes, not := plan(c.conf, c.spoil)
		if len(changes) != c.changes || (not == "") != (c.not == "") || !strings.Contains(not, c.not) {
			t.Errorf("%s: %d changes, %q", name, len(changes), not)
		}
	}
}

// TestHAProxyRefusesItsInstrument: a configuration that HAProxy does not take
// is not activated, and the file is put back.
func TestHAProxyRefusesItsInstrument(t *testing.T) {
	w := startHAProxy(t, "", "")
	told := &warnings{}
	// Somebody is about to write it, and is not done.
	if err := os.WriteFile(w.dir+"/haproxy.cfg", []byte(w.config(t)+"    nonsense\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	broken := w.config(t)
	_, away, err := place(t.Context(), w.exec, &Bench{Stack: w.st, Hosts: w.hosts}, w.snapshot(t), []planner{accessLog}, told)
	if err != nil {
		t.Fatal(err)
	}
	if err := away(); err != nil {
		t.Error(err)
	}
	if w.config(t) != broken || len(told.texts) != 1 || !strings.Contains(told.texts[0], "nonsense") {
		t.Errorf("told %q\n%s", told.texts, w.config(t))
	}
	w.get(t, "/a.html", 1)
}
