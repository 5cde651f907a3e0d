package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// site is an application with pages of every kind that a cache must tell apart.
func pagesSite() http.Handler {
	mux := http.NewServeMux()
	var visits, writes atomic.Int64
	html := func(w http.ResponseWriter, format string, args ...any) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, format, args...)
	}
	mux.HandleFunc("/top", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=30")
		html(w, "<p>version %d", writes.Load())
	})
	mux.HandleFunc("/write", func(w http.ResponseWriter, r *http.Request) { writes.Add(1); html(w, "done") })
	mux.HandleFunc("/visits", func(w http.ResponseWriter, r *http.Request) { html(w, "<p>visitor %d", visits.Add(1)) })
	mux.HandleFunc("/session", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1"})
		html(w, "<p>hello")
	})
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=0, private")
		html(w, "<p>yours")
	})
	mux.HandleFunc("/language", func(w http.ResponseWriter, r *http.Request) {
		html(w, "<p>%s", strings.ToUpper(r.Header.Get("Accept-Language")))
	})
	mux.HandleFunc("/said", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding, Accept-Language")
		html(w, "<p>%s", strings.ToUpper(r.Header.Get("Accept-Language")))
	})
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: r.FormValue("name"), Path: "/top2"})
		html(w, "welcome")
	})
	mux.HandleFunc("/top2", func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if c, err := r.Cookie("user"); err == nil {
			name = c.Value
		}
		html(w, "<p>%s", name)
	})
	return mux
}

func TestPages(t *testing.T) {
	await.SkipShort(t)
	srv := httptest.NewServer(pagesSite())
	defer srv.Close()
	sc := mustParse(t, `version: 1
name: pages
workload: 2
sessions:
  - name: all
    steps:
      - request: GET /top
      - request: GET /write
      - request: GET /visits
      - request: GET /private
      - request: GET /language
      - request: GET /said
      - request: GET /top2?x=1
      - {request: POST /login, form: {name: ann}}
      - {name: mine, request: GET /top2?x=1}
      - {name: key, request: GET /top, headers: {X-Api-Key: secret, Accept-Encoding: "gzip, br"}}
      - request: GET /session
`)
	opts := Options{Scenario: sc, URL: srv.URL, Window: 300 * time.Millisecond}
	res, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if unasked, err := ConfirmPages(t.Context(), opts, res.Pages); err != nil || unasked != "" {
		t.Fatal(unasked, err)
	}
	got := map[string]PageSample{}
	for _, p := range res.Pages {
		got[p.URL] = p
	}
	for url, want := range map[string]string{"/top": "", "/said": "", "/top2?x=1": "", "/visits": "from one request to the next",
		"/private": "Cache-Control: private", "/language": "another Accept-Language"} {
		p := got[url]
		if !p.Confirmed || (want == "") != (p.Private == "") || !strings.Contains(p.Private, want) || p.Count == 0 || p.Total == 0 {
			t.Errorf("%s: %+v, want %q", url, p, want)
		}
	}
	if p := got["/top"]; p.Changes == 0 || p.Known == 0 || p.Headers[0] != "Cache-Control: max-age=30" {
		t.Errorf("/top: %+v", p)
	}
	if p := got["/top2?x=1"]; p.Known == 0 || !p.Differs || p.Changes != 0 {
		t.Errorf("/top2: %+v", p)
	}
	if p := got["/session"]; !p.SetsCookie {
		t.Errorf("/session: %+v", p)
	}
	if strings.Join(res.TellingHeaders, " ") != "x-api-key" || !res.TakesBrotli {
		t.Errorf("telling headers %q, takes brotli: %t", res.TellingHeaders, res.TakesBrotli)
	}
	if _, err := ConfirmPages(t.Context(), Options{URL: "http://192.0.2.1/"}, res.Pages); err == nil {
		t.Error("a request was sent to another machine")
	}
}
