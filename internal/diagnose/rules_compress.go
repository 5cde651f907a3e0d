package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// GzipStatic is how nginx -V names the module that sends what lies there
// compressed; it is not built in by default (ngx_http_gzip_static_module).
const GzipStatic = "--with-http_gzip_static_module"

// Precompressed reports whether files that were asked for have their compressed
// form beside them, and none has something else there: gzip_static is for all
// files of a server, and would send what is there.
func Precompressed(snap *evidence.Snapshot) bool {
	any := false
	for _, f := range snap.StaticFiles {
		if f.GzipOther {
			return false
		}
		any = any || f.Gzip
	}
	return any
}

// judgeGzipStatic: files are compressed anew for each client although the same
// bytes lie beside them, compressed.
func judgeGzipStatic(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if !OnOff(server, "gzip", false) || !slices.Contains(m.in.Snapshot.Nginx[svc.Name].Modules, GzipStatic) || !Precompressed(m.in.Snapshot) {
			return nil
		}
		if d := server.Effective("gzip_static"); d != nil && len(d.Args) == 1 && d.Args[0] != "off" {
			return nil // on, or always
		}
		var paths []string
		count := int64(0)
		for _, a := range m.asked.Assets {
			kind, _, _ := strings.Cut(a.ContentType, ";")
			if IsText(strings.TrimSpace(kind)) && a.Size >= textBytes && m.in.Snapshot.StaticFiles[a.Path].Gzip && PassedBy(server, a.Path) == nil {
				paths = append(paths, a.Path)
				count += a.Count
			}
		}
		if len(paths) == 0 {
			return nil
		}
		slices.Sort(paths)
		return []Finding{about(svc.Name, svc.Name+" compresses files that lie there compressed",
			fmt.Sprintf("%s for %s: for clients that take it each is compressed while it is sent, and beside each lies the same as .gz. gzip_static sends that, for no CPU.", ui.Plural(int(count), "request", "requests"), strings.Join(paths[:min(len(paths), 5)], ", ")), paths...).
			asks(Setting{Service: svc.Name, Name: "gzip_static", Now: "off", To: "on"}).bounded(m.serviceBound(svc.Name))}
	})
}
