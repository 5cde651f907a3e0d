package load

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A link without a slash in front is relative to the page that it was taken of, whichever
// way, and its fragment is not sent.
func TestRelativeLinks(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	h := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method+" "+r.URL.RequestURI()]++
		mu.Unlock()
		switch r.URL.Path {
		case "/forum/reply":
			w.Header().Set("Location", "show.php?tid=7&pid=91#pid91")
			w.WriteHeader(http.StatusFound)
		case "/forum/deep/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<link rel=stylesheet href="/x/app.css"><a class=up href="../list?p=1#top">up</a><a class=same href="?p=2">next</a>`)
		default:
			io.WriteString(w, "ok")
		}
	}
	src := strings.Replace(steps(`- {request: POST /forum/reply, form: {a: b}, expect: {status: 302}, extract: {to: {header: Location}}}
- {request: "GET ${to}"}
- {request: GET /forum/deep/page, assets: auto, extract: {up: {css: a.up, attr: href}, same: {css: a.same, attr: href}}}
- {request: "GET ${up}"}
- {request: "GET ${same}"}
`), "300ms", "100ms", 1)
	res := runAgainst(t, h, src)
	if res.Mismatches+res.Errors > 0 || res.Succeeded == 0 {
		t.Fatalf("%d right; %+v", res.Succeeded, res.Samples)
	}
	for _, want := range []string{"GET /forum/show.php?tid=7&pid=91", "GET /forum/list?p=1", "GET /forum/deep/page?p=2"} {
		if asked[want] == 0 {
			t.Errorf("%s was not asked for: %v", want, asked)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, c := range []struct{ page, link, want string }{
		{"/a/b?c=d", "e?f=g#h", "/a/e?f=g"}, {"/a/b", "./e", "/a/e"}, {"/a/b/c", "../e", "/a/e"}, {"/a/b?c=d", "?e", "/a/b?e"}, {"/a/", "e", "/a/e"},
		{"/a", "http://other/", ""}, {"/a", "//other/x", ""}, {"/a", "mailto:x@y", ""}, {"/a", "", ""}, {"", "e", ""}, {"/a", "%zz", ""},
	} {
		got, ok := relative([]byte(c.page), []byte(c.link))
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s in %s: %q, %v, want %q", c.link, c.page, got, ok, c.want)
		}
	}
}
