package record

import (
	"slices"
	"strings"

	"kasoku/internal/accesslog"
)

// isAbsolute: the target has a scheme and a host (RFC 9112, section 3.2.2), and
// the line does not say that it is the server's own.
func isAbsolute(e *accesslog.Entry) bool {
	_, rest, found := strings.Cut(string(e.Target[:min(len(e.Target), maxTarget)]), "://")
	if !found || e.Target[0] == '/' {
		return false
	}
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		rest = rest[:at]
	}
	return len(e.Host) == 0 || !strings.EqualFold(rest, string(e.Host))
}

// leaveForeign leaves out absolute targets where most are not: they are asked
// by scanners that look for an open proxy, and mean other hosts. Some proxies
// write every target so; then they are taken.
func (l *logReader) leaveForeign() {
	foreign := 0
	for i := range l.hits {
		if l.hits[i].absolute {
			foreign++
		}
	}
	if foreign == 0 || 2*foreign >= len(l.hits) {
		return
	}
	l.left["addresses of other hosts, as scanners send them that look for a proxy"] += int64(foreign)
	l.hits = slices.DeleteFunc(l.hits, func(h hit) bool { return h.absolute })
}
