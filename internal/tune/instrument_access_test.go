package tune

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// web is a real nginx with static files and a configuration in two files.
type web struct {
	dir, url string
	st       *stack.Stack
	hosts    map[string]host.Host
	exec     *change.Executor
	files    []string     // that are to be as before
	log      string       // that an instrument added, during observe
	told     []string     // of instruments that could not be had
	up       func() error // nil: it answers by HTTP
}

// startWeb runs nginx with these lines in its http block; @DIR@ is its folder.
func startWeb(t *testing.T, lines, site string) *web {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server; run without -short")
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kacc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	files := map[string]string{
		"nginx.conf": "worker_processes 2;\npid @DIR@/nginx.pid;\nerror_log @DIR@/error.log;\nevents { worker_connections 64; }\nhttp {\n    include site.types;\n" + lines +
			"    client_body_temp_path @DIR@/t1; proxy_temp_path @DIR@/t2; fastcgi_temp_path @DIR@/t3; uwsgi_temp_path @DIR@/t4; scgi_temp_path @DIR@/t5;\n    include conf.d/*.conf;\n}\n",
		"site.types":       "types { text/html html; }\n",
		"conf.d/site.conf": "server {\n    listen " + address + ";\n    root @DIR@/public;\n" + site + "}\n",
		"public/a.html":    "a", "public/s/b.html": "b",
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.ReplaceAll(text, "@DIR@", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &web{dir: dir, url: "http://" + address, hosts: map[string]host.Host{"local": host.NewLocal()}, files: []string{"nginx.conf", "site.types", "conf.d/site.conf"}}
	w.st = &stack.Stack{Dir: dir, Name: "web", Load: stack.LoadConfig{URL: w.url}, Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Binary: program,
		Config: dir + "/nginx.conf", Prefix: dir, Listen: []string{address}, Control: stack.Control{Method: "process", PIDFile: dir + "/nginx.pid"}}}}
	var out bytes.Buffer
	cmd := exec.Command(program, "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	w.ready(t, &out)
	return w
}

// ready waits until the server answers, and opens the journal.
func (w *web) ready(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	up := w.up
	if up == nil {
		up = func() error {
			res, err := http.Get(w.url + "/a.html")
			if err == nil {
				res.Body.Close()
			}
			return err
		}
	}
	await.ForOr(t, "the server", out.String, func() bool { return up() == nil })
	var err error
	w.exec, err = change.Open(t.Context(), change.Options{Dir: filepath.Join(w.dir, ".kasoku"), Stack: w.st, Hosts: w.hosts,
		Control: func(name string) (change.Controller, error) {
			return stack.NewController(w.hosts["local"], w.st, w.st.Service(name))
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.exec.Close() })
}

// tree is every configuration file's bytes, and what lies in the folder.
func (w *web) tree(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, p := range w.files {
		data, err := os.ReadFile(filepath.Join(w.dir, p))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s", p, data)
	}
	left, _ := filepath.Glob(w.dir + "/kasoku-*")
	fmt.Fprint(&b, left)
	return b.String()
}

func (w *web) get(t *testing.T, path string, n int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range n {
		res, err := client.Get(w.url + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
}

// observe gives it a log with times, asks for both pages within a window, and
// puts everything back.
func (w *web) observe(t *testing.T) *evidence.Evidence {
	t.Helper()
	return w.instrumented(t, accessLog, func() *load.Result {
		w.get(t, "/a.html", 40)
		w.get(t, "/s/b.html", 20)
		w.get(t, "/no/17", 2)
		w.get(t, "/no/18", 2)
		return &load.Result{Requests: 64, Window: time.Second}
	}, 64)
}

func (w *web) snapshot(t *testing.T) *evidence.Snapshot {
	t.Helper()
	snap, err := evidence.Take(t.Context(), w.st, w.hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// warnings are what a run would tell of instruments that it does without.
type warnings struct{ texts []string }

func (*warnings) Step(string)           {}
func (*warnings) Info(string)           {}
func (x *warnings) Warn(text, _ string) { x.texts = append(x.texts, text) }

type planner = func(*Bench, *evidence.Snapshot) []instrument

// instrumented puts instruments in place, does the work within a window until
// the log has so many lines more, and puts everything back.
func (w *web) instrumented(t *testing.T, plan planner, work func() *load.Result, written int) *evidence.Evidence {
	t.Helper()
	return w.placed(t, []planner{plan}, work, written)
}

func (w *web) placed(t *testing.T, plans []planner, work func() *load.Result, written int) *evidence.Evidence {
	t.Helper()
	ctx := t.Context()
	before, log, told := w.tree(t), filepath.Join(w.dir, "own.log"), &warnings{}
	b := &Bench{Stack: w.st, Hosts: w.hosts}
	snap := w.snapshot(t)
	watch, away, err := place(ctx, w.exec, b, snap, plans, told)
	defer func() {
		if err := away(); err != nil {
			t.Error(err)
		}
		if after := w.tree(t); after != before {
			t.Errorf("not as found:\n%s\nbut\n%s", before, after)
		}
		w.nothingLeft(t)
	}()
	if err != nil {
		t.Fatal(err)
	}
	w.told, w.log = told.texts, ""
	for _, tx := range w.exec.Pending() {
		if added := filepath.Join(tx.Changes[0].Path, "access.log"); tx.Changes[0].Kind == change.KindDir && strings.Contains(tx.Title, "access log") {
			log, w.log = added, added
		}
	}
	b.Instruments.Plain = true
	for _, plan := range plans {
		if plan(b, snap) != nil {
			t.Error("a plain run gets an instrument")
		}
	}
	opts := evidence.CollectorOptions{Diagnostic: true}
	for _, set := range watch {
		set(&opts)
	}
	col, err := evidence.NewCollector(ctx, w.st, w.hosts, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer col.Close()
	if err := col.Start(ctx); err != nil {
		t.Fatal(err)
	}
	was := lines(log)
	res := work()
	// The last lines are written after the answers.
	await.For(t, "the last lines", func() bool { return lines(log) >= was+written })
	if err := col.End(ctx); err != nil {
		t.Fatal(err)
	}
	ev, err := col.Stop(ctx, res)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// nothingLeft: no folder that an instrument made is there any more.
func (w *web) nothingLeft(t *testing.T) {
	t.Helper()
	txs, err := change.Read(filepath.Join(w.dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs {
		for _, c := range tx.Changes {
			if c.Kind != change.KindDir {
				continue
			}
			if _, err := os.Stat(c.Path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was left behind: %v", c.Path, err)
			}
		}
	}
}

// lines of a file; 0 if there is none.
func lines(file string) int {
	data, _ := os.ReadFile(file)
	return bytes.Count(data, []byte("\n"))
}

func healthOf(ev *evidence.Evidence, source string) (out []evidence.Health) {
	for _, h := range ev.Health {
		if h.Source == source {
			out = append(out, h)
		}
	}
	return out
}

func TestAccessLogIsGivenTimes(t *testing.T) {
	const timed = "    log_format timed '$msec \"$request\" $status $body_bytes_sent $request_time $upstream_response_time';\n"
	for name, c := range map[string]struct{ lines, site, own string }{
		"off":                    {"    access_log off;\n", "", ""},
		"nothing said":           {"", "", ""}, // the log that nginx was compiled with
		"inherited without time": {"    access_log @DIR@/own.log;\n", "    location /s/ { access_log off; }\n    location /no/ { access_log @DIR@/own.log combined; access_log @DIR@/other.log; }\n", "own.log"},
		"buffered":               {timed + "    access_log @DIR@/own.log timed buffer=64k flush=1h;\n", "", ""},
		"full already":           {timed + "    access_log @DIR@/own.log timed;\n", "", "own.log"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.lines == "" && os.Getuid() != 0 {
				t.Skip("only root may write to the log that nginx was compiled with")
			}
			w := startWeb(t, c.lines, c.site)
			ev := w.observe(t)
			var got []string
			timed := true
			for _, r := range ev.Routes {
				got = append(got, fmt.Sprintf("%d %s %s", r.Count, r.Method, r.Route))
				timed = timed && r.Time.Count == r.Count
			}
			all := strings.Join(got, "\n")
			for _, want := range []string{"40 GET /a.html", "20 GET /s/b.html", "4 GET /no/:id"} {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s\nhealth %+v", want, all, ev.Health)
				}
			}
			if !timed {
				t.Errorf("routes without times: %+v", ev.Routes)
			}
			for _, h := range healthOf(ev, "access log of web") {
				if !h.OK {
					t.Errorf("unhealthy: %+v", h)
				}
			}
			if c.own != "" { // the log that was there went on
				if n := lines(filepath.Join(w.dir, c.own)); n < 40 {
					t.Errorf("%s has %d lines", c.own, n)
				}
			}
			if len(ev.Logs) != 1 || ev.Logs[0].Count != 4 || ev.Logs[0].Level != "error" {
				t.Errorf("error log: %+v", ev.Logs)
			}
		})
	}
}
