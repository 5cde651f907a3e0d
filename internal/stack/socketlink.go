package stack

import (
	"context"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// maxLinks is how many links one name may lead through (ELOOP; path_resolution(7)).
const maxLinks = 40

// realEndpoint is the endpoint under the name that its server bound: of a unix socket whose
// name is a link, or lies in a folder that is one, the file at the end. Debian has both
// (/run/php/php-fpm.sock, /var/run). Another endpoint, and one whose file is not there, stays as it is.
func realEndpoint(ctx context.Context, h host.Host, endpoint string) string {
	name, ok := strings.CutPrefix(endpoint, "unix:")
	if !ok || !path.IsAbs(name) {
		return endpoint
	}
	done, rest, links := "/", strings.Split(path.Clean(name), "/")[1:], 0
	for len(rest) > 0 {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		info, err := h.Stat(ctx, next)
		switch {
		case err != nil:
			return endpoint
		case info.Target == "":
			done = next
			continue
		}
		if links++; links > maxLinks {
			return endpoint
		}
		target := info.Target
		if !path.IsAbs(target) {
			target = path.Join(done, target)
		}
		done, rest = "/", append(strings.Split(path.Clean(target), "/")[1:], rest...)
	}
	return "unix:" + done
}

// linkedSockets adds to what listens on a unix socket the other names by which web servers
// pass requests to it.
func (d *discovery) linkedSockets(ctx context.Context) {
	for _, web := range d.found {
		for _, b := range web.backends {
			known := func(in *instance) bool { return slices.Contains(in.svc.Listen, b) }
			to := realEndpoint(ctx, d.h, b)
			if to == b || slices.ContainsFunc(d.found, known) {
				continue
			}
			for _, in := range d.found {
				if slices.Contains(in.svc.Listen, to) {
					in.svc.Listen = append(in.svc.Listen, b)
				}
			}
		}
	}
}
