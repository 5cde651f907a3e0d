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
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.8, Plan: PlanNginx,
		Command: "`fastcgi_cache_path` and two `map`s beside the server, `fastcgi_cache`, `_key`, `_valid`, `_lock`, `_no_cache` in the location, `nginx -t && nginx -s reload`; see [caches of whole pages](../../explanation/page-cache.md)",
		Undo:    "the files' bytes back, a reload, and the cache's folder removed with its content",
		Test:    "cases/remedies/pagecache/nginx_test.go:TestNginxPageCache",
	},
	{
		ID: "varnish.pages", Title: "Pages for strangers kept by Varnish", Measures: []string{"W10"}, Rules: []string{"varnish.pages"},
		Reason: "Varnish passes every request with a cookie on and keeps nothing that the application gives no time to; for pages that are proved the same for all strangers it need not.",
		Source: "varnish-cache.org, users guide: \"built-in VCL\", \"Important built in VCL variables\" (ttl, grace, keep); RFC 9111, 3",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.8, Plan: planVarnish,
		Command: "`if (req.url ~ …) { return (hash); }` at the beginning of vcl_recv, `set beresp.ttl = 2s; set beresp.grace = 0s;` in vcl_backend_response, `varnishreload`; see [caches of whole pages](../../explanation/page-cache.md)",
		Undo:    "the VCL's bytes back and a reload",
		Test:    "cases/remedies/pagecache/varnish_test.go:TestVarnish",
	},
	{
		ID: "varnish.storage", Title: "Varnish's objects in memory", Measures: []string{"W11"}, Rules: []string{"varnish.storage", "varnish.file-storage"},
		Reason: "What does not fit is thrown out and made again; what lies in a file goes through the page cache and is written to disk.",
		Source: "varnishd(1), \"Storage backend\"; varnish-cache.org, users guide, \"Sizing your cache\"",
		Reach:  0.3, Plan: planStorage,
		Command: "`-s malloc,512m` in ExecStart (`systemctl edit varnish`), `systemctl restart varnish`",
		Undo:    "the unit's or script's bytes back and a restart",
		Test:    "cases/remedies/pagecache/varnish_test.go:TestVarnish",
	},
	{
		ID: "varnish.threads", Title: "Varnish's threads", Measures: []string{"C18"}, Rules: []string{"varnish.threads"},
		Reason: "A request without a thread waits in a queue, and one that finds the queue full is dropped. Where pools are at their limit and requests wait it is doubled (thread_pool_max); where the queue ran over below it, more threads are kept (thread_pool_min). Threads beyond need only take memory and turns, so it is not raised by more while the sign lasts, and never beyond half of the memory that is spare: a thread at work takes its stack and two workspaces, 272 KiB by default. The restart empties the cache.",
		Source: "varnishd(1), \"thread_pool_max\", \"thread_pool_min\", \"thread_pool_stack\", \"thread_queue_limit\"; varnish-counters(7), MAIN.threads_limited, MAIN.sess_queued, MAIN.sess_dropped",
		Reach:  0.3, Plan: planThreads,
		Command: "`-p thread_pool_max=400` in ExecStart (`systemctl edit varnish`), `systemctl restart varnish`",
		Undo:    "the unit's or script's bytes back and a restart",
		Test:    "cases/remedies/pagecache/varnish_test.go:TestVarnishThreads",
	},
}
