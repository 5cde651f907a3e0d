package pagecache

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
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
			get(t, x.address, "/", "X-Auth-Token: x")
			get(t, x.address, "/", "X-Original-URL: /private")
			get(t, x.address, "/private")
			get(t, x.address, "/item?id=4")
		}
		if n := x.made(t) - before; n != 30 {
			t.Errorf("30 requests that no cache may answer were made %d times", n)
		}
		x.admits(t)
		x.fresh(t, "http://"+x.address, p.Fresh.MaxAge, 100, 5)
		x.sabotage(t, p.Fresh.MaxAge)
	}, "nginx.page-cache")
	if left, _ := filepath.Glob("/dev/shm/kasoku-pages-web*"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// sabotage breaks the cache in the ways that matter and expects the check to
// see each.
func (x site) sabotage(t *testing.T, maxAge time.Duration) {
	good, put, back := x.configuration(t)
	defer back()
	for _, s := range []struct {
		name, old, new, sees string
		during               time.Duration
	}{
		{"a key without the host", "|$http_host", "", "another host", time.Second},
		{"a session's cookie ignored", "|$http_cookie", "|", "user 1", time.Second},
		{"valid for too long", "200 1s", "200 60s", "the limit is 2s", longer},
	} {
		broken := strings.Replace(good, s.old, s.new, 1)
		if broken == good {
			t.Fatalf("%s: %q is not in the configuration", s.name, s.old)
		}
		put(broken, true)
		var report load.FreshReport
		for try := time.Duration(1); try <= 3; try++ { // in a stall little is asked
			if report = x.compare(t, "http://"+x.address, maxAge, try*s.during); len(report.Wrong) > 0 {
				break
			}
		}
		if !strings.Contains(strings.Join(report.Wrong, "\n"), s.sees) {
			t.Errorf("%s is not seen: %+v", s.name, report)
		}
	}
}

// admits: who may ask is decided for each request, also for what is kept.
func (x site) admits(t *testing.T) {
	t.Helper()
	good, put, back := x.configuration(t)
	defer back()
	for name, rules := range map[string]string{
		"addresses":              "allow 127.0.0.1; deny all;",
		"addresses or passwords": "satisfy any; allow 127.0.0.1; deny all; auth_basic x; auth_basic_user_file /dev/null;",
	} {
		put(strings.Replace(good, `location ~ \.php$ {`, `location ~ \.php$ { `+rules, 1), false)
		get(t, x.address, "/")
		before := x.made(t)
		first, second := from(t, "127.0.0.1", x.address), from(t, "127.0.0.1", x.address)
		if first != 200 || second != 200 || x.made(t)-before > 1 {
			t.Errorf("%s: the page is not kept, which then proves nothing", name)
		}
		if status := from(t, "127.0.0.2", x.address); status != 403 && status != 401 {
			t.Errorf("%s: who may not ask gets %d", name, status)
		}
	}
}

// from asks for the front page from an address of this host, and returns the status.
func from(t *testing.T, client, address string) int {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	c := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// configuration returns nginx's, a function that puts another in its place, with
// what the one before kept or without, and one that puts everything back.
func (x site) configuration(t *testing.T) (good string, put func(text string, empty bool), back func()) {
	t.Helper()
	conf := filepath.Join(x.dir, "nginx.conf")
	was, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(conf)
	if err != nil {
		t.Fatal(err)
	}
	control, err := stack.NewController(x.bed.Hosts["local"], x.bed.Stack, x.bed.Stack.Service("web"))
	if err != nil {
		t.Fatal(err)
	}
	put = func(text string, empty bool) {
		t.Helper()
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := control.Reload(t.Context()); err != nil { // returns when new workers are there
			t.Fatal(err)
		}
		if !empty {
			return
		}
		dirs, _ := filepath.Glob("/dev/shm/kasoku-pages-web/*")
		if out, err := exec.Command("rm", append([]string{"-rf"}, dirs...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return string(was), put, func() {
		put(string(was), true)
		if err := os.Chtimes(conf, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}
