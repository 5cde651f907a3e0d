package remedy

import "kasoku/internal/regulation"

// Table holds every remedy, in the order in which they are listed for people.
var Table = []Remedy{
	{
		ID: "mariadb.index", Title: "Missing indexes", Measures: []string{"I02", "I07", "I10", "L06"}, Rules: []string{"db.full-scan"},
		Reason: "An index finds the rows of a statement in a few page reads instead of all of the table's.",
		Source: "MariaDB Knowledge Base, \"Building the best INDEX for a given SELECT\"",
		Reach:  0.9, Plan: planIndexes, Test: "TestRemedyIndex",
	},
	{
		ID: "mariadb.memory", Title: "InnoDB buffer pool and redo log sized for the data", Measures: []string{"C21", "L07"}, Rules: []string{"db.memory"},
		Reason: "Pages that do not fit into the pool are read from files again and again; a full redo log makes writers wait for a checkpoint.",
		Source: "MariaDB Knowledge Base, \"InnoDB Buffer Pool\" and \"InnoDB Redo Log\"",
		Reach:  0.2, Plan: planMemory, Test: "TestRemedyMemory",
	},
	{
		ID: "mariadb.commit-flush", Title: "Log written to disk once a second", Measures: []string{"L07", "W07"}, Rules: []string{"db.commit-flush"},
		Reason: "Each commit waits for the disk; once a second is enough where the last second may be lost.",
		Source: "MariaDB Knowledge Base, \"innodb_flush_log_at_trx_commit\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.3, Plan: planCommitFlush, Test: "TestRemedyCommitFlush",
	},
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
		ID: "app.db-socket", Title: "Unix socket between application and database", Measures: []string{"L03"}, Rules: []string{"db.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT.",
		Source: "unix(7), tcp(7)",
		Reach:  0.05, Small: true, Plan: planDatabaseSocket, Test: "TestRemedyDatabaseSocket",
	},
	{
		ID: "php.opcache", Title: "OPcache", Measures: []string{"W03"}, Rules: []string{"php.opcache-off"},
		Reason: "Without it every request parses and compiles all scripts that it uses.",
		Source: "PHP manual, \"OPcache\"",
		Reach:  0.5, Plan: planOPcache, Test: "TestRemedyOPcache",
	},
	{
		ID: "php.jit", Title: "JIT", Measures: []string{"I16"}, Rules: []string{"php.jit-off"},
		Reason: "Hot code runs as machine code; it pays only where the interpreter itself binds.",
		Source: "PHP manual, \"opcache.jit\"",
		Reach:  0.03, Plan: planJIT, Test: "TestRemedyJIT",
	},
	{
		ID: "php.workers", Title: "Number of PHP-FPM processes", Measures: []string{"C18", "I17"}, Rules: []string{"php.workers"},
		Reason: "Too few leave CPU idle, too many make it switch; the best number is found by trying.",
		Source: "PHP manual, \"FPM configuration\": pm, pm.max_children",
		Reach:  0.1, Plan: planWorkers, Test: "TestRemedyWorkers",
	},
	{
		ID: "php.session-memory", Title: "Session files in memory", Measures: []string{"L11"}, Rules: []string{"php.session-files"},
		Reason: "A session that never reaches a disk costs less; a reboot ends all sessions.",
		Source: "PHP manual, \"session.save_path\"; tmpfs(5)",
		Trades: []regulation.Trade{regulation.SessionDurability}, Reach: 0.1, Plan: planSessions, Test: "TestRemedySessions",
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
	{
		ID: "load.workload", Title: "Workload of the benchmark", Measures: []string{"L01", "G08"}, Rules: []string{"load.workload"},
		Reason: "A load that leaves the service idle measures the load.",
		Source: "Lazowska et al. 1984, Quantitative System Performance, ch. 5",
		Reach:  0.3, Plan: planWorkload, Test: "TestFindWorkload",
	},
}
