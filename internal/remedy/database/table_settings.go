package database

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// settingRemedies are planned from the table of knobs.
var settingRemedies = []planning.Remedy{
	{
		ID: "mariadb.thread-cache", Title: "Threads kept for the next connection", Measures: []string{"C22", "C24"}, Rules: []string{"db.thread-cache"},
		Reason: "Each new connection needs a thread; one that is kept need not be made.",
		Source: "MySQL manual, \"thread_cache_size\"; MariaDB documentation, \"thread_cache_size\"",
		Reach:  0.5, Small: true, Plan: settings("mariadb.thread-cache", "Thread cache"), Test: testSettings,
		Command: "SET GLOBAL thread_cache_size = 151; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.table-cache", Title: "Tables and their definitions kept open", Measures: []string{"C22"}, Rules: []string{"db.table-cache", "db.definition-cache", "db.table-instances"},
		Reason: "A table that was closed for want of room must be opened, and its definition read, for the next statement.",
		Source: "MySQL manual, \"How MySQL Opens and Closes Tables\"; MariaDB documentation, \"Optimizing table_open_cache\"",
		Reach:  0.5, Small: true, Plan: settings("mariadb.table-cache", "Table cache"), Test: testSettings,
		Command: "SET GLOBAL table_open_cache = 2000; SET GLOBAL table_definition_cache = 1000; and the same in [mysqld], with open_files_limit", Undo: undoSetting,
	},
	{
		ID: "mariadb.connections", Title: "More connections allowed", Measures: []string{"C22"}, Rules: []string{"db.connections"},
		Reason: "Whoever comes at the limit is refused. Each connection takes memory, so it is raised by half and only where all buffers of the new ones fit.",
		Source: "MySQL manual, \"max_connections\" and \"How MySQL Uses Memory\"",
		Reach:  0.2, Plan: settings("mariadb.connections", "Connections"), Test: testSettings,
		Command: "SET GLOBAL max_connections = 230; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.aborted", Title: "Connections neither refused nor cut off", Measures: []string{"C24"}, Rules: []string{"db.aborted"},
		Reason: "A short queue of the listening socket refuses log-ins in a burst; a short wait_timeout cuts off clients that rest. (Threads that are not kept are mariadb.thread-cache's.) interactive_timeout is not set: it holds only for clients that say at log-in that a person sits there, and Aborted_clients does not count those apart.",
		Source: "MySQL manual, \"Communication Errors and Aborted Connections\", \"back_log\", \"wait_timeout\"",
		Reach:  0.2, Plan: settings("mariadb.aborted", "Log-ins"), Test: testSettings,
		Command: "back_log = 80, wait_timeout = 180 in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.binlog-cache", Title: "Transactions collected in memory for the binary log", Measures: []string{"C23"}, Rules: []string{"db.binlog-cache"},
		Reason: "A transaction that does not fit is written to a temporary file first, and read from there when it commits.",
		Source: "MySQL manual, \"binlog_cache_size\": Binlog_cache_use and Binlog_cache_disk_use tell its size",
		Reach:  0.5, Small: true, Plan: settings("mariadb.binlog-cache", "Binary log cache"), Test: testSettings,
		Command: "SET GLOBAL binlog_cache_size = 98304; and binlog_cache_size = 96K in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.buffers", Title: "Buffers of statements that fit what they do", Measures: []string{"C25"}, Rules: []string{"db.tmp-disk", "db.sort-merge", "db.join-buffer", "db.read-buffer"},
		Reason: "What does not fit into its buffer goes to a file, is sorted in several passes or reads the other table again. The buffers are taken for each connection, so their product with the connections is held against the host's memory.",
		Source: "MySQL manual, \"How MySQL Uses Memory\", \"Internal Temporary Table Use\", \"ORDER BY Optimization\", \"Block Nested-Loop Join Algorithm\"",
		Reach:  0.3, Small: true, Plan: settings("mariadb.buffers", "Buffers"), Test: testSettings,
		Command: "SET GLOBAL sort_buffer_size = 4194304; SET GLOBAL tmp_table_size = 67108864; SET GLOBAL max_heap_table_size = 67108864; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.buffer-size", Title: "The size of a buffer, found by search", Measures: []string{"C25"},
		Rules:  []string{"db.tmp-disk", "db.sort-merge", "db.join-buffer", "db.read-buffer"},
		Reason: "The sign says that a buffer is too small, not how much is enough, and more than enough is memory that nobody uses and pages that are touched in vain. Where the finding's bound is 10 % or more, probes can tell sizes apart: up to six are probed, and the smallest within 2 % of the best is tried. Below that the computed size is (mariadb.buffers). Sizes that follow from what is measured are computed, not searched (docs/adr/0018-which-sizes-are-searched.md).",
		Source: "MySQL manual, \"How MySQL Uses Memory\", \"sort_buffer_size\": a larger one than needed slows most statements",
		Reach:  0.3, Plan: planSize, Test: "cases/remedies/database/search_test.go:TestBufferSize",
		Command: "SET GLOBAL tmp_table_size = 8388608; SET GLOBAL max_heap_table_size = 8388608; a run of the load; the same with other sizes; the best one in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.log-buffer", Title: "A log buffer that holds what is under way", Measures: []string{"C21"}, Rules: []string{"db.log-buffer"},
		Reason: "A full log buffer is written before a transaction commits, and all that log wait for it.",
		Source: "MySQL manual, \"Optimizing InnoDB Redo Logging\"",
		Reach:  0.2, Small: true, Plan: settings("mariadb.log-buffer", "Log buffer"), Test: testSettings,
		Command: "innodb_log_buffer_size = 64M in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.io", Title: "Pages written as fast as the disk can, and not more of them than needed", Measures: []string{"C21", "C26"},
		Rules:  []string{"db.io-capacity", "db.pool-wait", "db.dirty-pages", "db.flush-neighbors"},
		Reason: "InnoDB writes changed pages in the background at the pace that it was told; too slow a pace makes writers wait, too eager a one writes pages again and again.",
		Source: "MariaDB documentation, \"InnoDB Page Flushing\"; MySQL manual, \"Configuring Buffer Pool Flushing\", \"Configuring InnoDB I/O Capacity\"",
		Reach:  0.2, Small: true, Plan: settings("mariadb.io", "Page writing"), Test: testSettings,
		Command: "SET GLOBAL innodb_io_capacity_max = 2000; SET GLOBAL innodb_io_capacity = 1000; SET GLOBAL innodb_max_dirty_pages_pct = 90; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.flush-method", Title: "Pages past the page cache", Measures: []string{"C21"}, Rules: []string{"db.flush-method"},
		Reason: "What the buffer pool holds need not be in the kernel's memory a second time. It is synced as before.",
		Source: "MySQL manual, \"innodb_flush_method\"; MariaDB 10.6 and MySQL 8.4 changed their default",
		Reach:  0.2, Small: true, Plan: settings("mariadb.flush-method", "Page writing"), Test: testSettings,
		Command: "innodb_flush_method = O_DIRECT in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.sync-array", Title: "Waiting threads in several lists", Measures: []string{"C21"}, Rules: []string{"db.sync-array"},
		Reason: "Hundreds of waiting threads are looked through in one list behind one mutex.",
		Source: "MySQL manual, \"innodb_sync_array_size\"; MariaDB 10.6 has none any more",
		Reach:  0.1, Plan: settings("mariadb.sync-array", "Lists of waiting threads"), Test: "cases/remedies/database/mysql8_test.go:TestMySQL8",
		Command: "innodb_sync_array_size = 4 in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.autoinc-lock", Title: "AUTO_INCREMENT without a lock for the statement", Measures: []string{"C21"}, Rules: []string{"db.autoinc-lock"},
		Reason: "A bulk insert keeps the counter of its table until it ends; with mode 2 it takes numbers as it goes. Numbers of one statement may then be mixed with others'.",
		Source: "MySQL manual, \"AUTO_INCREMENT Handling in InnoDB\"",
		Trades: []regulation.Trade{regulation.Isolation}, Reach: 0.2, Plan: settings("mariadb.autoinc-lock", "AUTO_INCREMENT"), Test: testSettings,
		Command: "innodb_autoinc_lock_mode = 2 in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.isolation", Title: "READ COMMITTED", Measures: []string{"C21"}, Rules: []string{"db.isolation"},
		Reason: "Gaps between rows are not locked, so fewer transactions wait; one may see what others committed meanwhile. binlog_format is not set: no counter of a run tells what its forms cost, and replicas and whoever else reads the log depend on it. Where it is STATEMENT, InnoDB refuses to write at READ COMMITTED (error 1665), and nothing is proposed.",
		Source: "MySQL manual, \"Transaction Isolation Levels\"",
		Trades: []regulation.Trade{regulation.Isolation}, Reach: 0.3, Plan: settings("mariadb.isolation", "Isolation"), Test: testSettings,
		Command: "SET GLOBAL tx_isolation = 'READ-COMMITTED'; and transaction_isolation = READ-COMMITTED in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.doublewrite", Title: "Pages written once", Measures: []string{"C21", "L07"}, Rules: []string{"db.doublewrite"},
		Reason: "The doublewrite buffer has each page written twice, so that a half-written one can be mended after a power loss.",
		Source: "MySQL manual, \"Doublewrite Buffer\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.2, Plan: settings("mariadb.doublewrite", "Doublewrite"), Test: testSettings,
		Command: "innodb_doublewrite = OFF in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.binlog-sync", Title: "Binary log written when the kernel likes", Measures: []string{"C21", "L07"}, Rules: []string{"db.binlog-sync"},
		Reason: "With sync_binlog = 1 each commit waits for the disk once more.",
		Source: "MySQL manual, \"sync_binlog\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.3, Plan: settings("mariadb.binlog-sync", "Binary log"), Test: testSettings,
		Command: "SET GLOBAL sync_binlog = 0; and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.no-binlog", Title: "No binary log that nobody reads", Measures: []string{"C21", "L07"}, Rules: []string{"db.binlog-unused"},
		Reason: "Without a replica the binary log only serves to bring a backup forward; each commit pays for it.",
		Source: "MySQL manual, \"The Binary Log\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.3, Plan: planNoBinlog, Test: testSettings,
		Command: "take log_bin out of [mysqld] and restart", Undo: "the option files' saved bytes come back, with a restart; a new log file begins",
	},
	{
		ID: "mariadb.adaptive-hash", Title: "An index of the index where it is right, and only there", Measures: []string{"W07"}, Rules: []string{"db.adaptive-hash", "db.adaptive-hash-off"},
		Reason: "The adaptive hash index is kept up, and its latches taken, by every search, also by those that it does not help. Where most is found by keys in memory it spares the way down the tree.",
		Source: "MySQL manual, \"Adaptive Hash Index\"",
		Reach:  0.1, Small: true, Plan: settings("mariadb.adaptive-hash", "Adaptive hash index"), Test: testSettings,
		Command: "SET GLOBAL innodb_adaptive_hash_index = OFF (or ON); and the same in [mysqld]", Undo: undoSetting,
	},
	{
		ID: "mariadb.query-cache", Title: "Query cache where it pays, and only there", Measures: []string{"W07", "W09"}, Rules: []string{"db.query-cache", "db.query-cache-unused"},
		Reason: "Where little is written beside what is read, results can be kept, and a write throws its tables' away, so no answer is stale: a statement that nobody can change is answered without running it. Where much is written it is all cost.",
		Source: "MariaDB documentation, \"Query Cache\"; MySQL 8.0 has none",
		Reach:  0.3, Plan: settings("mariadb.query-cache", "Query cache"), Test: "cases/remedies/database/defaults_test.go:TestDatabaseDefaults",
		Command: "query_cache_type = ON, query_cache_size = 64M in [mysqld] and a restart", Undo: undoSetting,
	},
	{
		ID: "mariadb.names", Title: "No look-up of clients' names", Measures: []string{"W07"}, Rules: []string{"db.name-resolve"},
		Reason: "Each new address is looked up in DNS before it may log in. Not where an account is by a host's name, or by 'localhost' alone and used over TCP.",
		Source: "MySQL manual, \"DNS Lookups and the Host Cache\"; MariaDB documentation, \"skip_name_resolve\"",
		Reach:  0.3, Small: true, Plan: planNames, Test: testSettings,
		Command: "skip_name_resolve = ON in [mysqld] and a restart", Undo: undoSetting,
	},
}
