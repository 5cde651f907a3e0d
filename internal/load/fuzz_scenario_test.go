package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// Each problem of a scenario stands on a line that begins with its place; the
// last line may say how many more there are.
var (
	placeLine = regexp.MustCompile(`^s\.yaml:[1-9]\d*:[1-9]\d*: .`)
	moreLine  = regexp.MustCompile(`^s\.yaml: and \d+ more$`)
)

// Parse never panics and is quick; its errors say where; and what it accepts
// can be run. Runs cover code by chance, so fuzz with -fuzzminimizetime=5x.
func FuzzScenario(f *testing.F) {
	f.Add([]byte(steps("- {request: \"POST /${user.login}\", form: {a: b}, follow: true, then: {contains: x}, record: {s: \"${user.login}\"}}")), byte(0))
	f.Add([]byte(steps("- {request: GET /, extract: {x: {regexp: '(o)k'}}, think: 1ms, repeat: 2}\n- {request: \"GET ${x}\", assets: [/a.css]}")), byte(1))
	f.Add([]byte("version: 1\nname: &n x\nsessions: [{name: *n, steps: [{request: GET /}]}]\nsetup: [{request: GET /a}]\nteardown: [{request: GET /b, expect: {json: {$.a: 1}}}]\n"), byte(2))
	f.Add([]byte("version: 1\nname: x\narrivals: {rate: 100}\nsessions: [{steps: [{request: GET /}]}]\nscore: {weights: {GET /: 2}, penalty: {error: 1}}\n"), byte(3))
	f.Add([]byte("version: 1\nname: x\npools: {p: {generate: {from: 5, to: 9}, fields: {a: \"${n/2%3}\"}, order: random}}\nsessions: [{draw: {q: p}, steps: [{request: HEAD /, headers: {Host: \"${q.a}\"}}]}]\n"), byte(4))
	for _, path := range []string{"../../cases/login/scenario.yaml"} {
		if src, err := os.ReadFile(path); err == nil {
			f.Add(src, byte(5))
		}
	}
	name := filepath.Join(f.TempDir(), "s.yaml") // pool files are relative to it
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `ok {"a": 1} <a href="/x">`)
	}))
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, src []byte, choice byte) {
		if bytes.Contains(src, []byte("/dev")) || bytes.Contains(src, []byte("/proc")) {
			return // pool files that have no end
		}
		var s *Scenario
		var err error
		if took := await.CPU(t, func() { s, err = Parse(name, src) }); took > 5*time.Second {
			t.Errorf("%d bytes took %s", len(src), took)
		}
		if err != nil {
			for _, line := range strings.Split(strings.ReplaceAll(err.Error(), name, "s.yaml"), "\n") {
				if !placeLine.MatchString(line) && !moreLine.MatchString(line) {
					t.Fatalf("no place in %q of\n%v", line, err)
				}
			}
			return
		}
		e := engines(false)[int(choice)%len(engines(false))]
		// Pauses of setup and teardown may be as long as the file says.
		pauses, limit := len(s.setup.steps)+len(s.teardown.steps) > 0, await.Limit
		if pauses {
			limit = 3 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err = Run(ctx, Options{Scenario: s, URL: srv.URL, Workload: 1 + int(choice>>4)%4, Engine: e, Warmup: -1, Window: 20 * time.Millisecond})
		if errors.Is(err, context.DeadlineExceeded) && !pauses {
			t.Errorf("a run of 20 ms did not end")
		}
	})
}
