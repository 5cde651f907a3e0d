package load

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kasoku/internal/await"
)

// siteFiles is a small site: a page, two style sheets, a font, pictures.
var siteFiles = map[string]string{
	"index.html":   `<link rel=stylesheet href=/css/a.css><img src="/logo.png?v=1"><img src=http://cdn.invalid/x.png><h1>shop</h1>`,
	"css/a.css":    `@import "b.css"; h1{background:url(../bg.png)}`,
	"css/b.css":    `@font-face{src:url(f.woff2)}`,
	"css/f.woff2":  "font",
	"bg.png":       "picture",
	"logo.png":     "logo",
	"robots.txt":   "nothing refers to it",
	"listed.json":  `{"a": 1}`,
	"css/none.png": "x",
}

// requestsOf counts what a run asks for, per visit of the page.
func requestsOf(t *testing.T, engine Engine, cache, headers string) map[string]float64 {
	t.Helper()
	dir := t.TempDir()
	for name, text := range siteFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := http.FileServer(http.Dir(dir))
	var mu sync.Mutex
	count := map[string]float64{}
	res := runAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		if headers == "" {
			r.Header.Del("If-Modified-Since")
		}
		if headers != "" {
			w.Header().Set("Cache-Control", headers)
		}
		key := r.URL.RequestURI()
		if r.Header.Get("If-Modified-Since") != "" {
			key = "? " + key
		}
		mu.Lock()
		count[key]++
		mu.Unlock()
		files.ServeHTTP(w, r)
	}, steps("- {name: page, request: GET /, assets: [auto, /listed.json], expect: {contains: shop}}\n- {request: GET /, expect: {contains: shop}}")+cache,
		func(o *Options) { o.Workload, o.Engine = 1, engine })
	wantRight(t, res)
	mu.Lock()
	defer mu.Unlock()
	visits := count["/"] / 2
	for key := range count {
		count[key] /= visits
	}
	return count
}

// A run fetches what a browser would fetch, and asks again for what its cache
// does not have.
func TestRunFetchesAssets(t *testing.T) {
	await.SkipShort(t)
	assets := []string{"/css/a.css", "/css/b.css", "/css/f.woff2", "/bg.png", "/logo.png?v=1", "/listed.json"}
	tests := []struct {
		name, cache, headers string
		plain, asked         float64 // each asset's requests per visit: without and with a validator; -1: few
	}{
		{"no cache", "", "max-age=60", 1, 0},
		{"a new visitor", "cache: session\n", "max-age=60", 1, 0},
		{"a returning visitor", "cache: user\n", "max-age=60", -1, 0},
		{"a returning visitor must ask", "cache: user\n", "no-cache", -1, 1},
		{"nothing may be kept", "cache: user\n", "no-store", 1, 0},
	}
	near := func(got, want float64) bool {
		if want < 0 {
			return got > 0 && got < 0.5
		}
		return got > want-0.3 && got < want+0.3
	}
	for _, engine := range []Engine{EngineEpoll, EngineNet} {
		for _, tt := range tests {
			t.Run(fmt.Sprint(engine, " ", tt.name), func(t *testing.T) {
				got := requestsOf(t, engine, tt.cache, tt.headers)
				for _, a := range assets {
					if !near(got[a], tt.plain) || !near(got["? "+a], tt.asked) {
						t.Errorf("%s: %.2f plain and %.2f conditional requests per visit, want %.0f and %.0f", a, got[a], got["? "+a], tt.plain, tt.asked)
					}
				}
				for key := range got {
					if strings.Contains(key, "robots") || strings.Contains(key, "none") {
						t.Errorf("%s was fetched", key)
					}
				}
			})
		}
	}
}

// A missing asset is a wrong answer.
func TestRunMissesAsset(t *testing.T) {
	res := runAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<img src=gone.png>`)
	}, steps("- {name: page, request: GET /, assets: auto}"))
	if res.Mismatches == 0 || len(res.Samples) == 0 || res.Samples[0].Step != "assets of page" || !strings.Contains(res.Samples[0].Request, "/gone.png") {
		t.Errorf("%d mismatches, %+v", res.Mismatches, res.Samples)
	}
}

// Assets that are found cost no allocation, and neither does a cache.
func TestNoAllocationPerAsset(t *testing.T) {
	b := cannedUser(t)
	answers := b.conn.(*cannedConn).answers
	for line, body := range map[string]string{"GET /": `<form>Login</form><link rel=stylesheet href=/a.css><link rel=stylesheet href=/b.css>`, "GET /b.css": "a{b:url(c.png)}", "GET /c.png": "picture"} {
		typ := map[bool]string{true: "text/html\r\nX-Frame-Options: DENY", false: "text/css"}[line == "GET /"]
		answers[line+" HTTP/1.1"] = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nETag: \"x\"\r\nCache-Control: max-age=9\r\nContent-Length: %d\r\n\r\n%s", typ, len(body), body)
	}
	s := &b.user.run.opts.Scenario.sessions[0]
	s.cache, s.steps[0].auto = cacheSession, &autoAssets{step: assetStep("found", 0)}
	session := func() {
		for range 6 {
			if d := b.send(); d != sending || b.user.failed {
				t.Fatalf("%v %+v", d, b.user.why)
			}
		}
	}
	for range 3 {
		session()
	}
	if n := testing.AllocsPerRun(200, session); n != 0 {
		t.Errorf("%v allocations per session of 6 requests", n)
	}
}
