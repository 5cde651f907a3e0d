package pagecache

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// longer than the limit of 2 s and a write, so that an answer can be too old.
const longer = 3 * time.Second

// TestNginxPageCache: what strangers all get alike is kept, nothing else is,
// and no answer is older than the limit; each sabotage of it is seen.
func TestNginxPageCache(t *testing.T) {
	x := startSite(t, "", "")
	x.bed = bed.Open(t, x.dir)
	x.bed.Show(t, func(t *testing.T, p remedy.Plan) {
		if len(p.Fresh.URLs) != 3 || p.Fresh.MaxAge != 2*time.Second {
			t.Errorf("%+v", p.Fresh)
		}
		before := x.made(t)
		for range 20 {
			get(t, x.address, "/")
			get(t, x.address, "/item?id=3")
		}
		if n := x.made(t) - before; n > 6 {
			t.Errorf("40 requests of strangers were made %d times", n)
		}
		before = x.made(t)
		for range 5 {
			get(t, x.address, "/", "Cookie: user=ann")
			get(t, x.address, "/", "Authorization: Bearer x")
			get(t, x.address, "/", "X-Original-URL: /private")
			get(t, x.address, "/private")
			get(t, x.address, "/item?id=4")
		}
		if n := x.made(t) - before; n != 25 {
			t.Errorf("25 requests that no cache may answer were made %d times", n)
		}
		report := x.compare(t, "http://"+x.address, p.Fresh.MaxAge, longer)
		t.Logf("%+v", report)
		if len(report.Wrong) > 0 || report.Compared < 100 || report.Unknown > report.Compared/5 {
			t.Errorf("%+v", report)
		}
		x.sabotage(t, p.Fresh.MaxAge)
	}, "nginx.page-cache")
	if left, _ := filepath.Glob("/dev/shm/kasoku-pages-web*"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// sabotage breaks the cache in the ways that matter and expects the check to
// see each.
func (x site) sabotage(t *testing.T, maxAge time.Duration) {
	conf := filepath.Join(x.dir, "nginx.conf")
	good, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(conf)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		bed.Output(t, nginxProgram, "-p", x.dir, "-c", conf, "-s", "reload")
		time.Sleep(300 * time.Millisecond)
		// What an earlier configuration kept must not be found.
		dirs, _ := filepath.Glob("/dev/shm/kasoku-pages-web/*")
		if out, err := exec.Command("rm", append([]string{"-rf"}, dirs...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, s := range []struct {
		name, old, new, sees string
		during               time.Duration
	}{
		{"a key without the host", "|$http_host", "", "another host", time.Second},
		{"a session's cookie ignored", "|$http_cookie", "|", "user 1", time.Second},
		{"valid for too long", "200 1s", "200 60s", "the limit is 2s", longer},
	} {
		broken := strings.Replace(string(good), s.old, s.new, 1)
		if broken == string(good) {
			t.Fatalf("%s: %q is not in the configuration", s.name, s.old)
		}
		put(broken)
		report := x.compare(t, "http://"+x.address, maxAge, s.during)
		if !strings.Contains(strings.Join(report.Wrong, "\n"), s.sees) {
			t.Errorf("%s is not seen: %+v", s.name, report)
		}
	}
	put(string(good))
	if err := os.Chtimes(conf, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
}
