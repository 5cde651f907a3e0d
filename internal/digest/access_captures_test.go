package digest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The same requests to nginx 1.22, Apache 2.4, Varnish 7.1 (varnishncsa, by its
// own format and by the one of evidence) and HAProxy 2.6, as each of their
// formats wrote them: six items, one of them failing, a style sheet, a POST, a
// path with a quote, and one line of garbage that only some log.
func TestAccessCaptures(t *testing.T) {
	for _, c := range []struct {
		file, format string
		lines        int64
		timed        bool
		upstream     int64 // requests of items that asked one
		cache        string
	}{
		{"nginx-combined.log", "combined", 9, false, 0, "map[]"},
		{"nginx-times.log", "combined_times", 9, true, 4, "map[]"},
		{"nginx-ltsv.log", "ltsv", 9, true, 4, "map[HIT:2 MISS:4]"},
		{"nginx-json.log", "json", 9, true, 4, "map[HIT:2 MISS:4]"},
		{"apache-common.log", "common", 10, false, 0, "map[]"},
		{"apache-micros.log", "combined and more", 10, true, 0, "map[]"},
		{"apache-vhost.log", "vhost_combined", 10, false, 0, "map[]"},
		{"varnish-combined.log", "combined", 9, false, 0, "map[]"},
		{"varnish-ltsv.log", "ltsv", 9, true, 0, "map[hit:2 miss:4]"},
		{"haproxy.log", "haproxy", 10, true, 6, "map[]"},
	} {
		var o AccessOptions
		if c.file == "apache-micros.log" { // %D is a bare number: 96 may be 96 ms as well
			o.Times.Unit = time.Microsecond
		}
		a, err := AccessLogs(context.Background(), []Input{fileInput(filepath.Join("testdata", "access", c.file))}, o)
		if err != nil {
			t.Error(err)
			continue
		}
		var names []string
		for _, r := range a.Routes {
			names = append(names, fmt.Sprintf("%s %s %d", r.Method, r.Route, r.Count))
			if r.Route == "/items/:id" && (r.Status[2] != 5 || r.Status[4]+r.Status[5] != 1 || r.Bytes == 0 || r.Upstream.Count != c.upstream ||
				fmt.Sprint(r.Cache) != c.cache || strings.TrimPrefix(r.Example, "http://127.0.0.1:18080") != "/items/1?q=*") {
				t.Errorf("%s: %+v", c.file, r)
			}
		}
		slices.Sort(names)
		want := `GET /%E3%81%82/x"y 1, GET /items/:id 6, GET /static.css 1, `
		if c.lines == 10 {
			want += "OTHER (no request) 1, "
		}
		want += "POST /items 1"
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.file, got, want)
		}
		if a.Format != c.format || a.Lines != c.lines || a.Bad > 0 || a.Timed != c.timed || a.From.Year() != 2026 || a.To.Before(a.From) {
			t.Errorf("%s: %+v", c.file, a)
		}
	}
}
