package database

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	missingIndexes,
	spareIndexes,
	hotRow,
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
		ID: "app.db-socket", Title: "Unix socket between application and database", Measures: []string{"L03"}, Rules: []string{"db.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT.",
		Source: "unix(7), tcp(7)",
		Reach:  0.05, Small: true, Plan: planDatabaseSocket, Test: "TestRemedyDatabaseSocket",
	},
}
