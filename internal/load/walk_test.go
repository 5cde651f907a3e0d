package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"kasoku/internal/await"
)

const walkScenario = `version: 1
name: walk
workload: 8
duration: 1s
pools:
  ids: {generate: {from: 1, to: 1000}, fields: {id: "${n}"}}
sessions:
  - name: shop
    weight: 3
    draw: {row: ids}
    steps:
      - {request: "GET /items/${row.id}", route: "GET /items/:id", think: 10s, expect: {status: 200}}
      - {request: POST /cart, body: "n=1", expect: {status: 201}}
  - name: wrong
    weight: 1
    steps:
      - {request: GET /gone, expect: {status: 200}}
      - {request: GET /never, expect: {status: 200}}
`

func TestWalk(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.Path)
		mu.Unlock()
		switch {
		case r.URL.Path == "/gone":
			w.WriteHeader(404)
		case r.Method == "POST":
			w.WriteHeader(201)
		}
		fmt.Fprint(w, "ok")
	}))
	defer srv.Close()
	sc := walkParse(t, strings.ReplaceAll(walkScenario, "think: 10s", "think: 10m")) // it must not pause as a user does
	marks := 0
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	visits, err := Walk(ctx, Options{Scenario: sc, URL: srv.URL}, WalkOptions{Rounds: 2, Before: func(_ context.Context, n int) error {
		mu.Lock()
		defer mu.Unlock()
		if n != marks || len(seen) != n {
			t.Errorf("before request %d: mark %d, %d were sent", n, marks, len(seen))
		}
		marks++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	// Each round: two of the shop, one of the session that ends at its first.
	if len(visits) != 6 || len(seen) != 6 {
		t.Fatalf("%d visits, %d requests: %v", len(visits), len(seen), seen)
	}
	if v := visits[0]; v.Method != "GET" || !strings.HasPrefix(v.Target, "/items/") || v.Status != 200 || !v.Right || v.Session != "shop" {
		t.Errorf("%+v", v)
	}
	if v := visits[2]; v.Status != 404 || v.Right || v.Target != "/gone" {
		t.Errorf("%+v", v)
	}
	if visits[0].Target == visits[3].Target {
		t.Errorf("both rounds asked for %s", visits[0].Target)
	}
}

func TestWalkStops(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			w.WriteHeader(201)
		}
	}))
	defer srv.Close()
	sc := walkParse(t, walkScenario)
	if visits, err := Walk(context.Background(), Options{Scenario: sc, URL: srv.URL}, WalkOptions{Rounds: 100, Most: 5}); err != nil || len(visits) != 5 {
		t.Errorf("%d visits, %v", len(visits), err)
	}
	broken := errors.New("no mark")
	if _, err := Walk(context.Background(), Options{Scenario: sc, URL: srv.URL}, WalkOptions{Before: func(context.Context, int) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Walk(ctx, Options{Scenario: sc, URL: srv.URL}, WalkOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func walkParse(t *testing.T, text string) *Scenario {
	t.Helper()
	sc, err := Parse("walk.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func TestUnmethoded(t *testing.T) {
	for route, want := range map[string]string{"GET /items/:id": "/items/:id", "comments that wait": "comments that wait", "POST login": "login", "login": "login", "GET ": "GET "} {
		if got := unmethoded(route); got != want {
			t.Errorf("%q: %q, want %q", route, got, want)
		}
	}
}
