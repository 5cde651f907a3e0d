package web

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"kasoku/internal/change"
)

// TestUndoWhileAtWork: who has the lease is not disturbed.
func TestUndoWhileAtWork(t *testing.T) {
	p := newSample(t)
	b := serve(t, p, nil)
	b.logIn()
	form := url.Values{"csrf": {b.csrf(p.kept)}}
	x, err := change.Open(t.Context(), change.Options{Dir: p.dir})
	must(t, err)
	res, page := b.do("POST", fmt.Sprintf("/journal/%d/undo", p.kept), form, nil)
	if res.StatusCode != http.StatusConflict || !strings.Contains(page, fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
	if _, page = b.get(fmt.Sprintf("/journal/%d", p.kept)); strings.Contains(page, "<form") || !strings.Contains(page, "At work now") {
		t.Errorf("a button while Kasoku is at work\n%s", page)
	}
	must(t, x.Close())
	if res, page = b.do("POST", fmt.Sprintf("/journal/%d/undo", p.kept), form, nil); res.StatusCode != http.StatusSeeOther {
		t.Errorf("afterwards: %d\n%s", res.StatusCode, page)
	}
}
