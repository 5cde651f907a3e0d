package web

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"kasoku/internal/store"
)

// TestChooseARun: a run's page asks for another to compare it with, and the
// list remembers one that is chosen on all of its pages.
func TestChooseARun(t *testing.T) {
	p := newSample(t)
	for i := range perPage + 5 {
		must(t, p.store.SaveRun(&store.Run{Session: p.session, Kind: store.Scored, Label: fmt.Sprint("run of a list ", i), Started: begun}))
	}
	b := serve(t, p, nil)
	_, page := b.get(fmt.Sprintf("/runs/%d", p.after))
	if !strings.Contains(page, `<label for="with">`) || !strings.Contains(page, fmt.Sprintf(`required value="%d"`, p.before)) {
		t.Errorf("run %d does not ask to be compared with run %d", p.after, p.before)
	}
	if _, page = b.get(fmt.Sprintf("/runs/%d", p.before)); !strings.Contains(page, `min="1" required>`) {
		t.Error("the first of its kind is to be compared with something")
	}
	path := fmt.Sprintf("/runs?with=%d&session=%d&kind=scored", p.after, p.session)
	for n := range 2 {
		status, page := b.get(path)
		if status != http.StatusOK || !strings.Contains(page, fmt.Sprintf(`<input type="hidden" name="run" value="%d">`, p.after)) || !strings.Contains(page, fmt.Sprintf("Compare with run %d", p.after)) {
			t.Fatalf("page %d at %s: %d", n, path, status)
		}
		if n > 0 {
			if boxes := strings.Count(page, `type="checkbox"`); boxes == 0 || boxes >= perPage {
				t.Errorf("%d rows on the last page at %s", boxes, path)
			}
			break
		}
		next := regexp.MustCompile(`<a href="([^"]*)" rel="next">`).FindStringSubmatch(page)
		if next == nil {
			t.Fatalf("no next page at %s", path)
		}
		path = html.UnescapeString(next[1])
	}
}
