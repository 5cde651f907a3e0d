package web

import (
	"os"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// TestNginxGzipStatic: a file whose .gz lies beside it is compressed for each
// client, and then sent as it lies there; not while another file has a .gz of an older
// deployment beside it, which would be sent, too.
func TestNginxGzipStatic(t *testing.T) {
	style, script := strings.Repeat("body { color: black; margin: 0 }\n", 4000), strings.Repeat("let a = 1;\n", 4000)
	ask := ", headers: {Accept-Encoding: gzip}, expect: {status: 200}}\n"
	x := startSite(t, setup{
		http:  "gzip on; gzip_vary on; gzip_comp_level 1; gzip_types text/css application/javascript;",
		files: map[string]string{"files/site.css": style, "files/site.css.gz": pack(t, style), "files/app.js": script},
		steps: "      - {name: style, request: GET /files/site.css" + ask + "      - {name: script, request: GET /files/app.js" + ask,
	})
	if _, body := x.get(t, "/files/site.css", "Accept-Encoding: gzip"); body == pack(t, style) {
		t.Fatal("the .gz is sent before anything was changed")
	}
	old := bed.Write(t, x.dir, "public/files/app.js.gz", pack(t, "of an older deployment"))
	for _, p := range x.bed.Plans(t).Plans {
		if p.Remedy == "nginx.gzip-static" {
			t.Errorf("planned although an old file would be sent: %s", p.Why)
		}
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	x.bed.Show(t, func(t *testing.T, p remedy.Plan) {
		if !strings.Contains(p.Why, "/files/site.css") || strings.Contains(p.Why, "/files/app.js") {
			t.Error(p.Why)
		}
		if res, body := x.get(t, "/files/site.css", "Accept-Encoding: gzip"); body != pack(t, style) || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%v, %d bytes", res.Header, len(body))
		}
		if _, body := x.get(t, "/files/site.css"); body != style {
			t.Error("a client that takes no gzip gets other bytes")
		}
	}, "nginx.gzip-static")
}
