package record

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/load"
)

// A token that a page's script reads from a cookie and sends back in a header is taken from
// the cookie of each visitor: from the one that the recording shows, or, where it shows no
// cookies, from the one that belongs to the header.
func TestTokenOfACookie(t *testing.T) {
	var last atomic.Int64
	var refused atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			w.Header().Add("Set-Cookie", "sid=1; Path=/; HttpOnly")
			token := fmt.Sprintf("Tk%d+/token==", last.Add(1))
			w.Header().Add("Set-Cookie", "XSRF-TOKEN="+url.QueryEscape(token)+"; Path=/")
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Shop</title>")
		default:
			c, err := r.Cookie("XSRF-TOKEN")
			if err != nil {
				http.Error(w, "no cookie", http.StatusForbidden)
				refused.Add(1)
				return
			}
			if want, _ := url.QueryUnescape(c.Value); r.Header.Get("X-XSRF-TOKEN") != want {
				http.Error(w, "token mismatch", 419)
				refused.Add(1)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"stat": "ok"}`)
		}
	}))
	defer srv.Close()
	for name, withCookies := range map[string]bool{"shown": true, "left out": false} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t)
			e := r.do("GET", srv.URL+"/login", "", "")
			token := fmt.Sprintf("Tk%d+/token==", last.Load())
			if withCookies {
				e.Answer.Headers = []harHeader{{Name: "set-cookie", Value: "sid=1; Path=/\nXSRF-TOKEN=" + url.QueryEscape(token) + "; Path=/"}}
			}
			if e := r.do("POST", srv.URL+"/buy", "application/x-www-form-urlencoded", "n=1", "X-XSRF-TOKEN", token); e.Answer.Status != 200 {
				t.Fatalf("the recording itself: %d %s", e.Answer.Status, e.body)
			}
			d, err := FromHAR(r.har(), HAROptions{})
			if err != nil {
				t.Fatal(err)
			}
			text := string(d.Scenario())
			_, sc := written(t, d)
			if !strings.Contains(text, "{cookie: XSRF-TOKEN}") || strings.Contains(text, "token==") {
				t.Fatalf("not taken from the cookie:\n%s", text)
			}
			refused.Store(0)
			var res *load.Result
			for window := 100 * time.Millisecond; window < 20*time.Second && (res == nil || res.Succeeded < 20); window *= 2 { // as long as a busy machine needs
				if res, err = load.Run(t.Context(), load.Options{URL: srv.URL, Scenario: sc, Workload: 2, Warmup: -1, Window: window}); err != nil {
					t.Fatal(err)
				}
			}
			if res.Succeeded < 20 || res.Mismatches+res.Errors > 0 || refused.Load() > 0 {
				t.Errorf("%d right, %d wrong, %d refused: %+v\n%s", res.Succeeded, res.Mismatches, refused.Load(), res.Samples, text)
			}
		})
	}
}
