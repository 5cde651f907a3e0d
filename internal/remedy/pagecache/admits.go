package pagecache

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
)

// others are directives that let something else than nginx say who asks. By what
// it goes is not known here, and what it says may be told to the application
// (auth_request_set). A subrequest has the $request_uri of the page, and so the
// page's key.
//
// allow, deny, auth_basic and satisfy need no care: nginx looks at them in its
// access phase, also for an answer from the cache (development guide, "HTTP
// phases"), and who sends Authorization never meets the cache.
var others = []string{"auth_request", "auth_jwt", "access_by_lua", "access_by_lua_block", "access_by_lua_file", "rewrite_by_lua", "rewrite_by_lua_block", "rewrite_by_lua_file"}

// admitsByOthers refuses pages for which one of these is in force: where they
// come in, or where they are passed on.
func admitsByOthers(server *nginx.Directive, urls []string) error {
	at := locations(server, urls)
	for _, u := range urls {
		uri, _, _ := strings.Cut(u, "?")
		if loc := nginx.MatchLocation(server, uri); loc != nil {
			at = append(at, loc)
		}
	}
	for _, loc := range at {
		for _, name := range others {
			if d := loc.Effective(name); d != nil && !slices.Equal(d.Args, []string{"off"}) {
				return fmt.Errorf("%s:%d: %s lets something else say who may have these pages; by what is not known", d.File.Path, d.Line, name)
			}
		}
	}
	return nil
}
