package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
)

// guideShop is the shop that docs/how-to/write-a-scenario.md is about.
func guideShop(t *testing.T) *httptest.Server {
	var mu sync.Mutex
	customers := []string{}
	page := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<html><head><link rel=stylesheet href=/style.css></head><body>"+text+"</body></html>")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { page(w, "<h1>Shop</h1>") })
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, "h1 { color: teal }")
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) { page(w, "results for "+r.FormValue("q")) })
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: r.FormValue("login")})
		http.Redirect(w, r, "/mypage", http.StatusFound)
	})
	mux.HandleFunc("GET /mypage", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("sid")
		if err != nil {
			http.Error(w, "log in", http.StatusForbidden)
			return
		}
		page(w, "Welcome, "+c.Value)
	})
	mux.HandleFunc("GET /cart", func(w http.ResponseWriter, _ *http.Request) {
		page(w, fmt.Sprintf(`<form id=buy><input name="csrf" value="t%d"></form>`, time.Now().UnixNano()))
	})
	mux.HandleFunc("GET /api/items", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ok": true, "items": [{"id": "i7"}]}`)
	})
	mux.HandleFunc("POST /buy", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.FormValue("csrf"), "t") || r.FormValue("item") != "i7" {
			http.Error(w, "forged", http.StatusForbidden)
			return
		}
		mu.Lock()
		customers = append(customers, r.FormValue("who"))
		mu.Unlock()
		page(w, "Thank you, "+r.FormValue("who"))
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		json.NewEncoder(w).Encode(map[string]any{"customers": customers})
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// Every complete example of the guide is run as it stands there.
func TestGuide(t *testing.T) {
	await.SkipShort(t)
	text, err := os.ReadFile("../../docs/how-to/write-a-scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	srv := guideShop(t)
	n := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		src, _, _ := strings.Cut(block, "```")
		n++
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "scenario.yaml")
			for name, text := range map[string]string{"words.csv": "word\ntea\nred cup\n", "scenario.yaml": src} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(src, "golden:") {
				recordGuide(t, path, srv.URL)
			}
			s, err := LoadScenario(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range s.Summary().Warnings {
				t.Log(w)
			}
			window := 150 * time.Millisecond
			if s.Arrivals != nil {
				window = 0
			}
			res, err := Run(t.Context(), Options{Scenario: s, URL: srv.URL, Workload: 4, Warmup: -1, Window: window})
			if err != nil {
				t.Fatal(err)
			}
			wantRight(t, res)
			if res.Score <= 0 {
				t.Errorf("score %v: %s", res.Score, res.ScoreText)
			}
		})
	}
	if n < 7 {
		t.Errorf("%d examples", n)
	}
}

func recordGuide(t *testing.T, path, url string) {
	t.Helper()
	s, err := LoadForRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Record(t.Context(), Options{Scenario: s, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, f.Body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
