package web

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "nginx.static", Title: "Static files straight from nginx", Measures: []string{"L05"}, Rules: []string{"web.static-through-app"},
		Reason: "A file that never changes needs no application process.",
		Source: "nginx documentation, \"Serving static content\"",
		Reach:  0.8, Plan: planStatic, Test: "TestRemedyStatic",
	},
	{
		ID: "nginx.php-socket", Title: "Unix socket between nginx and PHP-FPM", Measures: []string{"L03"}, Rules: []string{"web.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT.",
		Source: "unix(7), tcp(7)",
		Reach:  0.05, Small: true, Plan: planWebSocket, Test: "TestRemedyWebSocket",
	},
	{
		ID: "nginx.workers", Title: "Number of nginx workers", Measures: []string{"L08"}, Rules: []string{"web.workers"},
		Reason: "One per CPU by rule; one alone where others need the CPUs more.",
		Source: "nginx documentation, \"worker_processes\"",
		Reach:  0.2, Plan: planNginxWorkers, Test: "TestRemedyNginxWorkers",
	},
	{
		ID: "nginx.connections", Title: "Connections per worker", Measures: []string{"L12"}, Rules: []string{"web.connections"},
		Reason: "A worker without a free connection refuses or delays clients.",
		Source: "nginx documentation, \"worker_connections\", \"worker_rlimit_nofile\"",
		Reach:  0.5, Plan: planConnections, Test: "TestRemedyConnections",
	},
	{
		ID: "nginx.delivery", Title: "sendfile, tcp_nopush, keep-alive to clients", Measures: []string{"C19"}, Rules: []string{"web.delivery"},
		Reason: "Fewer copies, packets and connections for the same answer.",
		Source: "nginx documentation, \"sendfile\", \"tcp_nopush\", \"keepalive_timeout\"",
		Reach:  0.03, Small: true, Plan: planDelivery, Test: "TestRemedyDelivery",
	},
	{
		ID: "nginx.keep-php", Title: "Kept connections to PHP-FPM", Measures: []string{"C13"}, Rules: []string{"web.delivery"},
		Reason: "A kept connection saves set-up and tear-down for each request.",
		Source: "nginx documentation, \"keepalive\" (upstream), \"fastcgi_keep_conn\"",
		Reach:  0.1, Plan: planKeepUpstream, Test: "TestRemedyKeepUpstream",
	},
	{
		ID: "nginx.file-cache", Title: "open_file_cache", Measures: []string{"C19", "L10"}, Rules: []string{"web.file-cache"},
		Reason: "Descriptors and sizes of hot files are remembered instead of asked for each time; a replaced file is served old for up to open_file_cache_valid.",
		Source: "nginx documentation, \"open_file_cache\"",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.3, Plan: planFileCache, Test: "TestRemedyFileCache",
	},
	{
		ID: "nginx.access-log", Title: "Buffered access log", Measures: []string{"I09", "W14"}, Rules: []string{"web.access-log"},
		Reason: "One write for many lines instead of one for each; lines arrive later and the last are lost in a crash.",
		Source: "nginx documentation, \"access_log\": buffer, flush",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.1, Plan: planAccessLog, Test: "TestRemedyAccessLog",
	},
}
