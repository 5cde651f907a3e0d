package web

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kasoku/internal/tune"
)

// TestLoginIsGuarded: another site's page can neither log a browser in nor post
// more than a form of ours holds.
func TestLoginIsGuarded(t *testing.T) {
	b := serve(t, newSample(t), nil)
	form := url.Values{"token": {testToken}}
	for name, change := range map[string]func(*http.Request){
		"another origin":                      func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"no origin":                           func(r *http.Request) { r.Header.Del("Origin") },
		"a frame of ours within another site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"https of the same name": func(r *http.Request) {
			r.Header.Set("Origin", strings.Replace(b.url, "http://127.0.0.1", "http://localhost", 1))
		},
	} {
		if res, _ := b.do("POST", "/login", form, change); res.StatusCode != http.StatusForbidden || len(res.Cookies()) != 0 {
			t.Errorf("%s: %d, %v", name, res.StatusCode, res.Cookies())
		}
	}
	long := url.Values{"filler": {strings.Repeat("x", 2*mostPosted)}, "token": {testToken}}
	if res, _ := b.do("POST", "/login", long, nil); res.StatusCode != http.StatusForbidden || len(res.Cookies()) != 0 {
		t.Errorf("a long form: %d", res.StatusCode)
	}
}

// TestOtherMethods change nothing, with or without a login.
func TestOtherMethods(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	for _, login := range []bool{false, true} {
		if login {
			b.logIn()
		}
		for _, method := range []string{"PUT", "DELETE", "PATCH", "POST", "OPTIONS", "TRACE"} {
			for _, path := range []string{"/", fmt.Sprintf("/journal/%d", p.kept), fmt.Sprintf("/runs/%d", p.after), "/events"} {
				res, _ := b.do(method, path, nil, nil)
				if res.StatusCode < 400 || res.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s (login %v): %d %v", method, path, login, res.StatusCode, res.Header)
				}
			}
		}
	}
}

// TestNothingLeadsAway: no address makes the server send a browser elsewhere.
func TestNothingLeadsAway(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	for _, path := range []string{"//evil.example/", "//evil.example/runs", "/\\evil.example/", "/%2f%2fevil.example/", "/runs/../..//evil.example", fmt.Sprintf("/runs/%d/profiles/..%%2f..%%2fevil/", p.after),
		fmt.Sprintf("/runs/%d/profiles//evil.example/", p.after), "/sessions/?next=//evil.example"} {
		res, _ := b.do("GET", path, nil, nil)
		to := res.Header.Get("Location")
		if at, err := res.Request.URL.Parse(to); err != nil || at.Host != res.Request.URL.Host {
			t.Errorf("%s leads to %s (%v)", path, to, err)
		}
	}
}

// TestQueriesAreText: what stands in an address is never markup of a page.
func TestQueriesAreText(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	evil := url.QueryEscape(`"><script>alert(6)</script>`)
	for _, path := range []string{"/runs?kind=" + evil, "/runs?session=" + evil, "/runs?before=" + evil, "/sessions?before=" + evil, "/compare?run=" + evil + "&run=1", "/runs/" + url.PathEscape(`"><script>alert(6)</script>`),
		fmt.Sprintf("/runs/%d/artifacts/", p.after) + url.PathEscape(`"><script>alert(6)</script>`), fmt.Sprintf("/runs/%d/profiles/", p.after) + url.PathEscape(`"><script>alert(6)</script>`) + "/flamegraph",
		fmt.Sprintf("/runs/%d/profiles/profile-php-excimer.pb.gz/peek?f=", p.after) + evil} {
		res, page := b.do("GET", path, nil, nil)
		if strings.Contains(page, "<script>alert(6)") && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d, it is markup:\n%.2000s", path, res.StatusCode, page)
		}
	}
}

// TestEventsAreOne: text with line ends of a stream makes no event of its own.
func TestEventsAreOne(t *testing.T) {
	p := newSample(t)
	s := New(Options{Store: p.store, Dir: p.dir, OpenReading: true})
	t.Cleanup(s.Close)
	b := serveHandler(t, s)
	s.Publish(tune.Live{Session: 1, Doing: "a\n\nevent: live\ndata: {\"doing\":\"forged\"}\n\n\r\rid: 7"})
	res, err := b.client.Get(b.url + "/events")
	must(t, err)
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		line := in.Text()
		if strings.HasPrefix(line, "data: ") {
			if strings.HasPrefix(line, `data: {"doing":"forged"`) || !strings.Contains(line, `forged`) {
				t.Errorf("%s", line)
			}
			return
		}
		if line == "id: 7" {
			t.Error("text made a field of an event")
		}
	}
}

// TestBehindAProxy: what a proxy passes on needs the token also on loopback,
// and its TLS makes the cookie Secure.
func TestBehindAProxy(t *testing.T) {
	b := serve(t, newSample(t), nil)
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via"} {
		for _, value := range []string{"https", ""} {
			for _, path := range []string{"/", "/runs", "/events"} {
				through := func(r *http.Request) { r.Header.Set(header, value) }
				if res, page := b.do("GET", path, nil, through); res.StatusCode != http.StatusUnauthorized || strings.Contains(page, "Index orders") {
					t.Fatalf("%s with %s %q: %d", path, header, value, res.StatusCode)
				}
			}
		}
	}
	for proto, secure := range map[string]bool{"": false, "http": false, "https": true, "HTTPS, http": true, "http, https": false} {
		res, _ := b.do("POST", "/login", url.Values{"token": {testToken}}, func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", proto) })
		if len(res.Cookies()) != 1 || res.Cookies()[0].Secure != secure {
			t.Fatalf("X-Forwarded-Proto %q: %v", proto, res.Cookies())
		}
		b.cookie = res.Cookies()[0]
		if res, _ = b.do("GET", "/", nil, func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", proto) }); res.StatusCode != http.StatusOK {
			t.Errorf("logged in, X-Forwarded-Proto %q: %d", proto, res.StatusCode)
		}
		b.cookie = nil
	}
}
