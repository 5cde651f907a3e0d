package load

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// ${base} is the target's origin in setup, in every session and in teardown, whatever
// the engine; the preview has a stand-in for it.
func TestBase(t *testing.T) {
	src := strings.Replace(steps("- request: POST /form\n  headers: {Referer: \"${base}/page\"}\n"), "version: 1",
		"version: 1\nsetup:\n- request: GET /setup\n  headers: {Referer: \"${base}/setup\"}\nteardown:\n- request: GET /end\n  headers: {Referer: \"${base}/end\"}", 1)
	var seen [3]atomic.Int64
	res := runAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		for i, path := range []string{"/setup", "/page", "/end"} {
			if r.Header.Get("Referer") == "http://"+r.Host+path {
				seen[i].Add(1)
				fmt.Fprint(w, "ok")
				return
			}
		}
		w.WriteHeader(http.StatusForbidden)
	}, src)
	wantRight(t, res)
	if seen[0].Load() == 0 || seen[1].Load() == 0 || seen[2].Load() == 0 {
		t.Errorf("setup %d, sessions %d, teardown %d", seen[0].Load(), seen[1].Load(), seen[2].Load())
	}
	sc, err := Parse("base.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := sc.Preview(1); err != nil || !strings.Contains(shown[0], "Referer: http://target/page") {
		t.Errorf("%q, %v", shown, err)
	}
}
