package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// dbSettingRules are about settings of MariaDB and MySQL that are neither
// caches nor limits: how InnoDB writes, what is locked, what is kept twice.
var dbSettingRules = []Rule{
	{"db.io-capacity", []string{"C26"}, needDB, judgeIOCapacity},
	{"db.dirty-pages", []string{"C21"}, needDB, judgeDirtyPages},
	{"db.flush-neighbors", []string{"C21"}, needDB, judgeFlushNeighbors},
	{"db.flush-method", []string{"C21"}, needDB, judgeFlushMethod},
	{"db.doublewrite", []string{"C21", "L07"}, needDB, judgeDoublewrite},
	{"db.binlog-unused", []string{"C21"}, needDB, judgeBinlogUnused},
	{"db.autoinc-lock", []string{"C21"}, needDB, judgeAutoincLock},
	{"db.sync-array", []string{"C21"}, needDB, judgeSyncArray},
	{"db.adaptive-hash", []string{"W07"}, needDB, judgeAdaptiveHash},
	{"db.adaptive-hash-off", []string{"W07"}, needDB, judgeAdaptiveHashOff},
	{"db.query-cache-unused", []string{"W07", "W09"}, needDB, judgeQueryCacheUnused},
	{"db.join-buffer", []string{"C25"}, needDB, judgeJoinBuffer},
	{"db.read-buffer", []string{"C25"}, needDB, judgeReadBuffer},
	{"db.table-instances", []string{"C22"}, needDB, judgeTableInstances},
}

// ask is a setting of the database, with its value now.
func (v dbView) ask(name, to string, up int) Setting {
	now, _ := fold(v.db.Variables, name)
	return Setting{Service: v.svc.Name, Name: name, Now: now, To: to, Up: up}
}

// judgeIOCapacity: pages are written as fast as innodb_io_capacity says, and
// the disk could do more (MariaDB documentation, "InnoDB Page Flushing":
// its unit is data pages per second).
func judgeIOCapacity(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		limit, ok := v.variable("innodb_io_capacity")
		rate := v.rate(m, "Innodb_buffer_pool_pages_flushed")
		busy := m.at(v.svc.Name).sys.DiskBusy
		// From nine tenths on the limit is what sets the pace; a disk that is
		// four fifths busy sets it itself.
		if !ok || limit <= 0 || rate < 0.9*limit || busy > 0.8 {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" writes pages back as fast as innodb_io_capacity lets it",
			fmt.Sprintf("%.0f pages are written each second, innodb_io_capacity is %.0f, and the disk is %s busy: with less than the disk can do, dirty pages pile up until writers must wait.", rate, limit, percent(busy)),
			"Innodb_buffer_pool_pages_flushed, innodb_io_capacity of "+v.svc.Name, "disk use").
			asks(v.ask("innodb_io_capacity", "", 1)).with("pages", fmt.Sprintf("%.0f", rate)).bounded(m.boundWait())}
	})
}

// judgeDirtyPages: a low innodb_max_dirty_pages_pct has pages written that
// will soon be changed again.
func judgeDirtyPages(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		most, ok := v.variable("innodb_max_dirty_pages_pct")
		dirty, _ := v.value("Innodb_buffer_pool_pages_dirty")
		all, _ := v.value("Innodb_buffer_pool_pages_total")
		flushed := v.rate(m, "Innodb_buffer_pool_pages_flushed")
		// 75 is the lowest default there was (MySQL 5.7).
		if !ok || most >= 75 || all <= 0 || flushed < rare || 100*dirty/all < 0.9*most {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" may keep few changed pages in memory",
			fmt.Sprintf("%.0f of %.0f pages are dirty and innodb_max_dirty_pages_pct is %g: %.0f pages a second are written, of which many are soon changed and written again.", dirty, all, most, flushed),
			"Innodb_buffer_pool_pages_dirty, Innodb_buffer_pool_pages_flushed of "+v.svc.Name).
			asks(v.ask("innodb_max_dirty_pages_pct", "90", 1)).bounded(m.boundWait())}
	})
}

// judgeFlushNeighbors: writing neighbours along pays on a disk that must move
// its head. MySQL 8.0 and MariaDB 10.4 do not do it on others (MySQL WL#9631;
// MDEV-17380).
func judgeFlushNeighbors(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		now, ok := fold(v.db.Variables, "innodb_flush_neighbors")
		flushed := v.rate(m, "Innodb_buffer_pool_pages_flushed")
		if !ok || now == "0" || flushed < rare || v.db.MariaDB && VersionAtLeast(v.db.Version, "10.4") {
			return nil
		}
		for _, d := range m.at(v.svc.Name).sys.Disks {
			// A rotating disk needs milliseconds to reach a place.
			if d.Writes < rare || d.WriteLatency <= 0 || d.WriteLatency.Seconds() > 0.002 {
				continue
			}
			return []Finding{about(v.svc.Name, v.svc.Name+" writes neighbouring pages along on a disk that has no head to move",
				fmt.Sprintf("innodb_flush_neighbors is %s and a write to %s takes %s: %.0f pages a second are written, some of which need not be yet.", now, d.Name, seconds(d.WriteLatency.Seconds()), flushed),
				"innodb_flush_neighbors, Innodb_buffer_pool_pages_flushed of "+v.svc.Name, "disk use of "+d.Name).
				asks(v.ask("innodb_flush_neighbors", "0", -1)).bounded(m.boundWait())}
		}
		return nil
	})
}

// judgeFlushMethod: pages that the buffer pool holds are in the page cache too.
func judgeFlushMethod(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		now, ok := fold(v.db.Variables, "innodb_flush_method")
		pool, _ := v.variable("innodb_buffer_pool_size")
		flushed := v.rate(m, "Innodb_buffer_pool_pages_flushed")
		if !ok || strings.HasPrefix(strings.ToUpper(now), "O_DIRECT") || strings.HasPrefix(now, "async") || flushed < rare {
			return nil
		}
		// While the pool does not hold the data, the page cache holds what it
		// lacks; then it is the pool that must grow first.
		if v.db.DataBytes <= 0 || pool < float64(v.db.DataBytes) {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+"'s pages are kept in memory twice",
			fmt.Sprintf("innodb_flush_method is %s: %.0f pages a second are copied into the page cache and then synced, although the pool of %s holds all %s of data. O_DIRECT writes them once.", orEmpty(now), flushed, size(int64(pool)), size(v.db.DataBytes)),
			"innodb_flush_method, Innodb_buffer_pool_pages_flushed of "+v.svc.Name).
			asks(v.ask("innodb_flush_method", "O_DIRECT", 0)).bounded(m.boundWait())}
	})
}

func orEmpty(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// judgeDoublewrite: each page is written twice, against torn pages.
func judgeDoublewrite(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		pages := v.rate(m, "Innodb_dblwr_pages_written")
		// A tenth of a disk's time, or a hundred pages a second, is what a run
		// can show.
		if !On(v.db.Variables["innodb_doublewrite"]) || pages < 100 && (pages < rare || m.at(v.svc.Name).sys.DiskBusy < 0.1) {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" writes each page twice",
			fmt.Sprintf("%.0f pages a second go to the doublewrite buffer before they go to their place. Without it a page that is half written in a power loss cannot be mended.", pages),
			"Innodb_dblwr_pages_written of "+v.svc.Name).
			asks(v.ask("innodb_doublewrite", "OFF", 0)).bounded(m.boundWait())}
	})
}

// judgeBinlogUnused: a binary log that no replica reads.
func judgeBinlogUnused(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		commits := v.rate(m, "Handler_commit")
		replicas, _ := v.value("Slaves_connected")
		dumps, _ := v.delta("Com_binlog_dump")
		if _, known := v.value("Slaves_connected"); !known {
			// MySQL counts none; its threads tell.
			if v.db.Replicas < 0 || v.db.Variables["group_replication_group_name"] != "" {
				return nil
			}
			replicas = float64(v.db.Replicas)
		}
		if !On(v.db.Variables["log_bin"]) || replicas+dumps > 0 || commits < rare || On(v.db.Variables["wsrep_on"]) {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" writes a binary log that no replica reads",
			fmt.Sprintf("log_bin is ON and no replica is connected: each of %.0f commits a second is written to it too, and the two logs are made to agree. Without it a backup cannot be brought forward to a point in time.", commits),
			"log_bin, Slaves_connected, Handler_commit of "+v.svc.Name).
			asks(v.ask("log_bin", "OFF", 0)).bounded(m.boundWait())}
	})
}

// judgeAutoincLock: with modes 0 and 1 a bulk insert locks the table's counter
// until it ends (MySQL manual, "AUTO_INCREMENT Handling in InnoDB").
func judgeAutoincLock(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		mode, ok := fold(v.db.Variables, "innodb_autoinc_lock_mode")
		bulk := v.rate(m, "Com_insert_select") + v.rate(m, "Com_replace_select") + v.rate(m, "Com_load")
		single := v.rate(m, "Com_insert")
		if mode == "0" {
			bulk += single
		}
		counts := false
		for _, t := range v.db.Tables {
			counts = counts || t.AutoIncrement > 0 && strings.EqualFold(t.Engine, "InnoDB")
		}
		if !ok || mode == "2" || !counts || bulk < rare || single+bulk < 2*rare {
			return nil
		}
		// Statements replayed at a replica would get other numbers.
		if On(v.db.Variables["log_bin"]) && !strings.EqualFold(v.db.Variables["binlog_format"], "ROW") {
			return nil
		}
		return []Finding{about(v.svc.Name, "Inserts wait for bulk inserts to end in "+v.svc.Name,
			fmt.Sprintf("innodb_autoinc_lock_mode is %s and %.0f bulk inserts a second each keep the AUTO_INCREMENT counter of their table until they end, beside %.0f inserts. With mode 2 numbers of one statement need not follow each other.", mode, bulk, single),
			"innodb_autoinc_lock_mode, Com_insert_select, Com_insert of "+v.svc.Name).
			asks(v.ask("innodb_autoinc_lock_mode", "2", 1)).bounded(m.boundWait())}
	})
}

// manyThreads that wait at a time are what innodb_sync_array_size is for
// (MySQL manual, "innodb_sync_array_size": typically more than 768).
const manyThreads = 768

func judgeSyncArray(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		now, ok := v.variable("innodb_sync_array_size")
		running, _ := v.value("Threads_running")
		if !ok || now != 1 || running < manyThreads {
			return nil
		}
		return []Finding{about(v.svc.Name, "Many threads wait in one list in "+v.svc.Name,
			fmt.Sprintf("%.0f threads run and innodb_sync_array_size is 1: all that wait for a latch are in one list behind one mutex.", running),
			"Threads_running, innodb_sync_array_size of "+v.svc.Name).
			asks(v.ask("innodb_sync_array_size", "4", 1)).bounded(m.serviceBound(v.svc.Name))}
	})
}

// judgeAdaptiveHash: an index of the index that is seldom right is upkeep
// (MySQL manual, "Adaptive Hash Index": benchmark with it enabled and disabled).
func judgeAdaptiveHash(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		hits, known := v.delta("Innodb_adaptive_hash_hash_searches")
		misses, _ := v.delta("Innodb_adaptive_hash_non_hash_searches")
		// Below a thousand searches a second its upkeep cannot be seen.
		if !known || !On(v.db.Variables["innodb_adaptive_hash_index"]) || (hits+misses)/m.window < 1000 || hits > 0.5*(hits+misses) {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+"'s adaptive hash index is seldom used",
			fmt.Sprintf("%s of %.0f index searches went through it; it is kept up, and its latches taken, for all.", percent(hits/(hits+misses)), hits+misses),
			"Innodb_adaptive_hash_hash_searches, Innodb_adaptive_hash_non_hash_searches of "+v.svc.Name).
			asks(v.ask("innodb_adaptive_hash_index", "OFF", 0)).bounded(m.serviceBound(v.svc.Name))}
	})
}

const (
	// keyRead is the CPU, in seconds, that a row found by a key saves at most: twice what
	// was seen, 2.8 µs each without the hash and 2.3 with it (MariaDB 10.11, 300,000 rows;
	// go test ./internal/remedy/index -run xxx -bench Reads).
	keyRead = 1e-6
	// manyKeyReads, rows a second that are found by a key: a hundredth of a processor
	// and more.
	manyKeyReads = 10_000
	// mostlyReads for each row that is written, because the hash is kept up and latched
	// by writes. An estimate, too.
	mostlyReads = 20
)

// judgeAdaptiveHashOff: where rows are mostly found by keys that are in memory, a hash
// of the index spares the way down the tree (MariaDB documentation, "InnoDB Adaptive
// Hash Index": off since 10.5.8, since it hinders writers; useful where most is read
// and in the buffer pool).
func judgeAdaptiveHashOff(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		now, ok := fold(v.db.Variables, "innodb_adaptive_hash_index")
		keys, known := v.delta("Handler_read_key")
		writes := 0.0
		for _, c := range []string{"Handler_write", "Handler_update", "Handler_delete"} {
			n, _ := v.delta(c)
			writes += n
		}
		misses, _ := v.delta("Innodb_buffer_pool_reads")
		if !ok || On(now) || !known || keys < manyKeyReads*m.window || keys < mostlyReads*max(writes, 1) || misses > 10*rare*m.window {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" goes down the tree of an index for each row",
			fmt.Sprintf("%.0f rows a second are found by a key that is in memory, and little is written; innodb_adaptive_hash_index is %s.", keys/m.window, now),
			"Handler_read_key, Handler_write, Handler_update, Handler_delete of "+v.svc.Name).
			asks(v.ask("innodb_adaptive_hash_index", "ON", 0)).bounded(m.boundBy(v.svc.Name, min(m.perReq[v.svc.Name], keys*keyRead/(m.x*m.window))))}
	})
}

const (
	// readsPerWrite from which on results are worth being kept, and slowReadsPerWrite where
	// a statement takes so long that the cache costs a tenth of it at most: both estimates.
	readsPerWrite, slowReadsPerWrite = 50, 5
	slowRead                         = 10 * queryCacheCost
)

// judgeQueryCacheUnused: where what is read is not written, results can be kept.
// A write throws away what was kept of its tables, so no answer is stale
// (MariaDB documentation, "Query Cache"). Where the classes of statements are known, it is
// judged table by table (querycache.go), else by all reads and writes.
func judgeQueryCacheUnused(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		kind, ok := fold(v.db.Variables, "query_cache_type")
		bytes, _ := v.variable("query_cache_size")
		reads, _ := v.delta("Com_select")
		writes := 0.0
		for _, c := range []string{"Com_insert", "Com_update", "Com_delete", "Com_replace"} {
			n, _ := v.delta(c)
			writes += n
		}
		if !ok || On(kind) && bytes > 0 || v.db.Variables["have_query_cache"] == "NO" || reads/m.window < 10*rare {
			return nil
		}
		keeps, known := queryCacheKeeps(m.in.Evidence.Statements, v.svc.Name, v.db)
		known = known && keeps.covers(reads, writes)
		switch {
		case known && keeps.saved < worthKeeping*keeps.all:
			return nil
		case !known && (reads < slowReadsPerWrite*max(writes, 1) || reads < readsPerWrite*max(writes, 1) && m.readTime(v.svc.Name) < slowRead):
			return nil
		}
		says := mayPay
		if known {
			says = "By tables, " + keeps.text()
		}
		f := about(v.svc.Name, v.svc.Name+" computes results again that could be kept",
			fmt.Sprintf("%.0f reads for %.0f writes in %.0f s, and the query cache is off (query_cache_type %s, query_cache_size %.0f). %s", reads, writes, m.window, kind, bytes, says),
			"Com_select, Com_insert, Com_update, Com_delete of "+v.svc.Name).asks(v.ask("query_cache_type", "ON", 0))
		if !known {
			return []Finding{f.bounded(m.boundOfStatements(v.svc.Name, func(s *evidence.Statement) bool { return s.RowsSent > 0 && s.RowsAffected == 0 }))}
		}
		f.Evidence = append(f.Evidence, "classes of statements of "+v.svc.Name)
		f.Subject = map[string]string{"reach": strconv.FormatFloat(keeps.saved/keeps.possible, 'f', 3, 64)}
		return []Finding{f.bounded(m.boundBy(v.svc.Name, m.perReq[v.svc.Name]*keeps.possible/keeps.all))}
	})
}

// judgeJoinBuffer: joins without an index read the second table once for each
// buffer full of rows of the first.
func judgeJoinBuffer(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		joins := v.rate(m, "Select_full_join")
		now, ok := v.variable("join_buffer_size")
		// C25 had 1 MiB; from there on only an index helps.
		if !ok || joins*m.window <= max(rare*m.window, ownLooks) || now >= 1<<20 {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" joins tables without an index",
			fmt.Sprintf("%.0f joins a second read a whole table (Select_full_join), once for each %s of rows of the other (join_buffer_size). An index helps more where one fits.", joins, size(int64(now))),
			"Select_full_join, join_buffer_size of "+v.svc.Name).
			asks(v.ask("join_buffer_size", "", 1)).bounded(m.boundOfStatements(v.svc.Name, func(s *evidence.Statement) bool { return s.FullJoins > 0 }))}
	})
}

// judgeReadBuffer: MyISAM and Aria read tables through read_buffer_size;
// InnoDB does not (MySQL manual, "read_buffer_size").
func judgeReadBuffer(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		now, ok := v.variable("read_buffer_size")
		rows := v.rate(m, "Handler_read_rnd_next")
		var names []string
		for _, t := range v.db.Tables {
			if (strings.EqualFold(t.Engine, "MyISAM") || strings.EqualFold(t.Engine, "Aria")) && float64(t.DataBytes) > 2*now {
				names = append(names, t.Schema+"."+t.Name)
			}
		}
		// Ten thousand rows a second are some milliseconds of work.
		if !ok || len(names) == 0 || rows < 10000 || now >= 2<<20 {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" reads tables in small pieces",
			fmt.Sprintf("%.0f rows a second are read in the order of their tables (Handler_read_rnd_next), and read_buffer_size is %s, less than half of %s.", rows, size(int64(now)), strings.Join(names[:min(len(names), 5)], ", ")),
			"Handler_read_rnd_next, read_buffer_size of "+v.svc.Name).
			asks(v.ask("read_buffer_size", "", 1)).bounded(m.boundOfStatements(v.svc.Name, func(s *evidence.Statement) bool { return s.FullScans > 0 }))}
	})
}

// judgeTableInstances: a connection uses one instance of the table cache, which
// holds only its part of table_open_cache (MySQL manual, "table_open_cache_instances").
func judgeTableInstances(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		all, ok := v.variable("table_open_cache")
		parts, known := v.variable("table_open_cache_instances")
		open, _ := v.value("Open_tables")
		over := v.rate(m, "Table_open_cache_overflows")
		// MariaDB divides its cache only when threads wait for it.
		if !ok || !known || v.db.MariaDB || parts <= 1 || over < rare || open > 0.95*all {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+"'s table cache is divided into too many parts",
			fmt.Sprintf("%.0f tables a second were closed for want of room (Table_open_cache_overflows) while %.0f of %.0f places are in use: each of %.0f instances has only %.0f.", over, open, all, parts, all/parts),
			"Table_open_cache_overflows, Open_tables of "+v.svc.Name).
			asks(v.ask("table_open_cache_instances", "", -1)).bounded(m.boundBy(v.svc.Name, min(v.perReq, over*m.window/(m.x*m.window)*2e-4)))}
	})
}
