package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const membersScenario = `version: 1
name: members
mask: ['at [0-9:]+']
pools:
  people: {generate: {from: 1, to: 50}, fields: {name: "user${n}"}}
sessions:
  - name: member
    draw: {who: people}
    steps:
      - {request: POST /login, form: {name: "${who.name}"}, follow: true}
      - {name: settings, request: GET /settings}
  - name: visitor
    steps:
      - {request: GET /about}
      - {request: GET /style.css}
`

// members is a site with pages of its members. serial numbers its answers.
type members struct {
	serial atomic.Int64
	title  string
}

func (m *members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, who := m.serial.Add(1), ""
	if c, err := r.Cookie("user"); err == nil {
		who = c.Value
	}
	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/login":
		http.SetCookie(w, &http.Cookie{Name: "user", Value: r.FormValue("name")})
		http.Redirect(w, r, fmt.Sprintf("/mypage?welcome=%d", n), http.StatusSeeOther)
	case "/mypage", "/settings":
		if who == "" {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "<h1>%s</h1>\n<p>Hello %s, at 12:%d</p>\n<input name=csrf value=t%d>\nA long text that stays as it is, whoever asks for it.\n", m.title, who, n, n)
	case "/style.css":
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body { color: black }")
	default:
		fmt.Fprintf(w, "<h1>%s</h1> about us, answer %d\nA long text that stays as it is.\n", m.title, n)
	}
}

func TestEqual(t *testing.T) {
	app := &members{title: "Members"}
	srv := httptest.NewServer(app)
	defer srv.Close()
	opts := optionsOf(t, membersScenario, srv.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 3, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	data, err := book.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "Hello") {
		t.Error("the book is not packed")
	}
	compare := func() Result {
		t.Helper()
		stored, err := DecodeBook(data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Equal(t.Context(), opts, stored, EqualOptions{Takes: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := compare(); r.Outcome != Held || r.Reads < 2*2*7 || r.Failures != 0 {
		t.Errorf("%s: %s %+v", r.Outcome, r.Text, r.Problems)
	}
	app.title = "Others"
	if r := compare(); r.Outcome != Failed || r.Failures < 2*3 || !strings.Contains(r.Problems[0].What, "Others") || !strings.Contains(r.Problems[0].What, `GET /mypage`) {
		t.Errorf("another title was not seen: %s: %s %+v", r.Outcome, r.Text, r.Problems)
	}
}

// A page that shows what the load wrote differs while load goes on, however often it is
// asked; alone it is as found. One that is wrong alone, too, fails.
func TestEqualBesideWrites(t *testing.T) {
	var latest atomic.Int64
	title := "News"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/about" {
			fmt.Fprintf(w, "<h1>%s</h1>\nA long text that stays as it is.\n", title)
			return
		}
		fmt.Fprintf(w, "<h1>News</h1>\n<p>The latest comment is the one that Reader %d wrote</p>\nA long text that stays as it is.\n", latest.Load())
	}))
	defer srv.Close()
	opts := optionsOf(t, "version: 1\nname: news\nsessions:\n  - {name: reader, steps: [{request: GET /}, {request: GET /about}]}\n", srv.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 2, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	around := func(wrote int64) Around {
		return func(ctx context.Context, walk func(context.Context) error) error {
			latest.Store(wrote)
			return walk(ctx)
		}
	}
	equal := func(alone Around) Result {
		t.Helper()
		r, err := Equal(t.Context(), opts, book, EqualOptions{Around: around(1818), Alone: alone})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := equal(nil); r.Outcome != Failed || r.Failures != 1 {
		t.Errorf("nobody asked alone: %s: %s", r.Outcome, r.Text)
	}
	if r := equal(around(0)); r.Outcome != Held || !strings.Contains(strings.Join(r.Notes, "\n"), "1 request differed beside load and not without it") {
		t.Errorf("%s: %s %v", r.Outcome, r.Text, r.Notes)
	}
	if r := equal(around(7)); r.Outcome != Failed || r.Failures != 1 {
		t.Errorf("wrong alone, too: %s: %s", r.Outcome, r.Text)
	}
	title = "Olds"
	if r := equal(around(0)); r.Outcome != Failed || r.Failures != 1 || !strings.Contains(r.Problems[0].What, "GET /about") {
		t.Errorf("another title beside it: %s: %s %+v", r.Outcome, r.Text, r.Problems)
	}
}

// Another way to write the same type is no other answer.
func TestTypesThatMeanTheSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"text/css;charset=UTF-8", "text/css; charset=utf-8", true},
		{"Text/HTML", "text/html", true},
		{"application/javascript", "text/javascript", true},
		{"", "", true},
		{"not a type;;", "not a type;;", true},
		{"text/css", "text/css; charset=utf-8", false},
		{"text/html; charset=iso-8859-1", "text/html; charset=utf-8", false},
		{"text/html", "text/plain", false},
		{"multipart/mixed; boundary=A", "multipart/mixed; boundary=a", false},
	} {
		if got := means(c.a)(c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// One answer is too little to fail, and a handful of many to hold.
func TestEqualNeedsAnswers(t *testing.T) {
	e := &equality{o: EqualOptions{Takes: 2}, r: begin(Equality), order: []string{"once of one", "once of two", "always"},
		asked:  map[string]int{"once of one": 1, "once of two": 2, "always": 2},
		differ: map[string]*difference{"once of one": {takes: 1}, "once of two": {takes: 1}, "always": {takes: 2}}}
	e.judge()
	if notes := strings.Join(e.r.Notes, "\n"); e.r.Failures != 1 || !strings.Contains(notes, "1 request differed, but came in one take only") || !strings.Contains(notes, "1 request differed in one take and not in another") {
		t.Errorf("%d failures, %q", e.r.Failures, notes)
	}
	srv := httptest.NewServer(&members{title: "Members"})
	defer srv.Close()
	opts := optionsOf(t, membersScenario, srv.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]struct {
		outcome Outcome
		text    string
	}{
		1: {NotJudged, "requests that can be compared were answered again"},
		6: {Held, fmt.Sprintf(" of %d requests", len(book.Pages))},
	} {
		book.Most = most
		r, err := Equal(t.Context(), opts, book, EqualOptions{})
		if err != nil || r.Outcome != want.outcome || !strings.Contains(r.Text, want.text) {
			t.Errorf("%d requests of a take: %s: %s, %v", most, r.Outcome, r.Text, err)
		}
	}
}

// Sessions that the walk did not come to are named, so that "held" says how far.
func TestEqualNamesWhatItDidNotCompare(t *testing.T) {
	app := httptest.NewServer(&members{title: "Members"})
	defer app.Close()
	opts := optionsOf(t, membersScenario, app.URL)
	book, err := Record(t.Context(), opts, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kept := book.Pages[:0]
	for _, p := range book.Pages {
		if sessionOf(p.Key) != "visitor" {
			kept = append(kept, p)
		}
	}
	whole := len(book.Pages)
	if len(kept) == whole {
		t.Fatal("the session is not in the book")
	}
	data, err := (&Book{Version: 1, Takes: book.Takes, Seed: book.Seed, Rounds: book.Rounds, Pages: kept}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if book, err = DecodeBook(data); err != nil {
		t.Fatal(err)
	}
	r, err := Equal(t.Context(), opts, book, EqualOptions{Takes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != Held || !strings.Contains(r.Text, "of 1 of the scenario's 2 sessions") || !strings.Contains(strings.Join(r.Notes, "\n"), "compared: visitor;") {
		t.Errorf("%s: %s %q", r.Outcome, r.Text, r.Notes)
	}
}

// A cache that gives a logged-in page to others is seen, and named.
func TestEqualSeesTheCacheThatServesAMembersPage(t *testing.T) {
	app := httptest.NewServer(&members{title: "Members"})
	defer app.Close()
	kept := map[string]string{}
	var caching atomic.Bool
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if caching.Load() && r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/settings") {
			text, ok := kept[r.URL.String()] // whoever asks
			if !ok {
				text = forward(t, app.URL, r)
				kept[r.URL.String()] = text
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, text)
			return
		}
		proxy(t, app.URL, w, r)
	}))
	defer front.Close()
	opts := optionsOf(t, membersScenario, front.URL)
	book, err := Record(t.Context(), opts, RecordOptions{Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	compare := func() Result {
		t.Helper()
		r, err := Equal(t.Context(), opts, book, EqualOptions{Takes: 1, Blamer: &Blamer{Stack: twoServers(app.URL), Opts: opts}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := compare(); r.Outcome != Held {
		t.Fatalf("%s: %s %+v", r.Outcome, r.Text, r.Problems)
	}
	caching.Store(true)
	r := compare()
	if r.Outcome != Failed {
		t.Fatalf("%s: %s", r.Outcome, r.Text)
	}
	stranger, other := false, false
	for _, p := range r.Problems {
		if !strings.Contains(p.What, "GET /settings") || p.By != "web: asked directly, app gives the right answer" {
			t.Errorf("%+v", p)
		}
		stranger = stranger || strings.Contains(p.What, "as a stranger): status 200 instead of [302]")
		other = other || strings.Contains(p.What, "round 2, settings, request 1): line 2")
	}
	if !stranger || !other {
		t.Errorf("a stranger's answer seen: %v, another member's: %v; %+v", stranger, other, r.Problems)
	}
}

// proxy hands a request on with all of the answer.
func proxy(t *testing.T, to string, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header, req.ContentLength = r.Header, r.ContentLength
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(w, res.Body); err != nil {
		t.Error(err)
	}
}

// What differs too much is not judged, and said.
func TestEqualNotJudged(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("line\n", int(n.Add(1))))
	}))
	defer srv.Close()
	opts := optionsOf(t, "version: 1\nname: x\nsessions: [{steps: [{request: GET /}]}]", srv.URL)
	book, err := Record(t.Context(), opts, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Equal(t.Context(), opts, book, EqualOptions{})
	if err != nil || r.Outcome != NotJudged || !strings.Contains(r.Text, "0 of 1 recorded answers can be compared: most often it differs in form") {
		t.Errorf("%s: %s, %v", r.Outcome, r.Text, err)
	}
}

// The data is brought back before each take, so that what the walk itself
// writes is no difference.
func TestEqualResets(t *testing.T) {
	written := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			written++
		}
		fmt.Fprintf(w, "%d written, and a text that is long enough to be compared", written)
	}))
	defer srv.Close()
	opts := optionsOf(t, "version: 1\nname: x\nsessions: [{steps: [{request: GET /}, {request: POST /}]}]", srv.URL)
	resets := 0
	around := func(ctx context.Context, walk func(context.Context) error) error {
		resets++
		written = 0
		return walk(ctx)
	}
	book, err := Record(t.Context(), opts, RecordOptions{Rounds: 2, Around: around})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Equal(t.Context(), opts, book, EqualOptions{Around: around})
	if err != nil || r.Outcome != Held || resets != 4 {
		t.Errorf("%d resets, %s: %s %+v, %v", resets, r.Outcome, r.Text, r.Problems, err)
	}
	broken := errors.New("no reset")
	failing := func(context.Context, func(context.Context) error) error { return broken }
	if _, err := Record(t.Context(), opts, RecordOptions{Around: failing}); !errors.Is(err, broken) {
		t.Errorf("a reset that failed was passed over: %v", err)
	}
}

func TestDecodeBookRefuses(t *testing.T) {
	for _, data := range []string{"", "no gzip"} {
		if _, err := DecodeBook([]byte(data)); err == nil {
			t.Errorf("%q was read", data)
		}
	}
	later := &Book{Version: 2}
	data, err := later.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeBook(data); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Error(err)
	}
}

// A page that tells how many seconds have passed since the visitor came is another one where the
// service is faster; at the pace of the service as found it is the same, and later another one.
// One that is wrong at any pace fails, and so does one that is only old for a moment after a
// write, which is right at any slower pace.
func TestEqualAtThePaceAsFound(t *testing.T) {
	var slow, wrong, old atomic.Bool // old: what was written is seen after a second
	var came, quick atomic.Int64     // quick answers to /home: of the first second
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/login":
			came.Store(time.Now().UnixNano())
			if slow.Load() {
				time.Sleep(1200 * time.Millisecond)
			}
			fmt.Fprint(w, `{"welcome": "a text that stays as it is"}`)
		default:
			passed := int64(time.Since(time.Unix(0, came.Load())) / time.Second)
			if passed == 0 {
				quick.Add(1)
			}
			if wrong.Load() {
				passed = 7
			}
			if old.Load() {
				passed = min(passed, 1)
			}
			fmt.Fprintf(w, `{"text": "that stays as it is", "passed": %d}`, passed)
		}
	}))
	defer srv.Close()
	opts := optionsOf(t, "version: 1\nname: past\nsessions:\n  - {name: player, steps: [{request: POST /login}, {request: GET /home}]}\n", srv.URL)
	slow.Store(true)
	book, err := Record(t.Context(), opts, RecordOptions{Takes: 2, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	slow.Store(false)
	quick.Store(0)
	compare := func() Result {
		t.Helper()
		r, err := Equal(t.Context(), opts, book, EqualOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// A machine that stands still for a second makes no quick answer.
	if r := compare(); r.Outcome != Held || quick.Load() >= 2 && !strings.Contains(strings.Join(r.Notes, "\n"), "1 request tells how much time lies between requests") {
		t.Errorf("%s: %s %+v %q", r.Outcome, r.Text, r.Problems, r.Notes)
	}
	quick.Store(0)
	old.Store(true)
	if r := compare(); r.Outcome != Failed && quick.Load() >= 2 {
		t.Errorf("old for a second: %s: %s %+v %q", r.Outcome, r.Text, r.Problems, r.Notes)
	}
	wrong.Store(true)
	old.Store(false)
	if r := compare(); r.Outcome != Failed {
		t.Errorf("%s: %s %+v %q", r.Outcome, r.Text, r.Problems, r.Notes)
	}
}
