package tune

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// TestStubStatusIsGiven: a real nginx without a status page tells its
// connections while the instruments are in place, and the log's too.
func TestStubStatusIsGiven(t *testing.T) {
	w := startWeb(t, "    access_log @DIR@/own.log;\n    deny 192.0.2.0/24;\n    auth_basic off;\n", "")
	ev := w.placed(t, []planner{accessLog, refused, stubStatus}, func() *load.Result {
		w.get(t, "/a.html", 30)
		return &load.Result{Requests: 30, Window: time.Second}
	}, 30)
	if got := ev.Counters["web"].Delta; got["requests"] != 30 || got["accepts"] < 30 || got["handled"] != got["accepts"] {
		t.Errorf("counters %v\nhealth %+v", got, ev.Health)
	}
	if len(ev.Routes) != 1 || ev.Routes[0].Route != "/a.html" || ev.Routes[0].Count != 30 {
		t.Errorf("routes %+v", ev.Routes)
	}
	for _, h := range append(healthOf(ev, "access log of web"), healthOf(ev, "counters of web")...) {
		if !h.OK || strings.Contains(h.Text, "in no log") {
			t.Errorf("%+v", h)
		}
	}
	// One that fails after another is in place does not cost the others.
	if len(w.told) != 1 || !strings.Contains(w.told[0], "it cannot be had") {
		t.Errorf("told %q", w.told)
	}
}

// refused plans what the journal refuses: a folder that is not Kasoku's.
func refused(b *Bench, _ *evidence.Snapshot) []instrument {
	if b.Instruments.Plain {
		return nil
	}
	return []instrument{{title: "x", fails: "it cannot be had", changes: []change.Change{{Kind: change.KindDir, Path: "/tmp/not-ours"}}}}
}

func TestStubStatusIsNotPlanned(t *testing.T) {
	const conf = "http {\n    server {\n        listen 80;\n    }\n}\n"
	plan := func(spoil func(*stack.Service, *evidence.Snapshot)) []instrument {
		b := &Bench{Stack: &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx, Config: "/n.conf", Prefix: "/srv"}}}}
		snap := &evidence.Snapshot{Users: map[string]evidence.ProcessUser{"local/web": {}}, Nginx: map[string]evidence.NginxBuild{"web": {Modules: []string{"--with-http_stub_status_module"}}},
			Files: map[string]map[string]evidence.File{"local": {"/n.conf": {Content: []byte(conf), Service: "web", Writable: true, Mode: 0o644}}}}
		spoil(&b.Stack.Services[0], snap)
		return stubStatus(b, snap)
	}
	if got := plan(func(*stack.Service, *evidence.Snapshot) {}); len(got) != 1 || len(got[0].changes) != 2 || !strings.Contains(string(got[0].changes[1].After.Content), "stub_status;") {
		t.Fatalf("%+v", got)
	}
	text := func(s string) func(*stack.Service, *evidence.Snapshot) {
		return func(_ *stack.Service, snap *evidence.Snapshot) {
			f := snap.Files["local"]["/n.conf"]
			f.Content = []byte(s)
			snap.Files["local"]["/n.conf"] = f
		}
	}
	for name, c := range map[string]struct {
		spoil func(*stack.Service, *evidence.Snapshot)
		not   string
	}{
		"it has one":         {text("http {\n    server {\n        listen 80;\n        location /s { stub_status; }\n    }\n}\n"), ""},
		"it is given":        {func(svc *stack.Service, _ *evidence.Snapshot) { svc.Status = "http://x/" }, ""},
		"it does not run":    {func(_ *stack.Service, s *evidence.Snapshot) { s.Users = nil }, ""},
		"no http block":      {text("stream { }\n"), ""},
		"without the module": {func(_ *stack.Service, s *evidence.Snapshot) { s.Nginx = nil }, "built without ngx_http_stub_status_module"},
		"a long folder":      {func(svc *stack.Service, _ *evidence.Snapshot) { svc.Prefix = "/" + strings.Repeat("x", 90) }, "longer than 107 bytes"},
		"read-only": {func(_ *stack.Service, s *evidence.Snapshot) {
			f := s.Files["local"]["/n.conf"]
			f.Writable = false
			s.Files["local"]["/n.conf"] = f
		}, "no permission to write it"},
	} {
		got := plan(c.spoil)
		switch {
		case c.not == "" && len(got) > 0, c.not != "" && (len(got) != 1 || len(got[0].changes) > 0 || !strings.Contains(got[0].not, c.not)):
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// startPool runs a real PHP-FPM with one pool of two processes; lines are its
// further settings.
func startPool(t *testing.T, lines string) *web {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server; run without -short")
	}
	found, _ := filepath.Glob("/usr/sbin/php-fpm8.*")
	if len(found) == 0 {
		t.Fatal("no /usr/sbin/php-fpm8.*; see scripts/deps.sh")
	}
	dir, err := os.MkdirTemp("", "kfpm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user = www-data\ngroup = www-data\n"
	}
	conf := strings.ReplaceAll("[global]\npid = @DIR@/fpm.pid\nerror_log = @DIR@/fpm.err\n[www]\n"+user+"listen = @DIR@/php.sock\nlisten.mode = 0666\npm = static\npm.max_children = 2\n"+lines, "@DIR@", dir)
	for name, text := range map[string]string{"fpm.conf": conf, "index.php": "<?php usleep(300000); echo 'ok';"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// OPcache does not keep what is younger than opcache.file_update_protection (2 s).
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "index.php"), old, old); err != nil {
		t.Fatal(err)
	}
	w := &web{dir: dir, url: "http://127.0.0.1:9", hosts: map[string]host.Host{"local": host.NewLocal()}, files: []string{"fpm.conf"}}
	w.st = &stack.Stack{Dir: dir, Name: "php", Load: stack.LoadConfig{URL: w.url}, Services: []stack.Service{{Name: "php", Kind: stack.PHPFPM, Binary: found[0],
		Config: dir + "/fpm.conf", Listen: []string{"unix:" + dir + "/php.sock"}, Control: stack.Control{Method: "process", PIDFile: dir + "/fpm.pid"}}}}
	var out bytes.Buffer
	cmd := exec.Command(found[0], "-F", "-y", dir+"/fpm.conf")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	w.up = func() error {
		if _, err := os.Stat(dir + "/php.sock"); err != nil {
			return err
		}
		_, err := os.Stat(dir + "/fpm.pid")
		return err
	}
	w.ready(t, &out)
	return w
}

// TestFPMTellsItsStatus: a pool without a status page, and without a free
// process in the window, tells that it is full; OPcache tells its memory.
func TestFPMTellsItsStatus(t *testing.T) {
	w := startPool(t, "")
	front := startWeb(t, "", "    location ~ \\.php$ { fastcgi_pass unix:"+w.dir+"/php.sock; fastcgi_param SCRIPT_FILENAME "+w.dir+"/index.php; fastcgi_param REQUEST_METHOD $request_method; }\n")
	ev := w.placed(t, []planner{phpProfiles, fpmStatus, opcacheStatus}, func() *load.Result {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { front.get(t, "/x.php", 1) })
		}
		all.Wait()
		return &load.Result{Requests: 6, Window: time.Second}
	}, 0)
	got := ev.Counters["php"]
	// OPcache is asked at both ends, where the status may be read before or after;
	// where others have the CPU the last status may be one of within the window.
	if n := got.Delta["www.accepted_conn"]; n < 3 || n > 6+2 || got.Value["www.max_active_processes"] != "2" {
		t.Errorf("counters %+v\nhealth %+v", got, ev.Health)
	}
	if got.Value["opcache.opcache_enabled"] != "1" || got.Value["opcache.memory_usage.used_memory"] == "" || got.Delta["opcache.opcache_statistics.hits"] < 1 {
		t.Errorf("OPcache %+v\nhealth %+v", got, ev.Health)
	}
	for _, h := range append(healthOf(ev, "status of php"), healthOf(ev, "OPcache of php")...) {
		if !h.OK || strings.HasPrefix(h.Text, "not judged") {
			t.Errorf("%+v", h)
		}
	}
	if len(w.told) > 0 {
		t.Errorf("told %q", w.told)
	}
}

// TestFullPoolTellsIt: the status is told while no process is free.
func TestFullPoolTellsIt(t *testing.T) {
	w := startPool(t, "")
	begun := filepath.Join(w.dir, "begun")
	if err := os.Mkdir(begun, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(begun, 0o777); err != nil {
		t.Fatal(err)
	}
	// The reload that takes the instrument away ends the first two; the third
	// waits until then and is answered.
	if err := os.WriteFile(w.dir+"/busy.php", []byte("<?php touch('"+begun+"/' . getmypid()); if (count(glob('"+begun+"/*')) <= 2) sleep(60);"), 0o644); err != nil {
		t.Fatal(err)
	}
	front := startWeb(t, "", "    location / { fastcgi_pass unix:"+w.dir+"/php.sock; fastcgi_param SCRIPT_FILENAME "+w.dir+"/busy.php; fastcgi_param REQUEST_METHOD $request_method; }\n    location = /a.html { }\n")
	var all sync.WaitGroup
	ev := w.placed(t, []planner{fpmStatus}, func() *load.Result {
		for range 3 {
			all.Go(func() { front.get(t, "/x", 1) })
		}
		await.For(t, "two busy processes", func() bool {
			busy, _ := os.ReadDir(begun)
			return len(busy) == 2
		})
		return &load.Result{Requests: 3, Window: time.Second}
	}, 0)
	all.Wait()
	if got := ev.Counters["php"].Value; got["www.active_processes"] != "2" || got["www.idle_processes"] != "0" {
		t.Errorf("counters %v\nhealth %+v", got, ev.Health)
	}
}

// TestOPcacheIsNotAsked: what a pool does not permit is said, not worked around.
func TestOPcacheIsNotAsked(t *testing.T) {
	for line, want := range map[string]string{
		"php_admin_value[open_basedir] = @DIR@\n":               "open_basedir",
		"php_admin_value[disable_functions] = json_encode\n":    "disable_functions has json_encode",
		"php_value[auto_prepend_file] = @DIR@/index.php\n":      "auto_prepend_file",
		"php_admin_value[opcache.restrict_api] = @DIR@/admin\n": "opcache.restrict_api",
	} {
		b, snap := opcacheSnapshot(line)
		plans := opcacheStatus(b, snap)
		if len(plans) != 1 || len(plans[0].changes) > 0 || plans[0].watch == nil {
			t.Errorf("%s: %+v", line, plans)
			continue
		}
		var o evidence.CollectorOptions
		plans[0].watch(&o)
		if page := o.OPcache["php"]; page.File != "" || !strings.Contains(page.Refused, want) {
			t.Errorf("%s: %+v", line, page)
		}
	}
	b, snap := opcacheSnapshot("php_admin_value[opcache.enable] = 0\n")
	snap.PHP["php"]["opcache.enable"] = "Off"
	if plans := opcacheStatus(b, snap); len(plans) != 1 || len(plans[0].changes) > 0 {
		t.Errorf("%+v", plans)
	}
	b, snap = opcacheSnapshot("security.limit_extensions = .phtml .php\n")
	if plans := opcacheStatus(b, snap); len(plans) != 1 || len(plans[0].changes) != 2 || !strings.HasSuffix(plans[0].changes[1].Path, "/status.phtml") {
		t.Errorf("%+v", plans)
	}
}

// opcacheSnapshot is of a pool with one more line.
func opcacheSnapshot(line string) (*Bench, *evidence.Snapshot) {
	values := map[string]string{"version": "8.2.1", "opcache.enable": "On"}
	if name, value, ok := strings.Cut(strings.TrimSpace(line), "] = "); ok {
		_, name, _ = strings.Cut(name, "[")
		values["pool.www."+name] = value
	}
	b := &Bench{Stack: &stack.Stack{Services: []stack.Service{{Name: "php", Kind: stack.PHPFPM, Config: "/etc/fpm.conf"}}}}
	return b, &evidence.Snapshot{SharedMemory: "/dev/shm", PHP: map[string]map[string]string{"php": values},
		Users: map[string]evidence.ProcessUser{"local/php": {UID: 33}},
		Files: map[string]map[string]evidence.File{"local": {"/etc/fpm.conf": {Content: []byte("[www]\nlisten = /run/php.sock\n" + line), Service: "php", Writable: true, Mode: 0o644}}}}
}

// TestLentCounters: what only the diagnostic run was told fits the reference's
// window; what both know is the reference's.
func TestLentCounters(t *testing.T) {
	delta := func(n float64) map[string]float64 { return map[string]float64{"requests": n} }
	ref := &evidence.Evidence{Load: &load.Result{Requests: 1000}, Counters: map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Questions": 7}, Value: map[string]string{"Uptime": "5"}}}}
	own := &evidence.Evidence{Load: &load.Result{Requests: 500}, Counters: map[string]evidence.CounterDelta{
		"db":  {Delta: map[string]float64{"Questions": 100, "New": 2}, Value: map[string]string{"Uptime": "9", "New": "3"}},
		"web": {Delta: delta(500), Value: map[string]string{"active": "4"}},
		"php": {Delta: map[string]float64{"opcache.opcache_statistics.misses": 90, "www.slow_requests": 3, "www.max_children_reached": 1}}}}
	got := lent(ref, own)
	if got["db"].Delta["Questions"] != 7 || got["db"].Value["Uptime"] != "5" || got["db"].Delta["New"] != 4 || got["db"].Value["New"] != "3" || got["web"].Delta["requests"] != 1000 || got["web"].Value["active"] != "4" {
		t.Errorf("%+v", got)
	}
	if php := got["php"].Delta; len(php) != 1 || php["www.max_children_reached"] != 2 {
		t.Errorf("what instruments made it count: %v", php)
	}
	if len(ref.Counters) != 1 || len(ref.Counters["db"].Delta) != 1 || own.Counters["web"].Delta["requests"] != 500 {
		t.Error("the runs' own counters were changed")
	}
}

// TestInstrumentsAreTakenAway: two instruments of one file, each in a
// transaction of its own, are put back after Ctrl-C and after a kill.
func TestInstrumentsAreTakenAway(t *testing.T) {
	w := startWeb(t, "    access_log off;\n", "")
	before := w.tree(t)
	b, plans := &Bench{Stack: w.st, Hosts: w.hosts}, []planner{accessLog, stubStatus}
	set := func(ctx context.Context) func() error {
		_, away, err := place(ctx, w.exec, b, w.snapshot(t), plans, quiet{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(w.exec.Pending()); n != 2 || w.tree(t) == before {
			t.Fatalf("%d instruments in place", n)
		}
		return away
	}
	ctx, stop := context.WithCancel(t.Context())
	away := set(ctx)
	stop()
	if err := away(); err != nil {
		t.Error(err)
	}
	if now := w.tree(t); now != before {
		t.Fatalf("after Ctrl-C:\n%s", now)
	}
	set(t.Context()) // and nobody takes it away
	if _, err := w.exec.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if now := w.tree(t); now != before || len(w.exec.Pending()) > 0 {
		t.Errorf("after recover:\n%s", now)
	}
	w.nothingLeft(t)
	w.get(t, "/a.html", 1)
}
