package web

import (
	"fmt"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
)

// AddUpstream writes an upstream block with the given lines before a server
// block and returns its name, which begins with prefix.
func AddUpstream(conf *nginx.Config, server *nginx.Directive, prefix string, lines ...string) (string, error) {
	if n := timesShown(conf, server); n > 1 {
		return "", fmt.Errorf("%s:%d is included in %d places; an upstream there would be named twice", server.File.Path, server.Line, n)
	}
	name := freeName(conf, "upstream", prefix)
	return name, server.InsertBefore("upstream " + name + " {\n    " + strings.Join(lines, "\n    ") + "\n}")
}

// PassTo passes requests to an upstream block instead of the address that
// proxy_pass names. Requests and answers stay as they are: the Host header and
// the proxy_redirect that follow from that address are written out.
func PassTo(u diagnose.ProxyUpstream, name string) error {
	if err := canKeep(u); err != nil {
		return err
	}
	if err := passTo(u, name); err != nil {
		return err
	}
	if err := ownHeaders(u.Location); err != nil {
		return err
	}
	return sameHost(u)
}
