package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
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
	session := func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("begun"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "begun", Value: "1", Path: "/"})
		}
	}
	mux.HandleFunc("/session.css", func(w http.ResponseWriter, r *http.Request) { session(w, r); answer(w, "same") })
	mux.HandleFunc("/drawn.css", func(w http.ResponseWriter, r *http.Request) {
		session(w, r)
		if _, err := r.Cookie("begun"); err == nil {
			answer(w, "mine")
			return
		}
		answer(w, "same")
	})
	pages := 0
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { pages++; session(w, r) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	sum := sha256.Sum256([]byte("same"))
	var samples []StaticSample
	for _, p := range []string{"/public.css", "/mine.css", "/login.css", "/cookie.css", "/session.css", "/drawn.css"} {
		samples = append(samples, StaticSample{Path: p, Status: 200, SHA256: hex.EncodeToString(sum[:]), Size: 4})
	}
	if unasked, err := ConfirmStatic(t.Context(), Options{URL: srv.URL}, samples); err != nil || unasked != "" {
		t.Fatal(unasked, err)
	}
	for i, want := range []string{"", "a stranger gets other bytes", "a stranger gets status 302", "it sets a cookie", "", "it sets a cookie"} {
		if samples[i].Private != want {
			t.Errorf("%s: %q, want %q", samples[i].Path, samples[i].Private, want)
		}
		if once := samples[i].Path == "/session.css"; samples[i].CookieOnce != once || samples[i].SetsCookie != once {
			t.Errorf("%s: cookie for a stranger %v, only for one %v", samples[i].Path, samples[i].SetsCookie, samples[i].CookieOnce)
		}
	}
	if pages != 1 || !slices.Equal(samples[4].Headers, samples[0].Headers) {
		t.Errorf("the front page was asked for %d times; headers %q", pages, samples[4].Headers)
	}
	if !slices.Equal(samples[0].Headers, []string{"Cache-Control: max-age=60"}) {
		t.Errorf("headers %q", samples[0].Headers)
	}
	if _, err := ConfirmStatic(t.Context(), Options{URL: "http://192.0.2.1/"}, samples); err == nil {
		t.Error("a request was sent to another machine")
	}
}

// TestAskAgainWithoutAnswer: what gets no answer after a run is not confirmed,
// and ends nothing.
func TestAskAgainWithoutAnswer(t *testing.T) {
	await.SkipShort(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" || r.URL.Path == "/half" && r.Header.Get("Accept") == "application/json" {
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.Write([]byte("same"))
	}))
	defer srv.Close()
	opts, ctx := Options{URL: srv.URL}, t.Context()
	sum := sha256.Sum256([]byte("same"))
	file := StaticSample{Status: 200, SHA256: hex.EncodeToString(sum[:]), Size: 4}
	files := []StaticSample{file, file}
	files[0].Path, files[1].Path = "/gone", "/here"
	unasked, err := ConfirmStatic(ctx, opts, files)
	if err != nil || !strings.Contains(unasked, "1 requests got no answer; the first: /gone") {
		t.Errorf("files: %q, %v", unasked, err)
	}
	if !strings.Contains(files[0].Private, "not asked for again") || files[1].Private != "" {
		t.Errorf("%q, %q", files[0].Private, files[1].Private)
	}
	pages := []PageSample{{URL: "/gone", Status: 200}, {URL: "/half", Status: 200}, {URL: "/here", Status: 200}}
	unasked, err = ConfirmPages(ctx, opts, pages)
	if err != nil || !strings.Contains(unasked, "2 requests") {
		t.Errorf("pages: %q, %v", unasked, err)
	}
	for i, want := range []bool{false, false, true} {
		if pages[i].Confirmed != want {
			t.Errorf("%+v", pages[i])
		}
	}
	answers, unasked, err := AskConstant(ctx, opts, []string{"/gone", "/here"})
	if err != nil || !strings.Contains(unasked, "/gone") || !strings.Contains(answers[0].Varies, "no answer") || answers[1].Varies != "" {
		t.Errorf("answers: %+v, %q, %v", answers, unasked, err)
	}
	// No port listens there: nothing is asked, nothing fails.
	srv.Close()
	if unasked, err := ConfirmPages(ctx, opts, pages); err != nil || unasked == "" || pages[2].Confirmed {
		t.Errorf("pages: %q, %v, %+v", unasked, err, pages[2])
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := ConfirmPages(stopped, opts, pages); err == nil {
		t.Error("a stopped run goes on")
	}
}

// TestFailuresBudget: requests that only run into the time limit do not hold
// up an observation one after the other.
func TestFailuresBudget(t *testing.T) {
	f := failures{count: 1, spent: confirmBudget, first: "/a: timeout"}
	if !f.tooMany() || !strings.Contains(f.text(), "the rest was left out; the first: /a: timeout") {
		t.Error(f.text())
	}
}
