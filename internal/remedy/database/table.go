package database

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// undoSetting is what taking a setting back does.
const undoSetting = "the option files' saved bytes come back, and SET GLOBAL puts the running value back (or a restart, where the setting needs one)"

// testSettings is on the real server (cases/remedies/database).
const testSettings = "TestDatabaseSettings"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = append([]planning.Remedy{
	missingIndexes,
	spareIndexes,
	hotRow,
	rowLocks,
	{
		ID: "mariadb.memory", Title: "InnoDB buffer pool and redo log sized for the data", Measures: []string{"C21", "L07", "I01"}, Rules: []string{"db.memory"},
		Reason: "Pages that do not fit into the pool are read from files again and again; a full redo log makes writers wait for a checkpoint.",
		Source: "MariaDB Knowledge Base, \"InnoDB Buffer Pool\" and \"InnoDB Redo Log\"; MySQL manual, \"Configuring Redo Log Capacity\"",
		Reach:  memoryReach, Plan: planMemory, Test: "TestRemedyMemory",
		Command: "SET GLOBAL innodb_buffer_pool_size = 671088640; and innodb_buffer_pool_size = 640M in [mysqld]", Undo: undoSetting,
		Effect: "pool and redo log together +18 % (+9.6 to +27) on cases/login (`make demo`, docs/measured/login.md); the redo log alone: no effect shown on cases/login, tuned (`make bench-tuners`), put back",
	},
	{
		ID: "mariadb.pool-smaller", Title: "A buffer pool no larger than the data needs", Measures: []string{"C21"}, Rules: []string{"db.pool-too-large"},
		Reason: "Memory that the pool never fills is what other services and the page cache lack.",
		Source: "MariaDB documentation, \"InnoDB Buffer Pool\": it can be resized while the server runs",
		Reach:  0.1, Plan: planSmaller, Test: "cases/remedies/database/pool_test.go:TestPoolShrinks",
		Command: "SET GLOBAL innodb_buffer_pool_size = 1073741824; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.commit-flush", Title: "Log written to disk once a second", Measures: []string{"L07", "W07"}, Rules: []string{"db.commit-flush"},
		Reason: "Each commit waits for the disk; once a second is enough where the last second may be lost.",
		Source: "MariaDB Knowledge Base, \"innodb_flush_log_at_trx_commit\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.3, Plan: planCommitFlush, Test: "TestRemedyCommitFlush",
		Command: "SET GLOBAL innodb_flush_log_at_trx_commit = 2; and the same in [mysqld]", Undo: undoSetting,
		Effect: "no effect shown on cases/login, tuned (`make bench-tuners`), put back",
	},
	{
		ID: "mariadb.defaults", Title: "A my.cnf where there is hardly any", Measures: []string{"W07", "I01", "L07"}, Rules: []string{"db.defaults"},
		Reason: "A server that is left to its defaults is right in none of what this run asks for; all of it is set at once, with one restart. Only what gives nothing up is among it.",
		Source: "the sources of the single settings; MySQL manual, \"InnoDB Startup Configuration\"",
		Reach:  defaultsReach, Plan: planDefaults, Test: "TestDatabaseDefaults",
		Command: "write the settings into [mysqld] and restart", Undo: undoSetting,
		Effect: "+14.4 % (+9.3 to +19.7) on cases/wiki (`make case-wiki`, docs/measured/wiki.md), beside other changes",
	},
	{
		ID: "mariadb.foreign", Title: "Settings of another version taken out", Measures: []string{"W08"}, Rules: []string{"db.unknown-settings"},
		Reason: "What the running version does not know does nothing, or keeps the server from starting after an upgrade. It gains nothing by itself, so `kasoku tune` does not try it; `kasoku plan` shows it.",
		Source: "the server's own word: mariadbd --help --verbose reads its files and says what it does not know",
		Plan:   planForeign, Test: "TestForeignOptions",
		Command: "mariadbd --defaults-file=my.cnf --help --verbose >/dev/null; take the lines out that it names", Undo: "the option files' saved bytes come back",
	},
	{
		ID: "app.db-socket", Title: "Unix socket between application and database", Measures: []string{"L03"}, Rules: []string{"db.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT.",
		Source: "unix(7), tcp(7)",
		Reach:  0.05, Small: true, Plan: planDatabaseSocket, Test: "TestRemedyDatabaseSocket",
		Command: "in the application's settings: mysql:unix_socket=/run/mysqld/mysqld.sock instead of host and port", Undo: "the settings' saved bytes come back",
		Effect: "with nginx.php-socket, nginx.delivery and nginx.tokens +10.5 % (+5.8 to +15.4) on cases/login, tuned (`make bench-tuners`)",
	},
	{
		ID: "app.db-persistent", Title: "Connections to the database kept from request to request", Measures: []string{"I14"}, Rules: []string{"app.db-persistent"},
		Reason: "A connection for each request costs its set-up and a log-in, and leaves a port in TIME_WAIT. Where a setting of the application says that none is kept, it says the opposite then, in the forms of a table (internal/diagnose/rules_persistent.go): CodeIgniter, Moodle, CakePHP, FuelPHP, PDO's option, Django, DB_PERSISTENT in an environment. Settings of Django that do not say it get lines at their end; not where a worker answers many requests in one loop. One for each process must fit into max_connections. What a request leaves on its connection (variables, temporary tables, named locks) the next one finds; PDO does not clear it, so isolation is named as a trade. Where the source says it, it stays with the source (db.connect-per-request).",
		Source: "PHP manual, \"Persistent Database Connections\"; the pages that the table names",
		Trades: []regulation.Trade{regulation.Isolation}, Reach: 0.5, Plan: planPersistent, Test: "cases/remedies/apps/persistent_test.go:TestPersistent",
		Command: "`'pconnect' => TRUE`, `'persistent' => true`, `DB_PERSISTENT=1`, `'CONN_MAX_AGE': 60` in the application's settings, then a reload", Undo: "the settings' saved bytes come back, and the reload closes what was kept",
	},
}, settingRemedies...)
