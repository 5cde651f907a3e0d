package prove

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A list whose order a statement leaves open differs by a new index alone: without it the
// page is as found, with it again it is not. What stays wrong without the index fails, and
// so does what was wrong for a while only.
func TestEqualByAnIndexAlone(t *testing.T) {
	var indexed, mended atomic.Bool
	title := "Lamps"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		first, second := "a lamp for the table", "a lamp for the floor"
		if indexed.Load() && !mended.Load() {
			first, second = second, first
		}
		fmt.Fprintf(w, "<h1>%s</h1>\n<p>%s</p>\n<p>%s</p>\nA long text that stays as it is.\n", title, first, second)
	}))
	defer srv.Close()
	opts := optionsOf(t, "version: 1\nname: lamps\nsessions:\n  - {name: reader, steps: [{request: GET /}, {request: GET /about}]}\n", srv.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 2, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	equal := func(unindexed func(context.Context, func(context.Context) error) ([]string, error)) (Result, string) {
		t.Helper()
		indexed.Store(true)
		mended.Store(false)
		r, err := Equal(t.Context(), opts, book, EqualOptions{Unindexed: unindexed})
		if err != nil {
			t.Fatal(err)
		}
		return r, strings.Join(r.Notes, "\n")
	}
	without := func(ctx context.Context, take func(context.Context) error) ([]string, error) {
		indexed.Store(false)
		defer indexed.Store(true)
		return []string{"goods.by_time"}, take(ctx)
	}
	if r, notes := equal(without); r.Outcome != Held || r.Failures != 0 || !strings.Contains(notes, "2 requests differ by goods.by_time alone: without it the answers are as found") || !strings.Contains(r.Text, "0 differ") {
		t.Errorf("%s: %s %+v %q", r.Outcome, r.Text, r.Problems, r.Notes)
	}
	if r, notes := equal(nil); r.Outcome != Failed || strings.Contains(notes, "alone") {
		t.Errorf("nobody may take an index away: %s: %s %q", r.Outcome, r.Text, r.Notes)
	}
	none := func(context.Context, func(context.Context) error) ([]string, error) { return nil, nil }
	if r, _ := equal(none); r.Outcome != Failed {
		t.Errorf("there is no index: %s: %s %q", r.Outcome, r.Text, r.Notes)
	}
	// It came right by itself meanwhile, and stays so: the index was not it.
	passing := func(ctx context.Context, take func(context.Context) error) ([]string, error) {
		mended.Store(true)
		return []string{"goods.by_time"}, take(ctx)
	}
	if r, _ := equal(passing); r.Outcome != Failed {
		t.Errorf("it is right with the index, too: %s: %s %q", r.Outcome, r.Text, r.Notes)
	}
	title = "Errors"
	if r, _ := equal(without); r.Outcome != Failed {
		t.Errorf("wrong without the index, too: %s: %s %q", r.Outcome, r.Text, r.Notes)
	}
}
