// Package pagecache plans a cache of whole answers in front of the application.
package pagecache

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "nginx.page-cache", Title: "Pages for strangers kept by nginx", Measures: []string{"L13", "W10"}, Rules: []string{"web.cacheable"},
		Reason: "A page that all visitors without a session get alike is made once in each span of time instead of once for each of them.",
		Source: "nginx documentation, \"fastcgi_cache\", \"proxy_cache\", \"map\"; RFC 9111, 3 (what may be kept) and 5.2 (Cache-Control)",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.8, Plan: planNginx,
		Command: "`fastcgi_cache_path` and two `map`s beside the server, `fastcgi_cache`, `_key`, `_valid`, `_lock`, `_no_cache` in the location, `nginx -t && nginx -s reload`; see [caches of whole pages](page-cache.md)",
		Undo:    "the files' bytes back, a reload, and the cache's folder removed with its content",
		Test:    "cases/remedies/pagecache/nginx_test.go:TestNginxPageCache",
	},
}
