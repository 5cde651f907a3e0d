package load

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/andybalholm/cascadia"
	"github.com/klauspost/compress/zstd"

	"kasoku/internal/await"
)

// shop has pages with a token that differs each time, a form with an upload,
// and a page that can be made wrong.
func shop(t *testing.T) (srv *httptest.Server, broken *atomic.Bool) {
	broken = new(atomic.Bool)
	var n atomic.Int64
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/form":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: fmt.Sprint("s", n.Load())})
			fmt.Fprintf(w, "<html><body><form id=up><input name=other value=x><input name=csrf value='t%d'></form>\n<h1> Hello <b>you</b> </h1></body>", n.Add(1))
		case "/upload":
			f, head, err := r.FormFile("picture")
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			data, _ := io.ReadAll(f)
			fmt.Fprintf(w, "%s|%s|%s|%s|%s|%s", head.Filename, head.Header.Get("Content-Type"), data, r.FormValue("csrf"), r.FormValue("who"), r.FormValue("cookie"))
		case "/page":
			text := "first line\nid=%d and more\nlast line"
			if broken.Load() {
				text = "first line\nid=%d and less\nlast line"
			}
			fmt.Fprintf(w, text, n.Add(1))
		}
	}))
	t.Cleanup(srv.Close)
	return srv, broken
}

// A token found by CSS, a cookie's value and a file go into an upload.
func TestUploadAndCSS(t *testing.T) {
	srv, _ := shop(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cat.png"), []byte("\x89PNG\r\n\x00cat"), 0o644); err != nil {
		t.Fatal(err)
	}
	src := steps(`
- request: GET /form
  extract: {csrf: {css: "form#up input[name=csrf]", attr: value}, who: {css: h1 b}, digits: {css: "h1", regexp: 'Hel(lo)'}, sid: {cookie: sid, regexp: 's(\d+)'}}
- request: POST /upload
  multipart: {csrf: "${csrf}", who: "${who} ${digits}", cookie: "${sid}", picture: {file: cat.png, type: image/png}}
  expect: {contains: ["cat.png|image/png|\x89PNG"], regexp: ['cat\|t\d+\|you lo\|\d+$']}
- request: POST /upload
  multipart: {picture: {text: "hi ${user.login}", name: note.txt, type: text/plain}}
  expect: {contains: "note.txt|text/plain|hi ${user.login}|"}
`)
	src = strings.Replace(src, `["cat.png|image/png|\x89PNG"]`, `"cat.png|image/png|"`, 1)
	s, err := Parse(filepath.Join(dir, "s.yaml"), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	everyEngine(t, func(t *testing.T, e Engine) {
		res, err := Run(t.Context(), Options{Scenario: s, URL: srv.URL, Workload: 2, Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		wantRight(t, res)
	})
}

// A golden answer is recorded, holds with its volatile part masked, and a
// wrong answer is kept beside the right one.
func TestGolden(t *testing.T) {
	srv, broken := shop(t)
	path := filepath.Join(t.TempDir(), "s.yaml")
	src := steps("- {request: GET /page, expect: {golden: golden/page.txt, mask: ['id=(\\d+)']}}")
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadScenario(path); err == nil || !strings.Contains(err.Error(), "kasoku scenario record") {
		t.Fatalf("a missing golden file: %v", err)
	}
	recording, err := LoadForRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Record(t.Context(), Options{Scenario: recording, URL: srv.URL})
	if err != nil || len(files) != 1 || filepath.Base(files[0].Path) != "page.txt" {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.MkdirAll(filepath.Dir(files[0].Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0].Path, files[0].Body, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := LoadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Scenario: s, URL: srv.URL, Workload: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantRight(t, res)
	broken.Store(true)
	if res, err = Run(t.Context(), Options{Scenario: s, URL: srv.URL, Workload: 1}); err != nil {
		t.Fatal(err)
	}
	if res.Succeeded > 0 || len(res.Samples) == 0 {
		t.Fatalf("%+v", res)
	}
	m := res.Samples[0]
	if !strings.Contains(m.Got, `line 2 differs: "id=`) || !strings.Contains(m.Got, "less") || !strings.Contains(m.Reference, "and more") || !strings.Contains(m.Body, "and less") {
		t.Errorf("%+v", m)
	}
}

func TestUploadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"multipart: {}":                               "no parts",
		"multipart: {a: {file: gone.png}}":            "relative to the scenario's folder",
		"multipart: {a: {file: x, text: y}}":          "one of file and text",
		"multipart: {a: {name: x}}":                   "one of file and text",
		"multipart: {a: {text: x, name: \"a\\\"b\"}}": "no quotes",
		"multipart: {a: b}\n  form: {a: b}":           "more than one of",
		"extract: {x: {css: '[[['}}":                  "is no selector",
		"extract: {x: {attr: value}}":                 "add css",
		"extract: {x: {css: a, cookie: b}}":           "more than one of",
		"expect: {mask: x}":                           "add golden",
		"expect: {golden: gone.html}":                 "kasoku scenario record",
	} {
		_, err := Parse(filepath.Join(t.TempDir(), "s.yaml"), []byte(steps("- request: POST /\n  "+text)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Every coding is decoded, again and again, and a small body that unfolds to
// more than the limit is an error.
func TestInflate(t *testing.T) {
	await.SkipShort(t)
	text := []byte(strings.Repeat("kasoku ", 5000))
	packers := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"Deflate": func(w io.Writer) io.WriteCloser { // raw
			z, err := flate.NewWriter(w, 6)
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	}
	for coding, pack := range packers {
		var f inflater
		packed := func(data []byte, times int) []byte {
			var b bytes.Buffer
			w := pack(&b)
			for range times {
				w.Write(data)
			}
			w.Close()
			return b.Bytes()
		}
		res := &response{encoding: []byte(coding), body: packed(text, 1)}
		for range 3 {
			if got, opaque := f.decode(res); opaque != "" || !bytes.Equal(got, text) {
				t.Fatalf("%s: %d bytes, %s", coding, len(got), opaque)
			}
		}
		res.body = res.body[:len(res.body)/2]
		if _, opaque := f.decode(res); !strings.Contains(opaque, "body") {
			t.Errorf("%s, cut: %q", coding, opaque)
		}
		res.body = packed(make([]byte, 1<<20), 65)
		if _, opaque := f.decode(res); !strings.Contains(opaque, "64 MiB") {
			t.Errorf("%s bomb of %d bytes: %q", coding, len(res.body), opaque)
		}
		res.body = packed(text, 1)
		if got, opaque := f.decode(res); opaque != "" || !bytes.Equal(got, text) {
			t.Errorf("%s after a broken body: %q", coding, opaque)
		}
	}
}

// A page that the parser refuses or that is too large has no value; it is a
// wrong answer, not the end of the run.
func TestCSSOfOddPages(t *testing.T) {
	sel, err := cascadia.Parse("i.none")
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{
		"deep":  strings.Repeat("<div>", 5000) + "<i>x</i>",
		"large": "<i>x</i>" + strings.Repeat(" ", maxPage),
		"empty": "",
		"bytes": "\x00\xff<i",
	} {
		u := &user{text: []byte(page)}
		q := &cssQuery{sel: sel}
		if v, ok := q.find(u); ok {
			t.Errorf("%s: found %q", name, v)
		}
	}
	u := &user{text: []byte("<i class=none> a <b>c</b></i>")}
	if v, ok := (&cssQuery{sel: sel}).find(u); !ok || string(v) != "a c" {
		t.Errorf("found %q %v", v, ok)
	}
}
