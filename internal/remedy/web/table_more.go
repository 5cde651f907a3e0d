package web

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

var nginxMore = []planning.Remedy{
	{
		ID: "nginx.gzip", Title: "Compressed text", Measures: []string{"C27"}, Rules: []string{"web.gzip"},
		Reason: "Text shrinks to a third or less. Only clients that ask for it get it; caches keep both forms apart (Vary). Files that lie there compressed cost no CPU. Over TLS the length of an answer can tell of secrets in it (BREACH), which is named as a trade.",
		Source: "nginx documentation, ngx_http_gzip_module, ngx_http_gzip_static_module",
		Reach:  0.05, Plan: planGzip, Test: "TestNginxRemedies",
		Command: "gzip on; gzip_vary on; gzip_proxied any; gzip_comp_level 4; gzip_min_length 1024; gzip_types text/css application/javascript …; gzip_static on;", Undo: undoConfig,
		Effect: "−5.5 % (−7.9 to −3.0) on cases/login, tuned by hand (`make bench-tuners`), where CPU binds and clients are near; put back",
	},
	{
		ID: "nginx.brotli", Title: "Brotli beside gzip", Measures: []string{"C27"}, Rules: []string{"web.brotli"},
		Reason: "Where nginx has brotli's module, what gzip compresses is compressed by brotli for clients that take it (browsers do over HTTPS only); others get gzip as before. At gzip's level, at most 4, it leaves 4 to 8 % fewer bytes for 0.7 to 1.2 times gzip's CPU (levels 1 and 4, jquery.js of libjs-jquery); instead of gzip 6 or more it leaves about the same for less than half of that CPU. Where neither bytes nor compressing binds it brings nothing, and is put back. It is not tried where no request of the scenario takes brotli. What gzip leaves plain stays so, in locations without gzip, too: over TLS the length of an answer tells no more than before (BREACH).",
		Source: "github.com/google/ngx_brotli, README; RFC 7932; nginx documentation, \"gzip_vary\"",
		Reach:  0.05, Plan: planBrotli, Test: "cases/remedies/web/brotli_test.go:TestNginxBrotliBesideGzip",
		Command: "brotli on; brotli_comp_level 4; brotli_min_length 1024; brotli_types text/css application/javascript …; gzip_vary on;", Undo: undoConfig,
	},
	{
		ID: "nginx.gzip-static", Title: "Files sent as they lie there compressed", Measures: []string{"C27"}, Rules: []string{"web.gzip-static"},
		Reason: "A file that is compressed for each client takes CPU each time; its .gz, which holds the same bytes, takes none. Not where a file of the run has something else beside it as .gz, which would be sent instead. Whoever changes a file must make its .gz anew from then on.",
		Source: "nginx documentation, ngx_http_gzip_static_module",
		Reach:  0.3, Small: true, Plan: planGzipStatic, Test: "TestNginxGzipStatic",
		Command: "gzip_static on;", Undo: undoConfig,
	},
	{
		ID: "nginx.tokens", Title: "No version in answers", Measures: []string{"L09"}, Rules: []string{"web.server-tokens"},
		Reason: "Some bytes less in each answer.",
		Source: "nginx documentation, \"server_tokens\"",
		Reach:  0.03, Small: true, Plan: planTokens, Test: "TestNginxRemedies",
		Command: "server_tokens off;", Undo: undoConfig,
		Effect: "with both sockets and nginx.delivery +10.5 % (+5.8 to +15.4) on cases/login, tuned (`make bench-tuners`)",
	},
	{
		ID: "nginx.health-check", Title: "Health checks answered by nginx", Measures: []string{"C17"}, Rules: []string{"web.health-check"},
		Reason: "A check that asks for a constant needs no application process, as often as balancers ask. It then tells whether nginx lives, not whether the application does, and is not logged: a trade of observability.",
		Source: "nginx documentation, \"return\", \"access_log\"",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.8, Plan: planHealthCheck, Test: "TestNginxRemedies",
		Command: "location = /healthz { access_log off; types { } default_type text/plain; return 200 \"ok\"; }", Undo: undoConfig,
	},
	{
		ID: "nginx.keep-proxy", Title: "Kept connections to HTTP applications", Measures: []string{"C13"}, Rules: []string{"web.proxy-keepalive"},
		Reason: "A kept connection saves set-up and tear-down for each request, and a port for a minute.",
		Source: "nginx documentation, \"keepalive\" (upstream)",
		Reach:  0.3, Plan: planKeepProxy, Test: "TestNginxRemedies",
		Command: "upstream app { server 127.0.0.1:8000; keepalive 32; } … proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection \"\";", Undo: undoConfig,
	},
	{
		ID: "nginx.buffers", Title: "Answers of the application held in memory", Measures: []string{"C19"}, Rules: []string{"web.buffers"},
		Reason: "An answer that does not fit into its connection's buffers goes through a temporary file.",
		Source: "nginx documentation, \"fastcgi_buffers\", \"proxy_buffers\", \"proxy_max_temp_file_size\"",
		Reach:  0.2, Plan: planBuffers, Test: "TestNginxBuffers",
		Command: "fastcgi_buffer_size 16k; fastcgi_buffers 32 16k; fastcgi_busy_buffers_size 32k;", Undo: undoConfig,
	},
	{
		ID: "nginx.body-buffers", Title: "Forms held in memory", Measures: []string{"C19"}, Rules: []string{"web.body-buffers"},
		Reason: "A request body that does not fit into client_body_buffer_size is written to a file, which is read again to be sent to the application.",
		Source: "nginx documentation, \"client_body_buffer_size\"",
		Reach:  0.2, Small: true, Plan: planBodies, Test: "TestNginxBodies",
		Command: "client_body_buffer_size 512k;", Undo: undoConfig,
	},
	{
		ID: "nginx.accept", Title: "Connections taken as they come", Measures: []string{"C19", "L08"}, Rules: []string{"web.accept"},
		Reason: "With accept_mutex on, workers take turns and a connection may wait for accept_mutex_delay (0.5 s) though a worker is idle; with multi_accept a worker empties a long queue at once; select and poll look at every connection for each event.",
		Source: "nginx documentation, \"accept_mutex\", \"multi_accept\", \"use\"; CHANGES of 1.11.3",
		Reach:  0.1, Small: true, Plan: planAccept, Test: "TestNginxRemedies",
		Command: "events { accept_mutex off; multi_accept on; use epoll; }", Undo: undoConfig,
	},
	{
		ID: "nginx.sendfile-chunk", Title: "Large files in pieces", Measures: []string{"C19"}, Rules: []string{"web.sendfile-chunk"},
		Reason: "Without a bound one fast connection may hold a whole worker.",
		Source: "nginx documentation, \"sendfile_max_chunk\"; CHANGES of 1.21.4",
		Reach:  0.1, Small: true, Plan: planSendfileChunk, Test: "TestNginxRemedies",
		Command: "sendfile_max_chunk 512k;", Undo: undoConfig,
	},
	{
		ID: "nginx.reset", Title: "Timed-out connections given up at once", Measures: []string{"C19"}, Rules: []string{"web.stuck"},
		Reason: "A closed socket with bytes that the client does not take stays in FIN-WAIT-1 for minutes, with its buffers.",
		Source: "nginx documentation, \"reset_timedout_connection\"",
		Reach:  0.1, Small: true, Plan: planReset, Test: "TestNginxStuckClients",
		Command: "reset_timedout_connection on;", Undo: undoConfig,
	},
	{
		ID: "nginx.file-limit", Title: "Open files per worker", Measures: []string{"L12"}, Rules: []string{"system.files"},
		Reason: "At the limit a worker refuses connections (\"Too many open files\").",
		Source: "nginx documentation, \"worker_rlimit_nofile\"; setrlimit(2)",
		Reach:  0.5, Plan: planFileLimit, Test: "TestNginxStuckClients",
		Command: "worker_rlimit_nofile 4096;", Undo: undoConfig,
	},
	{
		ID: "nginx.static-log", Title: "No log of files that were sent", Measures: []string{"I09", "W14"}, Rules: []string{"web.static-log"},
		Reason: "A line for each picture costs a formatting and a write and says little; it is missing from then on.",
		Source: "nginx documentation, \"access_log\"",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.1, Plan: planStaticLog, Test: "TestNginxRemedies",
		Command: "location /img/ { access_log off; }", Undo: undoConfig,
	},
}
