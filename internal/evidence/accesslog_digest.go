package evidence

import (
	"context"
	"io"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
)

// digestLog sums up by route what the window wrote to one log.
func digestLog(ctx context.Context, service, name string, size int64, open func() io.Reader, f *accesslog.Format, patterns []string, keep func(*accesslog.Entry) bool) (*digest.Access, error) {
	in := digest.Input{Name: name, Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(open()), nil }}
	return digest.AccessLogs(ctx, []digest.Input{in}, digest.AccessOptions{Format: f, Service: service, Routes: accesslog.RouteOptions{Patterns: patterns}, Keep: keep, Unasked: true})
}

// sharesOf makes the shares of one service's logs parts of their sum.
func sharesOf(routes []digest.Route) {
	var time, count float64
	for _, r := range routes {
		time, count = time+float64(r.Time.Total), count+float64(r.Count)
	}
	for i, r := range routes {
		switch {
		case time > 0:
			routes[i].Share = float64(r.Time.Total) / time
		case count > 0:
			routes[i].Share = float64(r.Count) / count
		}
	}
}
