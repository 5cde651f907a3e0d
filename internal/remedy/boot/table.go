// Package boot plans what a host does after a reboot, before its first request.
package boot

import "kasoku/internal/remedy/planning"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "mariadb.pool-warm", Title: "Buffer pool filled again after a restart", Measures: []string{"W16"}, Rules: []string{"db.pool-cold"},
		Reason: "Pages that were in memory before are read in order at the start instead of one by one under load. By default the list holds a quarter of them; all of them are asked for where a reboot was seen to leave caches cold.",
		Source: "MariaDB Knowledge Base, \"InnoDB Buffer Pool\", section \"InnoDB Buffer Pool Dump/Restore\"; MySQL manual, \"Saving and Restoring the Buffer Pool State\"",
		Reach:  0.2, Plan: planPool,
		Command: "`SET GLOBAL innodb_buffer_pool_dump_at_shutdown = ON, GLOBAL innodb_buffer_pool_dump_pct = 100`, the same and `innodb_buffer_pool_load_at_startup = ON` below `[mysqld]`, restart",
		Undo:    "the file's bytes back, the variables as before, a restart; the list of pages (ib_buffer_pool, some kilobytes in the data folder) stays",
		Effect:  "of 2,192 pages in the pool, 2,106 are there after a restart instead of 695 (`go test ./cases/remedies/pagecache -run PoolWarm -v`); with the list of the default quarter 1,288 of 2,205, with that of all 2,119 of 2,119 (`-run PoolShare`)",
		Test:    "cases/remedies/pagecache/boot_test.go:TestPoolWarm",
	},
	{
		ID: "host.warm-up", Title: "Main pages asked for at boot", Measures: []string{"W16"}, Rules: []string{"boot.cold"},
		Reason: "A reboot empties every cache: pages in front, compiled code, the database's pages, the kernel's files. A unit asks once for the pages that strangers ask for most, so that the first people get what the others get. It runs beside what starts and holds nothing up: systemd counts it as started when its program is. It asks one page after the other, for a minute at most, with GET and without a cookie, only what the scenario's strangers asked for; the target needs curl or wget, not Kasoku. Its requests are in the access log as kasoku-warm-up. It is tried at the end of a session, when the check of a reboot fell short, and judged by that check.",
		Source: "systemd.service(5), Type=exec, RuntimeMaxSec=; systemd.unit(5), After=; curl(1), --connect-to",
		Reach:  0.8, Plan: planWarmUp,
		Command: "write /etc/systemd/system/kasoku-warm-up.service with a script of curl calls, `systemctl enable kasoku-warm-up.service`",
		Effect:  "of 6 pages that nginx keeps in memory, 6 are there after a reboot instead of none (`go test ./cases/checks -run WarmUpAtBoot/unit -v`)",
		Undo:    "the unit, its link and its script are removed; nothing else was touched",
		Test:    "cases/checks/warmup_test.go:TestWarmUpAtBoot",
	},
}
