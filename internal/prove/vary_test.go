package prove

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"kasoku/internal/stack"
)

// A page whose one line comes in another order from each process (the keys of a hash)
// is no other answer, although all takes as found had the same order by chance. A line
// that stays another one is, and so is a page that is another one now and then.
func TestEqualLearnsWhatVariesByItself(t *testing.T) {
	const rest = "A long text that stays as it is, whoever asks for it, and however often anybody does.\n"
	var mode, n atomic.Int64 // 0: as found
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		line := `{"a":1,"b":2,"c":3}`
		switch i := n.Add(1); {
		case mode.Load() == 1 && i%3 != 0:
			line = []string{"", `{"b":2,"a":1,"c":3}`, `{"c":3,"b":2,"a":1}`}[i%3]
		case mode.Load() == 2:
			line = `{"b":2,"a":1,"c":3}`
		case mode.Load() == 3 && i%2 == 0:
			fmt.Fprint(w, strings.Repeat("Sorry, something went wrong here, please come back later.\n", 23))
			return
		}
		fmt.Fprintf(w, "<h1>Title</h1>\n%s\n%s", line, strings.Repeat(rest, 20))
	}))
	defer app.Close()
	opts := optionsOf(t, "version: 1\nname: page\nsessions: [{name: s, steps: [{request: GET /}]}]\n", app.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 3, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(app.URL, "http://")
	st := &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Listen: []string{address}}}}
	for m, want := range []Outcome{Held, Held, Failed, Failed} {
		mode.Store(int64(m))
		r, err := Equal(t.Context(), opts, book, EqualOptions{Blamer: &Blamer{Stack: st, Opts: opts}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != want || (m == 1) != strings.Contains(strings.Join(r.Notes, "\n"), "by themselves beyond") {
			t.Errorf("mode %d: %s, want %s: %s; %q; %+v", m, r.Outcome, want, r.Text, r.Notes, r.Problems)
		}
	}
}
