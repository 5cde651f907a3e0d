package accesslog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// second is what a capture's second line is read as, which is that of a slow
// request: format|entries|show.
func second(t *testing.T, log []byte) string {
	t.Helper()
	f, err := Detect(log)
	if err != nil {
		return err.Error()
	}
	r := NewRows(f, true)
	out, n, bad := "", 0, ""
	for line := range bytes.Lines(log) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 || r.Header(line) {
			continue
		}
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			bad = " bad: " + why + ": " + string(line)
			continue
		}
		if n++; n == 2 || out == "" {
			out = show(e)
		}
	}
	return fmt.Sprintf("%s|%d|%s%s", f.Name, n, out[:strings.LastIndexByte(out, '|')], bad)
}

// Lines of running programs: testdata/programs/README.md has their versions and
// configurations. Each wrote GET /items/1?q=a%20b, GET /items/22 (45 ms), POST
// /items, a path with a quote, and one that is not found.
func TestProgramCaptures(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"bunyan", `json (bunyan)|5|2026-11-28T09:30:14.339Z|::ffff:127.0.0.1||GET|/items/22||127.0.0.1:18099|200|-1|65000|-1||test "agent"|`},
		{"caddy", `json (caddy)|5|2026-11-28T09:31:02.5801148Z|127.0.0.1||GET|/items/22|HTTP/1.1|127.0.0.1:18301|200|5|90410|-1||test "agent"|`},
		{"caddy-filter", `json (caddy)|5|2026-11-28T09:31:03.1480575Z|127.0.0.1||GET|/items/22|HTTP/1.1|127.0.0.1:18303|200|5|89490|-1|||`},
		{"caddy-string", `json (caddy)|5|2026-11-28T09:31:02.856Z|127.0.0.1||GET|/items/22|HTTP/1.1|127.0.0.1:18302|200|5|89398|-1||test "agent"|`},
		{"chi", `chi|5|2026-11-28T09:51:20Z|192.0.2.1||GET|http://shop.example/items/22|HTTP/1.1||200|5|55971|-1|||`},
		{"django", `django|5|2026-11-28T09:30:26Z|||GET|/items/22|HTTP/1.1||200|5|-1|-1|||`},
		{"echo", `json (echo)|5|2026-11-28T09:51:20.175119033Z|192.0.2.1||GET|/items/22||shop.example|200|5|82519|-1||test "agent"|`},
		{"fiber", `fiber|3|0001-01-01T00:00:00Z|0.0.0.0||GET|/items/22|||200|-1|45204|-1|||`},
		{"gin", `gin|5|2026-11-28T09:51:20Z|192.0.2.1||GET|/items/22|||200|-1|58380|-1|||`},
		{"gin-zap", `json (zap)|5|2026-11-28T09:51:20.3100202Z|192.0.2.1||GET|/items/22|||200|-1|45846|-1||test "agent"|`},
		{"gunicorn-D", `combined and more|5|2026-11-28T09:30:18Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|5|47693|-1||test "agent"|`},
		{"gunicorn-L", `combined_time|5|2026-11-28T09:30:21Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|5|48721|-1||test "agent"|`},
		{"gunicorn-default", `combined|5|2026-11-28T09:30:16Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|5|-1|-1||test "agent"|`},
		{"haproxy-clf", `haproxy-clf|5|2026-11-28T09:30:59Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|50000|50000|||`},
		{"haproxy-host", `haproxy|5|2026-11-28T09:30:59.815Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|46000|46000|||`},
		{"haproxy-http", `haproxy|6|2026-11-28T09:30:58.8Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|46000|46000|||`},
		{"haproxy-https", `haproxy|5|2026-11-28T09:31:00.008Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|46000|46000|||`},
		{"haproxy-json", `json (haproxy)|5|2026-11-28T09:30:59.438Z|127.0.0.1||GET|/items/22|||200|119|46000|46000|||`},
		{"haproxy-named", `haproxy|5|2026-11-28T09:30:59.628Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|46000|46000|||`},
		{"haproxy-syslog", `haproxy|8|2026-11-28T09:30:58.8Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|119|46000|46000|||`},
		{"haproxy-tcp", `haproxy|5|2026-11-28T09:30:59.215Z|127.0.0.1||||||0|116|50000|-1|||`},
		{"haproxy-v6", `haproxy|6|2026-11-28T09:31:00.225Z|::1||GET|/items/22|HTTP/1.1||200|119|48000|48000|||`},
		{"lighttpd", `lighttpd|4|2026-11-28T09:51:21Z|127.0.0.1||GET|/slow.php|HTTP/1.1|127.0.0.1:18411|200|5|-1|-1||test "agent"|`},
		{"logrus", `json (logrus)|5|2026-11-28T09:51:20Z|||GET|/items/22|||200|5|57272|-1|||`},
		{"morgan-combined", `combined|5|2026-11-28T09:30:14Z|::ffff:127.0.0.1||GET|/items/22|HTTP/1.1||200|5|-1|-1||test "agent"|`},
		{"morgan-custom", `morgan|5|0001-01-01T00:00:00Z|::ffff:127.0.0.1||GET|/items/22|||200|5|63634|-1|||`},
		{"morgan-dev", `morgan|5|0001-01-01T00:00:00Z|||GET|/items/22|||200|5|63634|-1|||`},
		{"morgan-docs", `morgan|5|0001-01-01T00:00:00Z|||GET|/items/22|||200|5|63634|-1|||`},
		{"morgan-iso", `morgan|5|2026-11-28T09:30:14.339Z|::ffff:127.0.0.1||GET|/items/22|||200|-1|63634|-1|||`},
		{"morgan-short", `morgan|5|0001-01-01T00:00:00Z|::ffff:127.0.0.1||GET|/items/22|||200|5|63634|-1|||`},
		{"morgan-tiny", `morgan|5|0001-01-01T00:00:00Z|||GET|/items/22|||200|5|63634|-1|||`},
		{"php-fpm-default", `php-fpm|3|2026-11-28T09:51:22Z|127.0.0.1||GET|/slow.php|||200|-1|-1|-1|||`},
		{"php-fpm-micro", `php-fpm|3|2026-11-28T09:51:22Z|127.0.0.1||GET|/slow.php|||200|-1|48347|-1|||`},
		{"php-fpm-milli", `php-fpm (www.conf)|3|2026-11-28T09:51:22Z|127.0.0.1||GET|/slow.php|||200|-1|49530|-1|||`},
		{"pino-http", `json (pino-http)|5|2026-11-28T09:30:14.339Z|::ffff:127.0.0.1||GET|/items/22||127.0.0.1:18099|200|5|65000|-1||test "agent"|`},
		{"uvicorn", `uvicorn|5|0001-01-01T00:00:00Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|-1|-1|-1|||`},
		{"werkzeug", `werkzeug|5|2026-11-28T09:30:28Z|127.0.0.1||GET|/items/22|HTTP/1.1||200|-1|-1|-1|||`},
		{"zerolog", `json (zerolog)|5|2026-11-28T09:51:20Z|192.0.2.1||GET|/items/22|||200|5|45718|-1||test "agent"|`},
	} {
		log, err := os.ReadFile(filepath.Join("testdata", "programs", c.file+".log"))
		if err != nil {
			t.Fatal(err)
		}
		if got := second(t, log); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.file, got, c.want)
		}
	}
}
