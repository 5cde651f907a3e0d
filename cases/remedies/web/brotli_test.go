package web

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"kasoku/internal/remedy"
)

const brotliModule = "/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so"

// TestNginxBrotli: where the module is loaded, a client that takes brotli gets
// text so, one that takes only gzip gets gzip, and one that takes neither the
// bytes as they are.
func TestNginxBrotli(t *testing.T) {
	if _, err := os.Stat(brotliModule); err != nil {
		t.Fatalf("%v: nginx's brotli module is not installed; run `make deps-test`", err)
	}
	style := strings.Repeat("body { color: black; margin: 0 }\n", 400)
	x := startSite(t, setup{
		top:   "load_module " + brotliModule + ";\n",
		files: map[string]string{"files/site.css": style},
		steps: "      - {name: style, request: GET /files/site.css, expect: {contains: [margin]}}\n",
	})
	x.bed.Show(t, func(t *testing.T, _ remedy.Plan) { x.encodes(t, "/files/site.css", style) }, "nginx.gzip")
}

// TestNginxGzipTypes: gzip is on as Debian has it, for text/html alone.
func TestNginxGzipTypes(t *testing.T) {
	style := strings.Repeat("body { color: black; margin: 0 }\n", 400)
	x := startSite(t, setup{
		http:  "gzip on;",
		files: map[string]string{"files/site.css": style},
		steps: "      - {name: style, request: GET /files/site.css, expect: {contains: [margin]}}\n",
	})
	x.bed.Show(t, func(t *testing.T, _ remedy.Plan) {
		if res, _ := x.get(t, "/files/site.css", "Accept-Encoding: gzip"); res.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("it is sent by %q", res.Header.Get("Content-Encoding"))
		}
	}, "nginx.gzip")
}

// TestNginxBrotliBesideGzip: the same where gzip is on already, and what it does
// not compress stays as it is.
func TestNginxBrotliBesideGzip(t *testing.T) {
	if _, err := os.Stat(brotliModule); err != nil {
		t.Fatalf("%v: nginx's brotli module is not installed; run `make deps-test`", err)
	}
	style := strings.Repeat("body { color: black; margin: 0 }\n", 400)
	x := startSite(t, setup{
		top:    "load_module " + brotliModule + ";\n",
		server: "gzip on; gzip_types text/css; gzip_comp_level 6; gzip_vary on; location /secret/ { alias %DIR%/public/files/; gzip off; }",
		files:  map[string]string{"files/site.css": style, "files/data.json": style},
		steps:  "      - {name: style, request: GET /files/site.css, headers: {Accept-Encoding: \"gzip, br\"}, expect: {contains: [margin]}}\n",
	})
	before := func() string {
		res, _ := x.get(t, "/files/site.css", "Accept-Encoding: gzip, br")
		return res.Header.Get("Content-Encoding")
	}
	if e := before(); e != "gzip" {
		t.Fatalf("as found it is sent by %q", e)
	}
	x.bed.Show(t, func(t *testing.T, _ remedy.Plan) {
		x.encodes(t, "/files/site.css", style)
		for _, path := range []string{"/files/data.json", "/secret/site.css"} {
			if res, body := x.get(t, path, "Accept-Encoding: gzip, br"); res.Header.Get("Content-Encoding") != "" || body != style {
				t.Errorf("%s is sent by %q, which gzip did not compress", path, res.Header.Get("Content-Encoding"))
			}
		}
	}, "nginx.brotli")
	if e := before(); e != "gzip" {
		t.Errorf("taken back, it is sent by %q", e)
	}
}

// encodes expects that each client gets the file as it takes it.
func (x site) encodes(t *testing.T, path, text string) {
	t.Helper()
	for _, c := range []struct{ accepts, sends string }{{"gzip, deflate, br", "br"}, {"gzip", "gzip"}, {"", ""}} {
		var ask []string
		if c.accepts != "" {
			ask = []string{"Accept-Encoding: " + c.accepts}
		}
		res, body := x.get(t, path, ask...)
		if got := res.Header.Get("Content-Encoding"); got != c.sends || c.sends != "" && (len(body) > len(text)/4 || !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding")) {
			t.Errorf("a client that takes %q gets %q, %d bytes, Vary %q", c.accepts, got, len(body), res.Header.Values("Vary"))
		}
		switch c.sends {
		case "br":
			plain, err := io.ReadAll(brotli.NewReader(strings.NewReader(body)))
			if err != nil || string(plain) != text {
				t.Errorf("the brotli body is not the file: %v", err)
			}
		case "":
			if body != text {
				t.Error("the plain body is not the file")
			}
		}
	}
}
