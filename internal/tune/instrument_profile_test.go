package tune

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

const poolText = "[global]\npid = /run/fpm.pid\n[www]\nlisten = /run/www.sock\npm.max_children = 4\n[api]\nlisten = /run/api.sock\npm.max_children = 4\nphp_admin_value[auto_prepend_file] = /app/first.php\n" +
	"[few]\nlisten = /run/few.sock\npm.max_children = 4\npm.max_requests = 9\n"

func profileSnapshot(values map[string]string, writable bool) (*Bench, *evidence.Snapshot) {
	b := &Bench{Stack: &stack.Stack{Services: []stack.Service{{Name: "php", Kind: stack.PHPFPM, Config: "/etc/fpm.conf"}}}}
	return b, &evidence.Snapshot{SharedMemory: "/dev/shm", PHP: map[string]map[string]string{"php": values},
		Users: map[string]evidence.ProcessUser{"local/php": {UID: 33, GID: 33, Name: "www-data"}},
		Files: map[string]map[string]evidence.File{"local": {"/etc/fpm.conf": {Content: []byte(poolText), Service: "php", Writable: writable, Mode: 0o644}}}}
}

// values as `php-fpm -i` and the pools of poolText tell them.
func phpValues(excimer string) map[string]string {
	return map[string]string{"version": "8.2", "excimer.version": excimer, "pool.api.auto_prepend_file": "/app/first.php"}
}

func TestPHPProfilesArePlanned(t *testing.T) {
	b, snap := profileSnapshot(phpValues("1.0.4"), true)
	plans := phpProfiles(b, snap)
	if len(plans) != 1 || len(plans[0].changes) != 4 {
		t.Fatalf("%+v", plans)
	}
	dir, first, second, pool := plans[0].changes[0], plans[0].changes[1], plans[0].changes[2], plans[0].changes[3]
	if dir.Kind != change.KindDir || !strings.HasPrefix(dir.Path, "/dev/shm/kasoku-php-php-") || dir.After.Mode != 0o700 || dir.After.UID != 33 {
		t.Errorf("%+v", dir)
	}
	if filepath.Dir(first.Path) != dir.Path || bytes.Contains(first.After.Content, []byte("require")) || first.After.Mode != 0o400 || first.After.UID != 33 {
		t.Errorf("%+v\n%s", first, first.After.Content)
	}
	if !bytes.Contains(second.After.Content, []byte("require '/app/first.php';")) || second.Path == first.Path {
		t.Errorf("the pool's own file is not run any more: %s", second.After.Content)
	}
	text := string(pool.After.Content)
	if pool.Path != "/etc/fpm.conf" || pool.Activate != change.Reload || !strings.Contains(text, "php_value[auto_prepend_file] = "+first.Path+"\n") ||
		!strings.Contains(text, "php_admin_value[auto_prepend_file] = "+second.Path+"\n") || strings.Count(text, "auto_prepend_file") != 2 {
		t.Errorf("%s", text)
	}
}

func TestPHPWithoutProfilerGetsItsSlowLog(t *testing.T) {
	b, snap := profileSnapshot(phpValues(""), true)
	plans := phpProfiles(b, snap)
	if len(plans) != 1 || len(plans[0].changes) != 2 {
		t.Fatalf("%+v", plans)
	}
	text := string(plans[0].changes[1].After.Content)
	if n := strings.Count(text, "request_slowlog_timeout = 1s\n"); n != 2 || strings.Contains(text, "kasoku-prepend") {
		t.Errorf("%d in %s", n, text)
	}
}

func TestPHPProfilesAreNotPlanned(t *testing.T) {
	for name, spoil := range map[string]func(*Bench, *evidence.Snapshot){
		"plain run":        func(b *Bench, _ *evidence.Snapshot) { b.Instruments.Plain = true },
		"profiles off":     func(b *Bench, _ *evidence.Snapshot) { b.Stack.Evidence.Profile = "off" },
		"no memory":        func(_ *Bench, s *evidence.Snapshot) { s.SharedMemory = "" },
		"no user":          func(_ *Bench, s *evidence.Snapshot) { s.Users = nil },
		"settings unknown": func(_ *Bench, s *evidence.Snapshot) { s.PHP = nil },
		"open_basedir":     func(_ *Bench, s *evidence.Snapshot) { s.PHP["php"]["open_basedir"] = "/app" },
		"read-only": func(_ *Bench, s *evidence.Snapshot) {
			f := s.Files["local"]["/etc/fpm.conf"]
			f.Writable = false
			s.Files["local"]["/etc/fpm.conf"] = f
		},
		"no file": func(_ *Bench, s *evidence.Snapshot) { s.Files = nil },
	} {
		b, snap := profileSnapshot(phpValues("1.0.4"), true)
		spoil(b, snap)
		if plans := phpProfiles(b, snap); len(plans) != 0 {
			t.Errorf("%s: %+v", name, plans)
		}
	}
}

// TestObserveProfiles makes a diagnostic run of the real case: its PHP is
// sampled, its servers are profiled, and everything is as before.
func TestObserveProfiles(t *testing.T) {
	l := useLab(t)
	before := l.hash(t)
	window := l.bench.Window
	l.bench.disturbance.noisy = false                                                                    // how quiet the machine is does not matter here
	l.bench.Window, l.bench.Instruments.Plain, l.bench.Instruments.Unwalked = 2*time.Second, false, true // a walk takes no profiles
	defer func() { l.bench.Window, l.bench.Instruments.Unwalked = window, false }()
	observe := func() *store.Run {
		run, _, err := Observe(t.Context(), l.exec, l.bench, 0, t.Name(), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	run := observe()
	// PHP that hardly gets a CPU is not sampled: it gets more time.
	for !slices.ContainsFunc(run.Evidence.Profiles, func(p evidence.Profile) bool { return p.Tool == "excimer" }) && l.bench.Window < 30*time.Second {
		l.bench.Window *= 3
		run = observe()
	}
	tools := map[string]bool{}
	for _, p := range run.Evidence.Profiles {
		tools[p.Service+" "+p.Tool] = true
		data, err := l.bench.Store.Artifact(run.ID, p.Artifact)
		if err != nil {
			t.Errorf("%s by %s: %v", p.Service, p.Tool, err)
			continue
		}
		if _, err := profile.ParseData(data); err != nil || len(p.Top) == 0 || p.Samples == 0 {
			t.Errorf("%s by %s: %v, %+v", p.Service, p.Tool, err, p)
		}
		if p.Tool == "excimer" && !strings.Contains(p.Top[0].File, ".php:") {
			t.Errorf("%+v", p.Top[0])
		}
	}
	for _, svc := range l.stack.OfKind(stack.PHPFPM) {
		if !tools[svc.Name+" excimer"] {
			t.Errorf("%s was not sampled: %+v", svc.Name, run.Evidence.Health)
		}
	}
	// What has no status page of its own tells its counters nevertheless.
	for kind, counter := range map[stack.Kind]string{stack.Nginx: "requests", stack.PHPFPM: ".accepted_conn"} {
		for _, svc := range l.stack.OfKind(kind) {
			n := 0.0
			for name, of := range run.Evidence.Counters[svc.Name].Delta {
				if strings.HasSuffix(name, counter) {
					n += of
				}
			}
			if n == 0 {
				t.Errorf("%s of %s is not counted: %+v", counter, svc.Name, run.Evidence.Health)
			}
		}
	}
	// Exactly this run's folders: other runs may have theirs.
	txs, err := change.Read(filepath.Join(l.dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, tx := range txs {
		for _, c := range tx.Changes {
			if c.Kind != change.KindDir || !strings.Contains(c.Path, "kasoku-php-") {
				continue
			}
			folders++
			if _, err := os.Stat(c.Path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was left behind: %v", c.Path, err)
			}
		}
	}
	if folders == 0 {
		t.Error("the journal knows no folder for PHP's profiles")
	}
	if after := l.hash(t); after != before {
		t.Error("the configuration is not what it was")
	}
}
