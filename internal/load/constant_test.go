package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kasoku/internal/await"
)

func TestAskConstant(t *testing.T) {
	await.SkipShort(t)
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		switch r.URL.Path {
		case "/same":
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "ok")
		case "/count":
			fmt.Fprint(w, n)
		case "/cookie":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		case "/long":
			fmt.Fprint(w, strings.Repeat("x", 5000))
		}
	}))
	defer srv.Close()
	got, unasked, err := AskConstant(t.Context(), Options{URL: srv.URL}, []string{"/same", "/count", "/cookie", "/long"})
	if err != nil || unasked != "" || len(got) != 4 {
		t.Fatal(got, unasked, err)
	}
	a := got[0]
	if a.Varies != "" || a.Status != 200 || string(a.Body) != "ok" || a.ContentType != "text/plain" || fmt.Sprint(a.Headers) != "[Cache-Control: no-cache]" {
		t.Errorf("%+v", a)
	}
	for i, want := range []string{"", "other bytes", "sets a cookie", "more than"} {
		if !strings.Contains(got[i].Varies, want) {
			t.Errorf("%s: %q, want %q", got[i].Path, got[i].Varies, want)
		}
	}
}
