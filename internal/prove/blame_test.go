package prove

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"kasoku/internal/load"
)

// Behind a front door with HTTPS an application that wants HTTPS is told that it
// is so; one that sends to HTTPS all the same is not blamed for that.
func TestBlameBehindHTTPS(t *testing.T) {
	for _, c := range []struct {
		about string
		knows bool // the application knows X-Forwarded-Proto
		want  string
	}{
		{"it is told", true, "web (X-Cache: HIT): asked directly, app gives the right answer"},
		{"it only sends to HTTPS", false, "web (X-Cache: HIT), or the application behind it: no other server could be asked, and past caches it answers the same"},
	} {
		t.Run(c.about, func(t *testing.T) {
			b := &board{}
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Forwarded-Proto") != "https" || !c.knows {
					http.Redirect(w, r, "https://"+r.Host+r.URL.RequestURI(), http.StatusFound)
					return
				}
				b.ServeHTTP(w, r)
			}))
			defer app.Close()
			kept := map[string]string{}
			var mu sync.Mutex
			front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method != http.MethodGet {
					b.ServeHTTP(w, r)
					return
				}
				who := r.Header.Get("Cookie")
				if kept[who] == "" {
					kept[who] = b.page()
				}
				w.Header().Set("X-Cache", "HIT")
				fmt.Fprint(w, kept[who])
			}))
			defer front.Close()
			o := quick(time.Millisecond)
			o.Blamer = &Blamer{Stack: twoServers(app.URL), Opts: optionsOf(t, boardScenario, front.URL)}
			r, err := Stale(t.Context(), witnessOf(t, boardScenario, front.URL), o)
			if err != nil || r.Outcome != Failed || r.Problems[0].By != c.want {
				t.Errorf("%s %+v, %v", r.Outcome, r.Problems, err)
			}
		})
	}
}

// Who is blamed for a wrong answer is asked likewise, also past caches.
func TestReplayBehindHTTPS(t *testing.T) {
	told := ""
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Get("X-Forwarded-Proto") }))
	defer app.Close()
	const request = "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n"
	for front, want := range map[string]string{"https://shop.test": "https", "http://shop.test": ""} {
		b := &Blamer{Opts: load.Options{URL: front}}
		if _, _, err := b.replay(t.Context(), app.URL, []byte(request), nil); err != nil || told != want {
			t.Errorf("behind %s it was told %q, %v", front, told, err)
		}
	}
}

func TestToHTTPS(t *testing.T) {
	const request = "GET /a?b=1 HTTP/1.1\r\nHost: shop.test:8080\r\n\r\n"
	for _, c := range []struct {
		status   int
		location string
		want     bool
	}{
		{302, "https://shop.test/a?b=1", true},
		{308, "https://shop.test:8443/a?b=1", true},
		{200, "https://shop.test/a?b=1", false},
		{302, "https://shop.test/login", false},
		{302, "https://other.test/a?b=1", false},
		{302, "http://shop.test/a?b=1", false},
		{302, "/a?b=1", false},
	} {
		if got := toHTTPS(c.status, c.location, []byte(request)); got != c.want {
			t.Errorf("%d to %s: %v", c.status, c.location, got)
		}
	}
}
