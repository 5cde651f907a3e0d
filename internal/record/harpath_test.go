package record

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/load"
)

// A forum answers a search and a new post by a redirect to what it has just made, has two
// forms with a field of one name, and a box whose name has the word signature.
func TestRedirectsToWhatWasMade(t *testing.T) {
	var mu sync.Mutex
	made := map[string]bool{}
	n := 1000
	number := func(kind string) string {
		mu.Lock()
		defer mu.Unlock()
		n++
		id := fmt.Sprintf("%s%d", kind, n)
		made[id] = false
		return id
	}
	// take reports whether it was made, and not asked for before.
	take := func(id string) bool {
		mu.Lock()
		defer mu.Unlock()
		used, ok := made[id]
		made[id] = true
		return ok && !used
	}
	var wrong []string
	mux := http.NewServeMux()
	mux.HandleFunc("/search", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST" && r.FormValue("action") == "do_search":
			http.Redirect(w, r, "/search?action=results&sid="+number("")+"&order=desc", http.StatusFound)
		case r.Method == "GET" && r.FormValue("action") == "results" && take(r.FormValue("sid")):
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><title>Found</title></html>")
		default:
			mu.Lock()
			wrong = append(wrong, r.Method+" "+r.URL.String()+" "+r.PostForm.Encode())
			mu.Unlock()
			http.Error(w, "no", http.StatusNotFound)
		}
	})
	mux.HandleFunc("/thread", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.Method == "POST" && r.FormValue("action") == "do_reply" && r.FormValue("opt[signature]") == "1":
			http.Redirect(w, r, "/thread?tid="+r.FormValue("tid")+"&pid="+number("p"), http.StatusFound)
		case r.FormValue("pid") != "" && !take(r.FormValue("pid")):
			http.Error(w, "no", http.StatusNotFound)
		default:
			fmt.Fprint(w, `<html><title>Thread</title><form action=/search><input type="hidden" name="action" value="do_search"></form>
<form action=/thread><input name="action" type="hidden" value="do_reply"><input type=hidden name=tid value=77></form></html>`)
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	r := newRecorder(t)
	form := func(target string, v url.Values) string {
		return r.do("POST", srv.URL+target, "application/x-www-form-urlencoded", v.Encode()).Answer.Redirect
	}
	r.do("GET", srv.URL+"/thread?tid=77", "", "")
	r.do("GET", srv.URL+form("/search", url.Values{"action": {"do_search"}, "words": {"a"}}), "", "")
	to := form("/thread", url.Values{"action": {"do_reply"}, "tid": {"77"}, "opt[signature]": {"1"}})
	r.do("GET", srv.URL+to, "", "")
	d, err := FromHAR(r.har(), HAROptions{Source: "forum.har"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(d.Scenario())
	want(t, "the scenario", text, "request: GET ${location}", "request: GET ${location-2}", `"action": "do_reply"`, `"opt[signature]": "1"`)
	if strings.Contains(text, "masked") || len(wrong) > 0 {
		t.Errorf("asked wrongly when recorded: %q\n%s", wrong, text)
	}
	_, s := written(t, d)
	res, err := load.Run(t.Context(), load.Options{Scenario: s, URL: srv.URL, Workload: 2, Warmup: -1, Window: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if res.Succeeded == 0 || res.Mismatches+res.Errors > 0 {
		t.Errorf("%d right, %d wrong: %+v\n%s", res.Succeeded, res.Mismatches, res.Samples, text)
	}
}

// What the visitor chose stays as recorded: a page's number in a link of its own is none
// that a redirect made.
func TestChosenByTheService(t *testing.T) {
	step := func(method, target, form string, status int) *made {
		e := &harEntry{Request: harRequest{Method: method, URL: "http://a" + target}, Answer: harAnswer{Status: status}}
		e.url, _ = url.Parse(e.Request.URL)
		if form != "" {
			e.Request.Post = &harPost{Type: "application/x-www-form-urlencoded", Text: form}
		}
		return &made{entry: e}
	}
	h := &harDraft{steps: []*made{step("GET", "/list?page=2", "", 200), step("POST", "/edit?id=7", "topic=12&title=a", 302)}}
	for target, want := range map[string]bool{"/list?page=2": false, "/list?page=2&id=7": false, "/show?topic=12": false, "/show?saved=ok": false, "/show": false,
		"/show?id=8": true, "/show?topic=12&post=x9": true} {
		if got := h.chosen(target); got != want {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
}

// A title that others begin with is the site's: a page that has no more today may have
// tomorrow.
func TestTitleOfTheSite(t *testing.T) {
	h := &harDraft{titles: []string{"<title>Forum</title>", "<title>Forum - Search</title>", "<title>Panel</title>"}}
	for right, expected := range map[string]string{"<title>Forum</title>": "<title>Forum", "<title>Forum - Search</title>": "<title>Forum - Search</title>", "<title>Panel</title>": "<title>Panel</title>",
		"</html>": "</html>", "": "", `"items":`: `"items":`} {
		if got := h.ofSite(right); got != expected {
			t.Errorf("%q: %q, want %q", right, got, expected)
		}
	}
	page := func(title string) *harEntry {
		e := &harEntry{Request: harRequest{Method: "GET"}, Answer: harAnswer{Status: 200}, body: "<html><title>" + title + "</title></html>"}
		e.Answer.Content.Type = "text/html"
		return e
	}
	r := newRecorder(t)
	for i, title := range []string{"Forum", "Forum - Search"} {
		e := page(title)
		e.Started, e.Request.URL, e.Answer.Content.Text = harTime{begin.Add(time.Duration(i) * time.Second)}, fmt.Sprintf("http://a/page%d", i), e.body
		r.file.Log.Entries = append(r.file.Log.Entries, *e)
	}
	d, err := FromHAR(r.har(), HAROptions{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the scenario", string(d.Scenario()), `contains: "<title>Forum"}`, `contains: "<title>Forum - Search</title>"}`)
	if got := titlesOf([]*harEntry{page("Forum"), page("Forum"), page("Forum - Search"), page("3 posts")}); len(got) != 2 {
		t.Errorf("titles %q", got)
	}
}
