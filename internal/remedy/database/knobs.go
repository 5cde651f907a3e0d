package database

import (
	"math"

	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

const (
	kib = int64(1) << 10
	mb  = int64(planning.MiB)
)

// knob is one server variable that a finding asks for.
type knob struct {
	variable string
	key      string // its name in option files; "" the same
	rule     string // the finding that asks for it
	// to is its one better value; where it is a number, size computes it from
	// what was seen. 0 says that there is nothing better.
	to   string
	size func(v view) int64
	// least and most are the bounds of size; step is what it is rounded up to.
	least, most, step int64
	// upTo is the largest that a search tries where probes can tell (search.go),
	// bytes; 0: the size is computed and never searched.
	upTo int64
	less bool // a lower value is the better one
	// unit is the memory that one of it takes, bytes: 1 for sizes, 0 for what
	// takes none. each: for every connection, not once.
	unit int64
	each bool
	// session: a connection takes it when it begins and keeps it.
	session bool
	trade   regulation.Trade // "" if it gives nothing up
	// Until these versions the variable does something; the server itself tells
	// whether it has it.
	maria, mysql version
	why          string // the formula and where it is from
}

// knobs of MariaDB and MySQL. The ones of db.memory are beside it in memory.go.
var knobs = []knob{
	{variable: "thread_cache_size", rule: "db.thread-cache", size: threads, most: 16384, unit: 256 * kib,
		why: "as many as connections were open at most, at least 256 or what is allowed (MariaDB's default since 10.2)"},

	{variable: "table_open_cache", rule: "db.table-cache", size: openTables, least: 2000, most: 16384, step: 100, unit: 16 * kib,
		why: "the tables there are times the connections that were open at most (MySQL manual, \"How MySQL Opens and Closes Tables\")"},
	{variable: "open_files_limit", rule: "db.table-cache", size: openFiles, most: 1 << 20, step: 100,
		why: "two files for each open table, one for each connection (MariaDB documentation, \"open_files_limit\")"},
	{variable: "table_definition_cache", rule: "db.definition-cache", size: func(v view) int64 { return max(2*v.now("table_definition_cache"), int64(len(v.db.Tables))*5/4+400) },
		least: 400, most: 65536, step: 100, unit: 32 * kib, why: "the tables there are, a quarter more, and 400 for the server's own (MySQL manual, \"table_definition_cache\")"},
	{variable: "table_open_cache_instances", rule: "db.table-instances", size: func(v view) int64 { return max(int64(planning.CPUsOf(v.in, v.svc.Name))/2, 1) },
		less: true, most: 64, why: "8 to 16 are for 16 CPUs and more (MySQL manual, \"table_open_cache_instances\"); engineers who had 8 CPUs went from 16 to 2"},

	{variable: "max_connections", rule: "db.connections", size: func(v view) int64 { return max(v.connections(), v.now("max_connections")) * 3 / 2 },
		most: 10000, step: 10, unit: -1, each: true, why: "half as many again; each may take all of its buffers"},

	{variable: "back_log", rule: "db.aborted", size: func(v view) int64 { return since(v.now("back_log") < 50, min(50+v.now("max_connections")/5, 900)) },
		most: 65535, why: "50 + max_connections / 5, at most 900, where it was set below the least that this gives: the server's own default (MySQL manual, \"back_log\")"},
	{variable: "wait_timeout", rule: "db.aborted", size: func(v view) int64 { return since(v.delta("Aborted_clients") > 0, 180) },
		most: 31536000, session: true, why: "clients that rest are not cut off before three minutes"},

	{variable: "binlog_cache_size", rule: "db.binlog-cache", size: binlogCache, least: 32 * kib, most: 2 * mb, step: 4 * kib, unit: 1, each: true, session: true,
		why: "four times the mean transaction (Binlog_bytes_written / Binlog_commits), at least twice as now; it is watched and asked for again"},

	{variable: "tmp_table_size", rule: "db.tmp-disk", size: tmpTable, least: 32 * mb, most: 256 * mb, step: mb, upTo: 1024 * mb, unit: 1, each: true, session: true,
		why: "four times as now, up to 256 MiB; the smaller of tmp_table_size and max_heap_table_size counts"},
	{variable: "max_heap_table_size", rule: "db.tmp-disk", size: heapTable, most: 256 * mb, upTo: 1024 * mb, each: true, session: true,
		why: "as tmp_table_size"},
	{variable: "temptable_max_ram", rule: "db.tmp-disk", size: tempTables, most: 1024 * mb, step: mb, upTo: 4096 * mb, unit: 1,
		why: "four times as now, up to the 1 GiB of MySQL's default: all temporary tables together (MySQL manual, \"temptable_max_ram\")"},
	{variable: "sort_buffer_size", rule: "db.sort-merge", size: twice("sort_buffer_size"), least: 2 * mb, most: 4 * mb, upTo: 32 * mb, unit: 1, each: true, session: true,
		why: "twice as now, at least the 2 MiB of MariaDB's default and at most 4 MiB: a larger one is slower to get than it saves (MySQL manual, \"sort_buffer_size\")"},
	{variable: "join_buffer_size", rule: "db.join-buffer", size: func(view) int64 { return mb }, most: 4 * mb, upTo: 16 * mb, unit: 1, each: true, session: true,
		why: "1 MiB: beyond it only an index helps"},
	{variable: "read_buffer_size", rule: "db.read-buffer", size: twice("read_buffer_size"), least: mb, most: 2 * mb, step: 4 * kib, upTo: 8 * mb, unit: 1, each: true, session: true,
		why: "twice as now, up to 2 MiB"},
	{variable: "read_rnd_buffer_size", rule: "db.read-buffer", size: twice("read_rnd_buffer_size"), least: mb, most: 4 * mb, step: 4 * kib, unit: 1, each: true, session: true,
		why: "twice as now, up to 4 MiB: rows that were sorted are read through it"},

	{variable: "innodb_log_buffer_size", rule: "db.log-buffer", size: twice("innodb_log_buffer_size"), least: 64 * mb, most: 256 * mb, step: mb, unit: 1,
		why: "room for the largest transaction under way (MySQL manual, \"Optimizing InnoDB Redo Logging\")"},

	// The ceiling first: a server that is given a capacity above it raises it by
	// itself, and then it is no longer what the plan saw.
	{variable: "innodb_io_capacity_max", rule: "db.io-capacity", size: ioCeiling, most: 40000, step: 100,
		why: "twice innodb_io_capacity, the server's own default (MySQL manual, \"innodb_io_capacity_max\")"},
	{variable: "innodb_io_capacity", rule: "db.io-capacity", size: ioCapacity, most: 20000, step: 100,
		why: "four times what is written while it holds back, at least 1000, at most three quarters of what the disk was seen to do when busy"},
	{variable: "innodb_io_capacity_max", rule: "db.pool-wait", size: ioCeiling, most: 40000, step: 100, why: "twice innodb_io_capacity"},
	{variable: "innodb_io_capacity", rule: "db.pool-wait", size: ioCapacity, most: 20000, step: 100, why: "as for db.io-capacity"},
	{variable: "innodb_lru_scan_depth", rule: "db.pool-wait", size: scanDepth, most: 8192, step: 64,
		why: "twice as many pages are freed ahead, at most an eighth of the pool's (MySQL manual, \"innodb_lru_scan_depth\": more if there is spare I/O capacity)"},

	{variable: "innodb_max_dirty_pages_pct", rule: "db.dirty-pages", to: "90", why: "the default of MariaDB 10.5 and MySQL 8.0; engineers who measured it took 95"},
	{variable: "innodb_flush_neighbors", rule: "db.flush-neighbors", to: "0", why: "as MySQL 8.0 (WL#9631)"},
	{variable: "innodb_flush_method", rule: "db.flush-method", to: "O_DIRECT", why: "as MariaDB 10.6 and MySQL 8.4 do by default; what is written is synced as before"},
	{variable: "innodb_sync_array_size", rule: "db.sync-array", to: "4", maria: version{10, 6}, why: "threads that wait are spread over four lists"},
	{variable: "innodb_adaptive_hash_index", rule: "db.adaptive-hash", to: "OFF", why: "as MariaDB 10.5 and MySQL 8.4 by default"},
	{variable: "innodb_adaptive_hash_index", rule: "db.adaptive-hash-off", to: "ON", why: "as before MariaDB 10.5.8 and MySQL 8.4: rows that are found again and again by a key are found without the tree"},
	// The option is transaction_isolation in every version; the variable had
	// another name until MySQL 5.7.20 and MariaDB 11.1.1.
	{variable: "tx_isolation", key: "transaction_isolation", rule: "db.isolation", to: "READ-COMMITTED", session: true, trade: regulation.Isolation,
		mysql: version{5, 7, 20}, maria: version{11, 1, 1}, why: "locks rows and not the gaps between them (MySQL manual, \"Transaction Isolation Levels\")"},
	{variable: "transaction_isolation", rule: "db.isolation", to: "READ-COMMITTED", session: true, trade: regulation.Isolation,
		why: "locks rows and not the gaps between them (MySQL manual, \"Transaction Isolation Levels\")"},
	{variable: "innodb_autoinc_lock_mode", rule: "db.autoinc-lock", to: "2", trade: regulation.Isolation,
		why: "as MySQL 8.0 by default; what other transactions insert shows in the numbers of a bulk insert"},
	{variable: "innodb_doublewrite", rule: "db.doublewrite", to: "OFF", trade: regulation.Durability,
		why: "a page that is half written in a power loss cannot be mended"},
	{variable: "sync_binlog", rule: "db.binlog-sync", to: "0", trade: regulation.Durability,
		why: "the kernel writes the binary log when it likes; a power loss may cost the last seconds of it"},

	{variable: "query_cache_size", rule: "db.query-cache-unused", size: func(v view) int64 { return 64 * mb }, most: 256 * mb, step: mb, unit: 1,
		why: "some ten MiB: throwing away takes longer the more is kept (MariaDB documentation, \"Query Cache\")"},
	{variable: "query_cache_type", rule: "db.query-cache-unused", to: "ON", why: "keeps the results of all SELECTs that do not ask otherwise"},
	{variable: "query_cache_size", rule: "db.query-cache", to: "0", why: "no results are kept, nothing is thrown away"},
	{variable: "query_cache_type", rule: "db.query-cache", to: "OFF", why: "without it no statement takes the cache's mutex"},
}

func since(is bool, n int64) int64 {
	if is {
		return n
	}
	return 0
}

func twice(name string) func(v view) int64 { return func(v view) int64 { return 2 * v.now(name) } }

func threads(v view) int64 {
	return max(v.connections(), min(v.now("max_connections"), 256))
}

func openTables(v view) int64 {
	return max(2*v.now("table_open_cache"), min(int64(len(v.db.Tables))*v.connections(), 16384))
}

// openFiles that the table cache and the connections may need, if the limit is lower.
func openFiles(v view) int64 {
	need := 2*v.now("table_open_cache") + v.now("max_connections") + 100
	return since(need > v.now("open_files_limit"), need)
}

func binlogCache(v view) int64 {
	mean := 0.0
	if n := v.delta("Binlog_commits"); n > 0 {
		mean = v.delta("Binlog_bytes_written") / n
	}
	return max(2*v.now("binlog_cache_size"), int64(math.Min(4*mean, 1<<30)))
}

func tmpTable(v view) int64 {
	if v.tempTable() {
		return since(atLeast(v.db.Version, version{8, 0, 28}), 4*v.now("tmp_table_size"))
	}
	return 4 * min(v.now("tmp_table_size"), v.now("max_heap_table_size"))
}

func heapTable(v view) int64 {
	n := v.now("tmp_table_size")
	if v.asked > 0 {
		n = v.asked
	}
	return since(!v.tempTable(), n)
}

func tempTables(v view) int64 {
	n := 4 * v.now("temptable_max_ram")
	if v.asked > 0 {
		n = v.asked // at least what one of them may take
	}
	return since(v.tempTable(), n)
}

// ioCapacity in pages per second. A disk that did n writes a second in a
// fraction b of the time can do about n/b; below a twentieth of the time that
// is a guess, and nothing is said of it.
func ioCapacity(v view) int64 {
	window := v.in.Evidence.Load.Window.Seconds()
	want := max(int64(4*v.delta("Innodb_buffer_pool_pages_flushed")/max(window, 0.001)), 2*v.now("innodb_io_capacity"))
	if sys := v.in.Evidence.On(planning.HostOf(v.svc)); sys != nil {
		for _, d := range sys.Disks {
			if d.Busy >= 0.05 && d.Writes > 1 {
				want = min(want, max(int64(0.75*d.Writes/d.Busy), 1000))
			}
		}
	}
	return min(max(want, 1000), 20000)
}

func ioCeiling(v view) int64 {
	want := roundUp(ioCapacity(v), 100)
	return since(want > v.now("innodb_io_capacity"), 2*want)
}

func scanDepth(v view) int64 {
	pages := v.now("innodb_buffer_pool_size") / max(v.now("innodb_page_size"), 4*kib)
	return min(2*v.now("innodb_lru_scan_depth"), pages/8)
}
