package web

import (
	"slices"

	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = slices.Concat(nginxRemedies, nginxMore, apacheRemedies)

const undoConfig = "The files' bytes come back, then nginx is reloaded."

var nginxRemedies = []planning.Remedy{
	{
		ID: "nginx.static", Title: "Static files straight from nginx", Measures: []string{"L05"}, Rules: []string{"web.static-through-app"},
		Reason: "A file that never changes needs no application process.",
		Source: "nginx documentation, \"Serving static content\"",
		Reach:  0.8, Plan: planStatic, Test: "TestRemedyStatic",
		Command: "location ~ ^/img/[^/.][^/]*\\.(?:png)$ { root /srv/app/public; try_files $uri @app; }", Undo: undoConfig,
		Effect: "×1.42 on cases/login, that alone wrong (`make bench-bounds`)",
	},
	{
		ID: "nginx.php-socket", Title: "Unix socket between nginx and PHP-FPM", Measures: []string{"L03"}, Rules: []string{"web.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT. PHP-FPM listens on both while nginx is switched, so that no request fails.",
		Source: "unix(7), tcp(7); PHP manual, \"FPM configuration\"",
		Reach:  0.05, Small: true, Plan: planWebSocket, Test: "TestPHPSocketUnderLoad",
		Command: "a second pool with listen = /run/php/kasoku-php-www.sock, reload; fastcgi_pass unix:/run/php/kasoku-php-www.sock; reload; then one pool on the socket, reload",
		Undo:    "The same way back: both endpoints, nginx to the port, then the socket is closed.",
		Effect:  "with app.db-socket, nginx.delivery and nginx.tokens +10.5 % (+5.8 to +15.4) on cases/login, tuned (`make bench-tuners`)",
	},
	{
		ID: "nginx.app-socket", Title: "Unix socket between nginx and an application server", Measures: []string{"L03"}, Rules: []string{"web.loopback-http"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT. The server (Gunicorn, Puma or Unicorn) listens on both, so that whoever else asks at the port is answered. By a socket Gunicorn gives the application an empty REMOTE_ADDR, where 127.0.0.1 was before; that needs the regulation's permission to change the application's settings.",
		Source: "unix(7), tcp(7); tmpfiles.d(5); Gunicorn documentation, \"Deploying Gunicorn\"; Puma README, \"Binding TCP / Sockets\"; unicorn(1), --listen",
		Reach:  0.05, Small: true, Plan: planAppSocket, Test: "cases/remedies/apps/socket_test.go:TestGunicornSocket",
		Command: "`d /run/shop 0755 shop shop -` in /etc/tmpfiles.d/shop.conf, `systemd-tmpfiles --create`; `gunicorn --bind 127.0.0.1:8000 --bind unix:/run/shop/shop.sock`, `bind \"unix:///run/shop/shop.sock\"` in config/puma.rb, `listen \"unix:/run/shop/shop.sock\"` in unicorn.rb; restart; `upstream app { server unix:/run/shop/shop.sock; }` … `proxy_pass http://app;`; reload",
		Undo:    "nginx goes back to the port, by a reload; then the application server's files come back, and it is restarted; then the folder goes.",
	},
	{
		ID: "nginx.workers", Title: "Number of nginx workers", Measures: []string{"L08"}, Rules: []string{"web.workers"},
		Reason: "One per CPU by rule; one alone where others need the CPUs more.",
		Source: "nginx documentation, \"worker_processes\"",
		Reach:  0.2, Plan: planNginxWorkers, Test: "TestRemedyNginxWorkers",
		Command: "worker_processes 2;", Undo: undoConfig,
		Effect: "two instead of one: no effect shown on cases/login, tuned by hand (`make bench-tuners`), put back",
	},
	{
		ID: "nginx.connections", Title: "Connections per worker", Measures: []string{"L12"}, Rules: []string{"web.connections"},
		Reason: "A worker without a free connection refuses or delays clients. Where what is behind it is full already, more of them bring longer waits and not more answers, as with 200 users on the small stack of the test; the step is put back then.",
		Source: "nginx documentation, \"worker_connections\", \"worker_rlimit_nofile\"",
		Reach:  0.5, Plan: planConnections, Test: "TestRemedyConnections",
		Command: "worker_rlimit_nofile 8192; events { worker_connections 4096; }", Undo: undoConfig,
	},
	{
		ID: "nginx.delivery", Title: "sendfile, tcp_nopush, keep-alive to clients", Measures: []string{"C19"}, Rules: []string{"web.delivery"},
		Reason: "Fewer copies, packets and connections for the same answer.",
		Source: "nginx documentation, \"sendfile\", \"tcp_nopush\", \"keepalive_timeout\"",
		Reach:  0.03, Small: true, Plan: planDelivery, Test: "TestRemedyDelivery",
		Command: "sendfile on; tcp_nopush on; keepalive_timeout 65s; keepalive_requests 10000;", Undo: undoConfig,
		Effect: "with both sockets and nginx.tokens +10.5 % (+5.8 to +15.4) on cases/login, tuned (`make bench-tuners`)",
	},
	{
		ID: "nginx.keep-php", Title: "Kept connections to PHP-FPM", Measures: []string{"C13"}, Rules: []string{"web.delivery"},
		Reason: "A kept connection saves set-up and tear-down for each request.",
		Source: "nginx documentation, \"keepalive\" and \"keepalive_timeout\" (upstream), \"fastcgi_keep_conn\"",
		Reach:  0.1, Plan: planKeepUpstream, Test: "TestRemedyKeepUpstream",
		Command: "upstream php { server 127.0.0.1:9000; keepalive 8; keepalive_timeout 200ms; } … fastcgi_pass php; fastcgi_keep_conn on;", Undo: undoConfig,
		Effect: "no effect shown on cases/login, tuned by hand (`make bench-tuners`), put back",
	},
	{
		ID: "nginx.file-cache", Title: "open_file_cache", Measures: []string{"C19", "L10"}, Rules: []string{"web.file-cache"},
		Reason: "Descriptors and sizes of hot files are remembered instead of asked for each time; a replaced file is served old for up to open_file_cache_valid.",
		Source: "nginx documentation, \"open_file_cache\"",
		Trades: []regulation.Trade{regulation.Staleness}, Reach: 0.3, Plan: planFileCache, Test: "TestRemedyFileCache",
		Command: "open_file_cache max=10000 inactive=20s; open_file_cache_valid 30s; open_file_cache_min_uses 2; open_file_cache_errors on;", Undo: undoConfig,
	},
	{
		ID: "nginx.access-log", Title: "Buffered access log", Measures: []string{"I09", "W14"}, Rules: []string{"web.access-log"},
		Reason: "One write for many lines instead of one for each; lines arrive later and the last are lost in a crash.",
		Source: "nginx documentation, \"access_log\": buffer, flush",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.1, Plan: planAccessLog, Test: "TestRemedyAccessLog",
		Command: "access_log /var/log/nginx/access.log combined buffer=64k flush=1s;", Undo: undoConfig,
	},
}
