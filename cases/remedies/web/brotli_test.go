package web

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"kasoku/internal/remedy"
)

// TestNginxBrotli: where the module is loaded, a client that takes brotli gets
// text so, one that takes only gzip gets gzip, and one that takes neither the
// bytes as they are.
func TestNginxBrotli(t *testing.T) {
	const module = "/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so"
	if _, err := os.Stat(module); err != nil {
		t.Fatalf("%v: nginx's brotli module is not installed; run `make deps-test`", err)
	}
	style := strings.Repeat("body { color: black; margin: 0 }\n", 400)
	x := startSite(t, setup{
		top:   "load_module " + module + ";\n",
		files: map[string]string{"files/site.css": style},
		steps: "      - {name: style, request: GET /files/site.css, expect: {contains: [margin]}}\n",
	})
	x.bed.Show(t, func(t *testing.T, _ remedy.Plan) {
		for _, c := range []struct{ accepts, sends string }{{"gzip, deflate, br", "br"}, {"gzip", "gzip"}, {"", ""}} {
			var ask []string
			if c.accepts != "" {
				ask = []string{"Accept-Encoding: " + c.accepts}
			}
			res, body := x.get(t, "/files/site.css", ask...)
			if got := res.Header.Get("Content-Encoding"); got != c.sends || c.sends != "" && (len(body) > len(style)/4 || !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding")) {
				t.Errorf("a client that takes %q gets %q, %d bytes, Vary %q", c.accepts, got, len(body), res.Header.Values("Vary"))
			}
			switch c.sends {
			case "br":
				plain, err := io.ReadAll(brotli.NewReader(strings.NewReader(body)))
				if err != nil || string(plain) != style {
					t.Errorf("the brotli body is not the file: %v", err)
				}
			case "":
				if body != style {
					t.Error("the plain body is not the file")
				}
			}
		}
	}, "nginx.gzip")
}
