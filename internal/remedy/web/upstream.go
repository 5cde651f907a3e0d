package web

import (
	"fmt"
	"strings"

	"kasoku/internal/confedit/nginx"
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
