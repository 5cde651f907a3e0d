package patterns

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// forms are all programs of the case.
var forms = []struct{ lang, form string }{{"php", "bad"}, {"php", "clean"}, {"go", "bad"}, {"go", "clean"}}

var client = &http.Client{Timeout: 20 * time.Second}

// ask sends one request and returns the status and the body, read as JSON.
func ask(t *testing.T, method, url string) (int, any) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	var body any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%s %s: %d, not JSON: %v\n%.300s", method, url, resp.StatusCode, err, text)
	}
	return resp.StatusCode, body
}

// checkRoutes: every route answers, with what the scenario expects, and what is no
// route does not. It returns the answers, which are the same in all forms.
func (s *Service) checkRoutes(t *testing.T, who string) map[string]any {
	t.Helper()
	got := map[string]any{}
	for _, r := range Routes() {
		status, body := ask(t, r.Method, s.URL+r.Path)
		if status != 200 {
			t.Errorf("%s: %s %s: %d %v", who, r.Method, r.Path, status, body)
		}
		got[r.Method+" "+r.Route] = body
	}
	for _, bad := range []string{"GET /nothing", "GET /profiles/0", "GET /profiles/51", "GET /events", "POST /feed"} {
		method, path, _ := strings.Cut(bad, " ")
		status, body := ask(t, method, s.URL+path)
		if status != 404 {
			t.Errorf("%s: %s: %d, want 404", who, bad, status)
		}
		got[bad] = body
	}
	t.Run("scenario "+who, func(t *testing.T) { s.checkScenario(t) })
	return got
}

// checkReset: order numbers begin again, so answers can be compared; stopping
// and starting is as good as a reset.
func (s *Service) checkReset(t *testing.T) {
	t.Helper()
	s.Reset()
	for want := 1; want <= 2; want++ {
		if _, body := ask(t, "POST", s.URL+"/orders"); fmt.Sprint(body) != fmt.Sprintf("map[order:%d]", want) {
			t.Errorf("order %v, want %d", body, want)
		}
	}
	s.Stop()
	if out, err := s.Run("status"); err == nil {
		t.Errorf("status of what was stopped:\n%s", out)
	}
	s.Start("php", "clean", "")
	if _, body := ask(t, "POST", s.URL+"/orders"); fmt.Sprint(body) != "map[order:1]" {
		t.Errorf("started again: order %v, want 1", body)
	}
}
