package record

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kasoku/internal/load"
)

// A command that creates something answers 201 as often as 200 or a redirect, and a
// command line does not tell: the first run must take each for right, and an error for none.
func TestWhatCreatesMayAnswerSo(t *testing.T) {
	for _, c := range []struct {
		method, curl string
		status       int
		right        bool
	}{
		{"POST", "-d name=x", 201, true}, {"POST", "-d name=x", 200, true}, {"POST", "-d name=x", 303, true}, {"POST", "-d name=x", 202, true},
		{"PUT", "-X PUT -d name=x", 204, true}, {"DELETE", "-X DELETE", 204, true}, {"PATCH", "-X PATCH -d name=x", 200, true},
		{"POST", "-d name=x", 422, false}, {"POST", "-d name=x", 401, false}, {"GET", "", 201, false}, {"GET", "", 200, true},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != c.method {
				t.Errorf("%s came", r.Method)
			}
			w.Header().Set("Location", "/x")
			w.WriteHeader(c.status)
		}))
		d, err := FromCurl(strings.NewReader("curl "+server.URL+"/things "+c.curl), ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := load.Parse("s.yaml", d.Scenario())
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Scenario())
		}
		res, err := load.Run(t.Context(), load.Options{Scenario: s, URL: server.URL, Workload: 1, Warmup: -1, Window: 100 * time.Millisecond})
		server.Close()
		if err != nil && c.right {
			t.Fatal(err)
		}
		if got := err == nil && res.Succeeded > 0 && res.Mismatches == 0; got != c.right {
			t.Errorf("%s answered with %d is right: %v\n%s", c.method, c.status, got, d.Scenario())
		}
	}
}

// User and password that are in a header already need no encoding by hand.
func TestGivenBasicIsTakenOver(t *testing.T) {
	const header = `curl http://a.test/ -H 'Authorization: Basic ZXZlOnMzY3JldA=='`
	for _, c := range []struct {
		name, curl string
		keep       bool
		want       string
	}{
		{"a header", header, true, `"Authorization": "Basic ZXZlOnMzY3JldA=="`},
		{"as -u gives it", "curl -u eve:s3cret http://a.test/", true, `"Authorization": "Basic ZXZlOnMzY3JldA=="`},
		{"only if it is asked for", header, false, `"Authorization": "Basic FILL-IN"`},
		{"a token", `curl http://a.test/ -H 'Authorization: Bearer ZXZlOnMzY3JldA=='`, true, `"Authorization": "Bearer FILL-IN"`},
		{"what a shell puts in", `curl http://a.test/ -H "Authorization: Basic $(cat f)"`, true, `"Authorization": "Basic FILL-IN"`},
	} {
		d, err := FromCurl(strings.NewReader(c.curl), ClientOptions{KeepSecrets: c.keep})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(d.Scenario()); !strings.Contains(text, c.want) {
			t.Errorf("%s: want %s\n%s", c.name, c.want, text)
		}
		if c.keep || strings.Contains(strings.Join(d.Notes, " "), "--keep-secrets takes user and password") {
			continue
		}
		t.Errorf("%s: nothing says how it is taken: %q", c.name, d.Notes)
	}
}
