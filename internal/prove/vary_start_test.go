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

// What an application draws at its start (a process's id in the names of files, a key of
// a session) is another one after each restart: no other answer. A text that stays another
// one after the restart is, and so is a page that differs elsewhere as well.
func TestEqualLearnsWhatIsDrawnAtTheStart(t *testing.T) {
	const rest = "A long text that stays as it is, whoever asks for it, and however often anybody does.\n"
	var start, mode atomic.Int64
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		title := "Title"
		if mode.Load() == 2 {
			title = "Another"
		}
		id := start.Load()
		if mode.Load() == 1 {
			id = 7
		}
		fmt.Fprintf(w, "<h1>%s</h1> <link href=\"/a.css?d=%08x\">\n%s", title, id*0x9e3779b1&0xffffffff, strings.Repeat(rest, 20))
	}))
	defer app.Close()
	opts := optionsOf(t, "version: 1\nname: page\nsessions: [{name: s, steps: [{request: GET /}]}]\n", app.URL)
	start.Store(1)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 3, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	start.Store(2)
	for m, want := range []Outcome{Held, Failed, Failed} {
		mode.Store(int64(m))
		restarts := 0
		r, err := Equal(t.Context(), opts, book, EqualOptions{Restart: func(context.Context) (bool, error) {
			restarts++
			start.Add(1)
			return true, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != want || restarts != 1 || (m == 0) != strings.Contains(strings.Join(r.Notes, "\n"), "draws when it starts") {
			t.Errorf("mode %d: %s after %d restarts, want %s: %s; %q; %+v", m, r.Outcome, restarts, want, r.Text, r.Notes, r.Problems)
		}
	}
	// Nobody may restart it.
	mode.Store(0)
	r, err := Equal(t.Context(), opts, book, EqualOptions{Restart: func(context.Context) (bool, error) { return false, nil }})
	if err != nil || r.Outcome != Failed {
		t.Errorf("without a restart: %s, %v", r.Outcome, err)
	}
}
