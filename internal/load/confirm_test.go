package load

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestConfirmStatic(t *testing.T) {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/css")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Write([]byte(body))
	}
	mux.HandleFunc("/public.css", func(w http.ResponseWriter, r *http.Request) { answer(w, "same") })
	mux.HandleFunc("/mine.css", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("session"); err != nil {
			answer(w, "other")
			return
		}
		answer(w, "same")
	})
	mux.HandleFunc("/login.css", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	mux.HandleFunc("/cookie.css", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		answer(w, "same")
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	sum := sha256.Sum256([]byte("same"))
	var samples []StaticSample
	for _, p := range []string{"/public.css", "/mine.css", "/login.css", "/cookie.css"} {
		samples = append(samples, StaticSample{Path: p, Status: 200, SHA256: hex.EncodeToString(sum[:]), Size: 4})
	}
	if err := ConfirmStatic(t.Context(), Options{URL: srv.URL}, samples); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "a stranger gets other bytes", "a stranger gets status 302", "it sets a cookie"} {
		if samples[i].Private != want {
			t.Errorf("%s: %q, want %q", samples[i].Path, samples[i].Private, want)
		}
	}
	if !slices.Equal(samples[0].Headers, []string{"Cache-Control: max-age=60"}) {
		t.Errorf("headers %q", samples[0].Headers)
	}
	if err := ConfirmStatic(t.Context(), Options{URL: "http://192.0.2.1/"}, samples); err == nil {
		t.Error("a request was sent to another machine")
	}
}
