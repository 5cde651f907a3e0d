package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// notes is a service that keeps what is posted to it, and may forget it or
// answer wrongly.
type notes struct {
	mu    sync.Mutex
	kept  map[string]bool
	users []string // the cookies of those who wrote
}

func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case r.URL.Path == "/login":
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: r.FormValue("name")})
	case r.Method == "POST":
		c, err := r.Cookie("sid")
		if err != nil {
			w.WriteHeader(403)
			return
		}
		n.users = append(n.users, c.Value)
		n.kept[r.FormValue("text")] = true
		w.WriteHeader(201)
	case r.URL.Path == "/list":
		if _, err := r.Cookie("sid"); err == nil {
			w.WriteHeader(400) // readers know nothing of the writer
			return
		}
		for text := range n.kept {
			fmt.Fprintf(w, "<%s>", text)
		}
	default:
		w.WriteHeader(404)
	}
}

const witnessScenario = `version: 1
name: notes
pools:
  people: {generate: {from: 1, to: 3}, fields: {name: "user${n}"}, order: random}
  texts: {generate: {from: 1, to: 5000}, fields: {text: "note-${n}"}}
setup:
  - {request: POST /login, draw: {who: people}, form: {name: "${who.name}"}}
  - {request: POST /notes, draw: {note: texts}, form: {text: "${note.text}"}, expect: {status: 201}}
sessions:
  - name: list
    steps: [{request: GET /list, expect: {contains: "<${note.text}>"}}]
  - name: never
    steps: [{request: GET /nowhere}]
`

func TestWitness(t *testing.T) {
	n := &notes{kept: map[string]bool{}}
	srv := httptest.NewServer(n)
	defer srv.Close()
	ctx, rows := context.Background(), Rows{}
	w, err := NewWitness(Options{Scenario: walkParse(t, witnessScenario), URL: srv.URL, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.Readers(), " "); got != "list never" {
		t.Errorf("readers %q", got)
	}
	for i := range 20 {
		d, err := w.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := d.Look(ctx, 0); err != nil || s.Right || s.Status != 200 || !strings.Contains(s.Expected, "<note-") {
			t.Errorf("before the write: %+v, %v", s, err)
		}
		if len(n.kept) != i {
			t.Fatalf("%d notes before write %d", len(n.kept), i)
		}
		if err := d.Do(ctx); err != nil || d.Acked.Before(d.Begun) || d.Begun.IsZero() {
			t.Fatalf("%v, begun %s, acked %s", err, d.Begun, d.Acked)
		}
		s, err := d.Look(ctx, 0)
		if err != nil || !s.Right || s.Sent.Before(d.Acked) || s.Done.Before(s.Sent) || s.Reader != "list" || !strings.HasPrefix(string(s.Request), "GET /list ") {
			t.Errorf("after the write: %+v, %v", s, err)
		}
		if s, err := d.Look(ctx, 1); err != nil || s.Right || s.Status != 404 || !s.Answered() {
			t.Errorf("%+v, %v", s, err)
		}
		d.Close()
	}
	if len(n.kept) != 20 || len(n.users) != 20 {
		t.Errorf("20 writes made %d notes of %d users", len(n.kept), len(n.users))
	}
	// The next witness begins after what this one drew.
	again, err := NewWitness(Options{Scenario: walkParse(t, witnessScenario), URL: srv.URL, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	d, err := again.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if s, err := d.Look(ctx, 0); err != nil || s.Right {
		t.Errorf("its note was there before: %+v, %v", s, err)
	}
}

// What is not acknowledged is an error, and so is what leads to it.
func TestWitnessNotAcknowledged(t *testing.T) {
	status := 500
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/notes" || r.URL.Path == "/list" {
			w.WriteHeader(status)
		}
	}))
	ctx := context.Background()
	w, err := NewWitness(Options{Scenario: walkParse(t, witnessScenario), URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Do(ctx); err == nil || !strings.Contains(err.Error(), "status 500") || !d.Acked.IsZero() {
		t.Errorf("%v, acked %s", err, d.Acked)
	}
	status = 502
	if s, err := d.Look(ctx, 0); err != nil || s.Right || s.Answered() {
		t.Errorf("a gateway's error is the service's answer: %+v, %v", s, err)
	}
	srv.Close()
	if s, err := d.Look(ctx, 0); err != nil || s.Right || s.Status != 0 || s.Answered() || s.Got == "" {
		t.Errorf("nobody answers: %+v, %v", s, err)
	}
	if _, err := w.Begin(ctx); err == nil {
		t.Error("the login had no answer, and the write went on")
	}
}

// A write is taken back also when it is closed and its context has ended, and
// only if it was sent.
func TestWitnessTakesBack(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.FormValue("text"))
	}))
	defer srv.Close()
	w, err := NewWitness(Options{URL: srv.URL, Scenario: walkParse(t, `version: 1
name: x
pools: {texts: {generate: {from: 1, to: 50}, fields: {text: "note-${n}"}}}
setup: [{request: POST /notes, draw: {note: texts}, form: {text: "${note.text}"}}]
sessions: [{steps: [{request: GET /list}]}]
teardown: [{request: "DELETE /notes?text=${note.text}"}]
`)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var deeds []*Deed
	for range 2 {
		d, err := w.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		deeds = append(deeds, d)
	}
	if err := deeds[0].Do(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := deeds[0].Do(ctx); err == nil {
		t.Error("it was sent without a context")
	}
	for _, d := range deeds {
		d.Close()
		if _, err := d.Look(t.Context(), 0); err == nil {
			t.Error("a closed write was looked at")
		}
		if err := d.TakeBack(t.Context()); err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) < 2 || asked[len(asked)-1] != "DELETE "+strings.TrimPrefix(asked[0], "POST ") || !strings.HasPrefix(asked[0], "POST note-") {
		t.Errorf("%q", asked)
	}
	for _, a := range asked[1 : len(asked)-1] {
		if strings.HasPrefix(a, "DELETE") {
			t.Errorf("%q", asked)
		}
	}
}

func TestNewWitnessRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\nname: x\nsessions: [{steps: [{request: GET /}]}]":                                                  "has no setup",
		"version: 1\nname: x\nsetup: [{request: POST /, repeat: 2}]\nsessions: [{steps: [{request: GET /}]}]":           "has repeat",
		"version: 1\nname: x\nsetup: [{request: POST /}]\narrivals: {rate: 5}\nsessions: [{steps: [{request: GET /}]}]": "plans none",
	} {
		if _, err := NewWitness(Options{Scenario: walkParse(t, text), URL: "http://127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The walk tells what it got, masked, with what it asked.
func TestWalkSaw(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1"})
		if r.URL.Path == "/in" {
			w.Header().Set("Location", "/page")
			w.WriteHeader(302)
			return
		}
		fmt.Fprintf(w, "hello at 12:34 to %q", r.Header.Get("Cookie"))
	}))
	defer srv.Close()
	sc := walkParse(t, "version: 1\nname: x\nmask: ['at [0-9:]+']\nsessions: [{steps: [{request: GET /page}, {request: POST /in, follow: true}]}]")
	var got []string
	_, err := Walk(context.Background(), Options{Scenario: sc, URL: srv.URL}, WalkOptions{Rounds: 1, Saw: func(v Visit, a Answer) {
		line, _, _ := strings.Cut(string(a.Request), "\r\n")
		got = append(got, fmt.Sprintf("%s|%d|%s|%s|%v|%d|%s", line, v.Status, a.Location, a.Body, a.Stranger, a.Hop, strings.Join(a.Cookies, ",")))
	}})
	want := []string{`GET /page HTTP/1.1|200||hello ‹masked› to ""|true|0|sid`, `POST /in HTTP/1.1|302|/page||false|0|sid`,
		`GET /page HTTP/1.1|200||hello ‹masked› to "sid=1"|false|1|sid`}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Who begins halfway meets none of the rows of who begins at the first.
func TestHalfway(t *testing.T) {
	sc := walkParse(t, "version: 1\nname: x\npools:\n  a: {generate: {from: 1, to: 100}, fields: {n: \"${n}\"}}\n  r: {generate: {from: 1, to: 9}, fields: {n: \"${n}\"}, order: random}\n"+
		"sessions: [{draw: {x: a}, steps: [{request: \"GET /${x.n}\"}]}]")
	if rows := sc.Halfway(); len(rows) != 1 || rows["a"] != 50 {
		t.Errorf("%v", rows)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	seen := map[string]int{}
	for _, rows := range []Rows{nil, sc.Halfway()} {
		visits, err := Walk(context.Background(), Options{Scenario: sc, URL: srv.URL, Rows: rows}, WalkOptions{Rounds: 40})
		if err != nil || len(visits) != 40 {
			t.Fatal(len(visits), err)
		}
		for _, v := range visits {
			seen[v.Target]++
		}
	}
	if len(seen) != 80 {
		t.Errorf("80 visits saw %d rows", len(seen))
	}
}
