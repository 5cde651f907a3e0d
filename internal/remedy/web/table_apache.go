package web

import "kasoku/internal/remedy/planning"

const undoApache = "The links and files come back, then Apache is restarted."

var apacheRemedies = []planning.Remedy{
	{
		ID: "apache.event-fpm", Title: "Apache's event workers with PHP-FPM", Measures: []string{"W02"}, Rules: []string{"apache.prefork"},
		Reason: "With mod_php every connection, slow or idle, and every picture occupies a process that holds a whole PHP. Event workers are threads, and PHP-FPM has as many processes as PHP needs. Settings of PHP in Apache are carried over to the pool; .htaccess files with php_value are refused, because PHP-FPM would not see them.",
		Source: "Apache HTTP Server documentation, \"MPM event\", mod_proxy_fcgi; PHP manual, \"FPM configuration\"",
		Reach:  0.5, Plan: planEventFPM, Test: "TestApacheEventFPM",
		Command: "a pool [kasoku-httpd] in PHP-FPM; a2dismod php8.2 mpm_prefork; a2enmod mpm_event proxy_fcgi setenvif; SetHandler \"proxy:unix:/run/php/kasoku-php-httpd.sock|fcgi://localhost\"; systemctl restart apache2",
		Undo:    "The links and files come back and Apache is restarted, then PHP-FPM's pool goes (or its package, if that was installed).",
	},
	{
		ID: "apache.keepalive", Title: "Connections to clients kept", Measures: []string{"C19"}, Rules: []string{"apache.keepalive"},
		Reason: "A kept connection saves set-up and tear-down; with event workers an idle one costs no thread.",
		Source: "Apache HTTP Server documentation, \"KeepAlive\", \"MaxKeepAliveRequests\", \"MPM event\"",
		Reach:  0.2, Small: true, Plan: planApacheKeepAlive, Test: "TestApacheWorkers",
		Command: "KeepAlive On, MaxKeepAliveRequests 10000", Undo: undoApache,
	},
	{
		ID: "apache.workers", Title: "Apache's workers", Measures: []string{"C18"}, Rules: []string{"apache.workers"},
		Reason: "At MaxRequestWorkers further connections wait in the kernel's queue.",
		Source: "Apache HTTP Server documentation, \"MaxRequestWorkers\", \"ServerLimit\"",
		Reach:  0.5, Plan: planApacheWorkers, Test: "TestApacheWorkers",
		Command: "ServerLimit 32, MaxRequestWorkers 800", Undo: undoApache,
	},
	{
		ID: "apache.deflate", Title: "Text compressed by Apache", Measures: []string{"C27"}, Rules: []string{"apache.deflate"},
		Reason: "Text shrinks to a third or less for clients that ask for it.",
		Source: "Apache HTTP Server documentation, mod_deflate",
		Reach:  0.05, Plan: planDeflate, Test: "TestApacheWorkers",
		Command: "a2enmod deflate; AddOutputFilterByType DEFLATE text/html text/css application/javascript …", Undo: undoApache,
	},
}
