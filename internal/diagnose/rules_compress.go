package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// HasBrotli reports whether nginx has the module that compresses by brotli,
// loaded or compiled in.
func HasBrotli(snap *evidence.Snapshot, conf *nginx.Config, service string) bool {
	for _, d := range conf.Root.Find("load_module") {
		if len(d.Args) == 1 && strings.Contains(d.Args[0], "http_brotli_filter") {
			return true
		}
	}
	return slices.ContainsFunc(snap.Nginx[service].Modules, func(m string) bool {
		return strings.HasPrefix(m, "--add-module") && strings.Contains(m, "brotli")
	})
}

// GzipTypes are the media types that gzip compresses at server beside text/html,
// which it always does; "*" stands for all.
func GzipTypes(server *nginx.Directive) []string {
	if d := server.Effective("gzip_types"); d != nil {
		return d.Args
	}
	return nil
}

// judgeBrotli: text goes out by gzip, although nginx has brotli and clients that
// take it ask.
func judgeBrotli(m *model) ([]Finding, string) {
	why := ""
	out, not := m.eachFront(func(svc *stack.Service, conf *nginx.Config, server *nginx.Directive) []Finding {
		if !OnOff(server, "gzip", false) || OnOff(server, "brotli", false) || !HasBrotli(m.in.Snapshot, conf, svc.Name) {
			return nil
		}
		paths, bytes, count := m.gzipped(server)
		if len(paths) == 0 {
			return nil
		}
		if !m.asked.TakesBrotli {
			why = svc.Name + ": no request of the scenario takes brotli (headers: {Accept-Encoding: \"gzip, br\"}), so that no run could tell whether it pays"
			return nil
		}
		slices.Sort(paths)
		return []Finding{about(svc.Name, svc.Name+" sends text by gzip to clients that take brotli",
			fmt.Sprintf("%s for %s, %s of text in %.0f s. Brotli leaves up to a tenth less of it for about the CPU of gzip at the same level, which pays where clients wait for bytes, or where gzip's level is high.", ui.Plural(int(count), "request", "requests"), strings.Join(paths[:min(len(paths), 5)], ", "), size(bytes), m.asked.Window.Seconds()), paths...).
			asks(Setting{Service: svc.Name, Name: "brotli", Now: "off", To: "on"}).bounded(m.serviceBound(svc.Name))}
	})
	return out, cmp.Or(not, why)
}

// gzipped are the files and pages that gzip compresses for who asks so, with
// their bytes before that and the number of requests. Files that lie there
// compressed are sent so whatever brotli says.
func (m *model) gzipped(server *nginx.Directive) (paths []string, bytes, count int64) {
	types := append([]string{"text/html"}, GzipTypes(server)...)
	add := func(path, contentType string, status int, headers []string, size, n int64) {
		kind, _, _ := strings.Cut(contentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
		packed := slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Content-Encoding: ") })
		if status != 200 || packed || size < textBytes || !IsText(kind) || !slices.Contains(types, kind) && !slices.Contains(types, "*") {
			return
		}
		paths = append(paths, path)
		bytes += size * n
		count += n
	}
	static := OnOff(server, "gzip_static", false)
	for _, a := range m.asked.Assets {
		if !static || !m.in.Snapshot.StaticFiles[a.Path].Gzip {
			add(a.Path, a.ContentType, a.Status, a.Headers, a.Size, a.Count)
		}
	}
	for _, p := range m.asked.Pages {
		add(p.URL, p.ContentType, p.Status, p.Headers, p.Size, p.Count+p.Known)
	}
	return paths, bytes, count
}

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
