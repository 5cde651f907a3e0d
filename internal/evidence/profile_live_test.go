package evidence

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// observeAll runs the sources around load.
func observeAll(t *testing.T, find func(context.Context, setting) ([]source, []Health), s setting, load func()) *Evidence {
	t.Helper()
	sources, health := find(t.Context(), s)
	ev := &Evidence{Health: health}
	for _, x := range sources {
		defer x.close()
		x.start(t.Context())
	}
	load()
	for _, x := range sources {
		x.end(t.Context())
	}
	for _, x := range sources {
		x.tell(t.Context(), ev)
	}
	return ev
}

// the only profile, which must be of a tool and have an artifact that can be
// read.
func (ev *Evidence) only(t *testing.T, tool, of string) Profile {
	t.Helper()
	for _, p := range ev.Profiles {
		if p.Tool != tool || p.Of != of {
			continue
		}
		read, err := profile.ParseData(p.Data)
		if err != nil || len(read.Sample) == 0 || p.Samples <= 0 || len(p.Top) == 0 {
			t.Fatalf("%+v: %v", p, err)
		}
		return p
	}
	t.Fatalf("no profile by %s; %+v", tool, ev.Health)
	return Profile{}
}

func (p Profile) frame(t *testing.T, function string) ProfileFrame {
	t.Helper()
	for _, f := range p.Top {
		if f.Function == function {
			return f
		}
	}
	t.Fatalf("%s is not among the functions: %+v", function, p.Top)
	return ProfileFrame{}
}

func (ev *Evidence) told(part string) bool {
	for _, h := range ev.Health {
		if strings.Contains(h.Source+": "+h.Text, part) {
			return true
		}
	}
	return false
}

func setFor(svc stack.Service, pids ...int) setting {
	return setting{st: &stack.Stack{Services: []stack.Service{svc}}, hosts: map[string]host.Host{"local": host.NewLocal()},
		opts: CollectorOptions{Diagnostic: true, Profile: true}, roots: map[string]map[string][]int{"local": {svc.Name: pids}}}
}

// TestPerf profiles a shell that counts: it runs everywhere, and all its time
// is CPU time.
func TestPerf(t *testing.T) {
	await.SkipShort(t)
	if _, err := program("perf"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "sh -c 'while :; do i=$((i+1)); done' & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	pid := strconv.Itoa(cmd.Process.Pid)
	await.For(t, "the child", func() bool {
		children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
		return err == nil && len(children) > 0
	})
	var ev *Evidence
	// On a full machine perf itself is slow to start.
	for window := time.Second; window < 20*time.Second; window *= 2 {
		ev = observeAll(t, findPerf, setFor(stack.Service{Name: "count", Kind: stack.App, Host: "local"}, cmd.Process.Pid), func() { time.Sleep(window) })
		if len(ev.Profiles) > 0 {
			break
		}
	}
	if ev.told("the kernel refuses perf") {
		t.Skipf("%+v", ev.Health)
	}
	p := ev.only(t, "perf", "")
	if p.Service != "count" || p.Wall || p.Period == 0 || !ev.told("perf of count") {
		t.Errorf("%+v %+v", p, ev.Health)
	}
	var self float64
	for _, f := range p.Top {
		self += f.Self
	}
	if self < 0.3 || self > 1.0001 {
		t.Errorf("the shares of %d functions are %.2f in all", len(p.Top), self)
	}
}

func TestPerfWithoutSamples(t *testing.T) {
	if h := noSample("perf of db", 3); h.OK || !strings.Contains(h.Text, "3.0 s of CPU") {
		t.Errorf("%+v", h)
	}
	if h := noSample("perf of db", 0.1); !h.OK {
		t.Errorf("%+v", h)
	}
}

func TestPerfOfWhatIsNotThere(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	ev := observeAll(t, findPerf, setFor(stack.Service{Name: "gone", Kind: stack.Nginx, Host: "local"}, gone.Process.Pid), func() {})
	if len(ev.Profiles) != 0 || !ev.told("not judged: perf: none of the services' processes") {
		t.Errorf("%+v", ev)
	}
	p := &perfSource{h: host.NewLocal(), err: fmt.Errorf("run perf: %w", exec.ErrNotFound)}
	if why := p.refused(); !strings.Contains(why, "apt-get install linux-perf") {
		t.Error(why)
	}
	p = &perfSource{result: host.Result{ExitCode: 255, Stderr: []byte("Access to performance monitoring is limited.\nConsider adjusting /proc/sys/kernel/perf_event_paranoid")}}
	if why := p.refused(); !strings.Contains(why, "refuses perf") {
		t.Error(why)
	}
}

// TestPerfOfTheWrongWindow: samples of a moment do not stand for a minute.
func TestPerfOfTheWrongWindow(t *testing.T) {
	text := fixture(t, "perf_script.txt")
	text = bytes.Repeat(text, 3) // enough samples
	now := time.Now()
	p := &perfSource{h: host.NewLocal(), roots: map[string][]int{"db": {10034}}, began: now.Add(-time.Minute), ended: now}
	profiles, health := p.profiles(text, nil)
	ev := &Evidence{Health: health}
	if len(profiles) != 1 || profiles[0].Samples != 123 || !ev.told("of a window of 60.0 s") {
		t.Errorf("%+v %+v", profiles, health)
	}
	profiles[0].frame(t, "[unknown] in mariadbd")
	if !ev.told("in code without names") {
		t.Errorf("%+v", health)
	}
	p.began = now.Add(-time.Second)
	_, health = p.profiles(text, nil)
	if ev := (&Evidence{Health: health}); ev.told("of a window") {
		t.Errorf("%+v", health)
	}
}

//go:noinline
func burn(until time.Time) (sum [][]byte) {
	for time.Now().Before(until) {
		sum = append(sum[:0], make([]byte, 100_000))
	}
	return sum
}

// TestGoPprof profiles this very process by its own pages.
func TestGoPprof(t *testing.T) {
	await.SkipShort(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/allocs", pprof.Handler("allocs").ServeHTTP)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	ev := observeAll(t, findGoPprof, setFor(stack.Service{Name: "app", Kind: stack.App, PProf: srv.URL + "/debug/pprof/"}), func() { burn(time.Now().Add(4 * time.Second)) })
	p := ev.only(t, "go pprof", "")
	if f := p.frame(t, "kasoku/internal/evidence.burn"); f.Total <= 0 || !strings.Contains(f.File, "profile_live_test.go:") {
		t.Errorf("%+v", f)
	}
	a := ev.only(t, "go pprof", "bytes allocated")
	if f := a.frame(t, "kasoku/internal/evidence.burn"); f.Self <= 0 {
		t.Errorf("%+v", f)
	}
	for _, h := range ev.Health {
		if !h.OK {
			t.Errorf("%+v", h)
		}
	}
}

func TestGoPprofThatIsNot(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "allocs") {
			http.Error(w, "profiling is off", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "<html>hello")
	}))
	defer srv.Close()
	ev := observeAll(t, findGoPprof, setFor(stack.Service{Name: "app", Kind: stack.App, PProf: strings.Replace(srv.URL, "//", "//user:secret@", 1)}), func() {})
	if len(ev.Profiles) != 0 || !ev.told("this is no pprof profile") {
		t.Errorf("%+v", ev)
	}
	if ev.told("secret") {
		t.Errorf("a password is told: %+v", ev.Health)
	}
	srv.Close()
	ev = observeAll(t, findGoPprof, setFor(stack.Service{Name: "app", Kind: stack.App, PProf: srv.URL}), func() {})
	if !ev.told("connection refused") {
		t.Errorf("%+v", ev)
	}
	ev = observeAll(t, findGoPprof, setFor(stack.Service{Name: "app", Kind: stack.App, PProf: "localhost"}), func() {})
	if !ev.told("no http URL") {
		t.Errorf("%+v", ev)
	}
}

// fpmLab is a PHP-FPM of this test's own, whose scripts are sampled.
type fpmLab struct {
	dir, folder string
	svc         stack.Service
	pid         int
}

const profiledPHP = `<?php
namespace Shop;
class Cart {
    public function total(): float { return $this->add(); }
    private function add(): float { $x = 0; $until = microtime(true) + 0.05; while (microtime(true) < $until) { $x += sqrt($x + 1); } $this->ask(); return $x; }
    private function ask(): void { usleep(40000); }
}
echo (new Cart)->total() > 0 ? 'ok ' . FIRST : 'bad';
exit;
`

func startFPM(t *testing.T) *fpmLab {
	t.Helper()
	bin, err := program("php-fpm8.*")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kpp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := &fpmLab{dir: dir, folder: dir + "/kasoku-php"}
	if err := os.Mkdir(l.folder, 0o777); err != nil {
		t.Fatal(err)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user = www-data\ngroup = www-data\n"
	}
	prepend := filepath.Join(l.folder, PHPProfileName(0))
	for file, text := range map[string]string{
		dir + "/fpm.conf": "[global]\npid = " + dir + "/fpm.pid\nerror_log = " + dir + "/fpm.err\n[www]\n" + user + "listen = " + dir + "/php.sock\nlisten.mode = 0666\n" +
			"pm = static\npm.max_children = 2\nphp_value[auto_prepend_file] = " + prepend + "\n" +
			"[small]\n" + user + "listen = " + dir + "/small.sock\npm = static\npm.max_children = 1\npm.max_requests = 5\n",
		dir + "/first.php": "<?php const FIRST = 'first';",
		dir + "/index.php": profiledPHP,
		prepend:            string(PHPProfileFile(l.folder, dir+"/first.php", 3)),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, l.folder} {
		if err := os.Chmod(d, map[string]os.FileMode{dir: 0o755, l.folder: 0o777}[d]); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(bin, "-F", "-y", dir+"/fpm.conf")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	l.pid = cmd.Process.Pid
	l.svc = stack.Service{Name: "php", Kind: stack.PHPFPM, Host: "local", Binary: bin, Config: dir + "/fpm.conf"}
	if err := within("php-fpm answers", l.ask); err != nil {
		log, _ := os.ReadFile(dir + "/fpm.err")
		t.Fatalf("%v\n%s", err, log)
	}
	return l
}

func (l *fpmLab) ask() error {
	body, err := fastcgiGet(context.Background(), host.NewLocal(), l.dir+"/php.sock", l.dir+"/index.php", "", 10*time.Second)
	if err == nil && !strings.Contains(string(body), "ok first") {
		err = fmt.Errorf("answered %q", body)
	}
	return err
}

func TestPHPProfile(t *testing.T) {
	await.SkipShort(t)
	l := startFPM(t)
	// The requests so far are before the window.
	before, err := filepath.Glob(l.folder + "/*.stacks")
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	ev := observeAll(t, findPHPProfiles, setFor(l.svc, l.pid), func() {
		for range 20 {
			if err := l.ask(); err != nil {
				t.Error(err)
			}
		}
	})
	p := ev.only(t, "excimer", "")
	if !p.Wall || p.Service != "php" || p.Period != 10*time.Millisecond {
		t.Errorf("%+v", p)
	}
	// All of a request's time is below total(); only noise is elsewhere.
	if f := p.frame(t, `Shop\Cart::total`); f.Total < 0.3 || !strings.HasSuffix(f.File, "/index.php:4") {
		t.Errorf("%+v", f)
	}
	if f := p.frame(t, `Shop\Cart::add`); f.Self <= 0 || !strings.HasSuffix(f.File, "/index.php:5") {
		t.Errorf("%+v", f)
	}
	// usleep is not PHP's own code, so its time is that of who called it.
	if f := p.frame(t, `Shop\Cart::ask`); !f.Waiting || f.Self <= 0 {
		t.Errorf("%+v", f)
	}
	if f := p.frame(t, "{main}"); f.Total < 0.5 {
		t.Errorf("%+v", f)
	}
	if !ev.told("pool small: its processes end after 5 requests") {
		t.Errorf("%+v", ev.Health)
	}
}

func TestPHPProfileOfSilence(t *testing.T) {
	l := startFPM(t)
	ev := observeAll(t, findPHPProfiles, setFor(l.svc, l.pid), func() {})
	if len(ev.Profiles) != 0 || !ev.told("wrote nothing in the window") {
		t.Errorf("what was before the window was counted: %+v", ev)
	}
}

func TestProfilesOnlyWhenAskedFor(t *testing.T) {
	s := setFor(stack.Service{Name: "web", Kind: stack.Nginx, Host: "local"}, os.Getpid())
	for _, o := range []CollectorOptions{{}, {Diagnostic: true}, {Profile: true}} {
		s.opts = o
		if found, health := findProfiles(t.Context(), s); len(found)+len(health) > 0 {
			t.Errorf("%+v: %d sources", o, len(found))
		}
	}
	s.opts = CollectorOptions{Diagnostic: true, Profile: true}
	if found, _ := findProfiles(t.Context(), s); len(found) != 1 {
		t.Errorf("%d sources", len(found))
	}
}

// TestPHPSlowLogProfile: without a profiler, what FPM logged in the window.
func TestPHPSlowLogProfile(t *testing.T) {
	log := filepath.Join(t.TempDir(), "slow.log")
	whole := fixture(t, "fpm_slow.log")
	if err := os.WriteFile(log, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	take := func(more []byte) *Evidence {
		src := &phpSource{service: "php", h: host.NewLocal(), slow: map[string]*fileSpan{log: {}, log + ".none": {}}}
		src.start(t.Context())
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(more); err != nil {
			t.Fatal(err)
		}
		src.end(t.Context())
		ev := &Evidence{}
		src.tell(t.Context(), ev)
		return ev
	}
	if ev := take(nil); len(ev.Profiles) != 0 || !ev.told("longer than a second; there was none") {
		t.Errorf("%+v", ev)
	}
	p := take(whole).only(t, "php-fpm slow log", "")
	if p.Samples != 3 || !p.Wall || len(p.Busy()) == len(p.Top) {
		t.Errorf("%+v", p)
	}
	if f := p.frame(t, "usleep"); f.Self != 1 || !f.Waiting || f.File != "/srv/app/index.php:2" {
		t.Errorf("%+v", f)
	}
}
