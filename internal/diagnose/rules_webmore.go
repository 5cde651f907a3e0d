package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// textBytes: below a kilobyte a compressed answer saves no packet.
const textBytes = 1024

func judgeGzip(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if OnOff(server, "gzip_static", false) {
			return nil
		}
		on, types := OnOff(server, "gzip", false), GzipTypes(server)
		var paths []string
		var bytes, count int64
		for _, a := range m.asked.Assets {
			kind, _, _ := strings.Cut(a.ContentType, ";")
			packed := slices.ContainsFunc(a.Headers, func(h string) bool { return strings.HasPrefix(h, "Content-Encoding: ") })
			kind = strings.ToLower(strings.TrimSpace(kind))
			if on && (kind == "text/html" || slices.Contains(types, kind) || slices.Contains(types, "*")) {
				continue // to who asks for it
			}
			if IsText(kind) && !packed && a.Size >= textBytes && a.Status == 200 {
				paths = append(paths, a.Path)
				bytes += a.Size * a.Count
				count += a.Count
			}
		}
		if len(paths) == 0 {
			return nil
		}
		slices.Sort(paths)
		ask, title := Setting{Service: svc.Name, Name: "gzip", Now: "off", To: "on"}, svc.Name+" sends text uncompressed"
		if on {
			ask = Setting{Service: svc.Name, Name: "gzip_types", Now: strings.Join(types, " "), To: "text"}
			title += ", although gzip is on: gzip_types does not name it"
		}
		return []Finding{about(svc.Name, title,
			fmt.Sprintf("%d requests for %s moved %s in %.0f s; text shrinks to a quarter or so. It takes CPU unless it is compressed beforehand (gzip_static).", count, strings.Join(paths[:min(len(paths), 5)], ", "), size(bytes), m.asked.Window.Seconds()), paths...).
			asks(ask).bounded(m.boundKernelIn(1, svc.Name))}
	})
}

// IsText reports whether a media type is text, which shrinks when compressed.
func IsText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "javascript") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "svg+xml") || strings.HasSuffix(kind, "/xml")
}

func judgeTokens(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if !OnOff(server, "server_tokens", true) {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" tells its version in each answer",
			"server_tokens is on: some bytes more in each answer, and a help to attackers.", svc.Config).
			asks(Setting{Service: svc.Name, Name: "server_tokens", Now: "on", To: "off"}).bounded(m.boundKernelOf(0.05, svc.Name))}
	})
}

// oldVersion: what is older gets no security fixes any more, and newer ones
// are faster. Sources: php.net/supported-versions, MariaDB's maintenance
// policy, endoflife pages of nginx and MySQL, as of 2026.
var oldVersions = map[stack.Kind]struct{ below, gain string }{
	stack.PHPFPM:    {"8.1", "PHP 8 runs the same scripts with a tenth to a third less CPU than 7.x (php.net, release announcements)"},
	stack.MariaDB:   {"10.6", "its series gets no fixes any more"},
	stack.MySQL:     {"8.0", "its series gets no fixes any more"},
	stack.Nginx:     {"1.18", "its series gets no fixes any more"},
	stack.Memcached: {"1.5", "worker threads lock less since 1.5"},
	stack.Redis:     {"6.0", "I/O threads came with 6.0"},
	stack.Varnish:   {"6.0", "its series gets no fixes any more"},
}

func judgeOldVersions(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.Services {
		old, known := oldVersions[svc.Kind]
		version := m.versionOf(&svc)
		if !known || version == "" || VersionAtLeast(version, old.below) {
			continue
		}
		out = append(out, about(svc.Name, fmt.Sprintf("%s runs version %s", svc.Name, version),
			fmt.Sprintf("%s %s is older than %s: %s.", svc.Kind, version, old.below, old.gain), "version of "+svc.Name).bounded(m.boundBy(svc.Name, m.perReq[svc.Name])))
	}
	return out, ""
}

// versionOf is what the running program tells, else what discovery saw.
func (m *model) versionOf(svc *stack.Service) string {
	switch svc.Kind {
	case stack.PHPFPM:
		if v := m.in.Snapshot.PHP[svc.Name]["version"]; v != "" {
			return v
		}
	case stack.MariaDB, stack.MySQL:
		if db := m.in.Snapshot.Databases[svc.Name]; db != nil && db.Version != "" {
			return db.Version
		}
	case stack.Nginx:
		if v := m.in.Snapshot.Nginx[svc.Name].Version; v != "" {
			return v
		}
	default: // tells no version while it runs
	}
	values := m.in.Evidence.Counters[svc.Name].Value
	for _, key := range []string{"version", "redis_version"} {
		if v, ok := fold(values, key); ok {
			return v
		}
	}
	return svc.Version
}

// judgeGoBuild: a Go program that binds can be built by its own profile (G12).
func judgeGoBuild(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		if build := m.in.Snapshot.Apps[svc.Name].Go; build != nil && build.Profiled() {
			continue // it was already
		}
		if svc.PProf == "" || m.at(svc.Name).busy < saturatedCPU {
			continue
		}
		if who, _ := m.heaviestOn(m.at(svc.Name)); who != svc.Name {
			continue
		}
		out = append(out, about(svc.Name, svc.Name+" binds and can be built by its own profile",
			"A CPU profile of this load as default.pgo beside main lets the compiler inline what is hot (go.dev/doc/pgo: 2–14 %).", "profile of "+svc.Name).
			bounded(m.boundBy(svc.Name, 0.14*m.perReq[svc.Name])))
	}
	return out, ""
}
