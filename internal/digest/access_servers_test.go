package digest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/accesslog"
)

// The logs in testdata/access/servers are of nginx 1.22 and Apache 2.4 (Debian 12) with
// the formats beside them: six requests of a page that takes 30 ms, six of one that
// is fast, a file and one that is missing. With the format of the
// configuration all is read; without it, the same or an error, or no times.
func TestAccessServers(t *testing.T) {
	dir := filepath.Join("testdata", "access", "servers")
	for _, server := range []struct{ name, statement string }{{"nginx", "log_format "}, {"apache", "LogFormat "}} {
		conf, err := os.ReadFile(filepath.Join(dir, server.name+".conf"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(conf)) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, server.statement) {
				continue
			}
			name := strings.Fields(line)[1]
			if server.name == "apache" {
				name = line[strings.LastIndexByte(line, ' ')+1:]
			}
			in := fileInput(filepath.Join(dir, server.name+"-"+name+".log"))
			f, err := accesslog.ParseFormat(line)
			if err != nil {
				t.Fatal(err)
			}
			given, err := AccessLogs(t.Context(), []Input{in}, AccessOptions{Format: f})
			if err != nil {
				t.Fatal(err)
			}
			if got := pagesOf(given); got != "/api/fast/:id 6×2xx, /api/slow/:id 6×2xx ≥30ms, /none 1×4xx" {
				t.Errorf("%s: %s", line, got)
			}
			found, err := AccessLogs(t.Context(), []Input{in}, AccessOptions{})
			var doubt *accesslog.UnitDoubt
			switch {
			case errors.As(err, &doubt):
			case err != nil:
				t.Errorf("%s, recognised: %v", in.Name, err)
			case found.Timed && pagesOf(found) != pagesOf(given):
				t.Errorf("%s, recognised as %s: %s", in.Name, found.Format, pagesOf(found))
			case found.Bad > 0 || len(found.Notes) == 0 && found.Timed && name != "named" && name != "milliseconds":
				t.Errorf("%s, recognised as %s: %d bad, notes %q", in.Name, found.Format, found.Bad, found.Notes)
			}
		}
	}
}

// pagesOf tells of each page its answers, and which times it has at least.
func pagesOf(a *Access) string {
	if err := a.Sort("route"); err != nil {
		panic(err)
	}
	var out []string
	for _, r := range a.Routes {
		switch {
		case r.Route == "/none":
			out = append(out, fmt.Sprintf("%s %d×4xx", r.Route, r.Status[4]))
		case strings.HasPrefix(r.Route, "/api"):
			least := ""
			switch mean := r.Time.Mean.Milliseconds(); {
			case r.Time.Max.Seconds() > 1:
				least = " too long"
			case strings.Contains(r.Route, "slow") && mean >= 30:
				least = " ≥30ms"
			}
			out = append(out, fmt.Sprintf("%s %d×2xx%s", r.Route, r.Status[2], least))
		}
	}
	return strings.Join(out, ", ")
}
